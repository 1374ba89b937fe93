/* dataset/record_writer.h - imrec_writer_*() with checksums, and records in their frames. */
#ifndef IMREC_DATASET_RECORD_WRITER_H
#define IMREC_DATASET_RECORD_WRITER_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/records.h"

/* As imrec_writer_open(); the checksums of the records go to crc_path, unless it is NULL. */
IMREC_NODISCARD enum imrec_status
record_writer_open(const char *path, const char *idx_path, const char *crc_path, bool force,
                   struct imrec_writer **out, struct imrec_error *err);
/* Writes `text` as the set's class list, which gets its name with the other files. */
IMREC_NODISCARD enum imrec_status record_writer_classes(struct imrec_writer *w, const char *path,
                                                        bool force, struct bytes text,
                                                        struct imrec_error *err);
/* Appends a record as stored in a shard, with its checksum there. */
IMREC_NODISCARD enum imrec_status record_writer_put(struct imrec_writer *w, uint64_t key,
                                                    struct bytes framed, uint32_t crc,
                                                    struct imrec_error *err);

/* Makes the files durable under their temporary names, or, on failure, removes them. Frees the
 * writer in both cases. */
IMREC_NODISCARD enum imrec_status
record_writer_finish(struct imrec_writer *w, struct imrec_error *err);

struct written_image {
    const float *labels;
    uint32_t label_count;
    uint64_t id, id2;
    struct bytes image, mask; /* mask p NULL: none, or one of the fields, called "mask" */
    const struct imrec_field *fields;
    uint32_t field_count;
};

/* Sets *framed to the image record as stored in a shard; *record is room for it. */
IMREC_NODISCARD enum imrec_status written_image_frame(const struct written_image *image,
                                                      struct buf *record, struct buf *framed,
                                                      struct imrec_error *err);
/* Appends an image record, whose key is its id. */
IMREC_NODISCARD enum imrec_status record_writer_image(struct imrec_writer *w,
                                                      const struct written_image *image,
                                                      struct imrec_error *err);
#endif
