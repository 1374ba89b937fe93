/* imrec/records.h - reads the records of shards in file order or by number, and writes shards.
 *
 * Images in CBF files (docs/formats/cbf.md) are read like records: `data` is the image. An image
 * that is stored decoded is delivered as a BMP file if its values are pixels of a square. An image
 * that cannot be read is a damaged range. Seeking goes to the first image at or after `offset`. */
#ifndef IMREC_RECORDS_H
#define IMREC_RECORDS_H

#include "imrec/reader_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records that are not samples: in files of insightface's script a header names the range of the
 * identities' keys, and each identity the range of its images' keys (docs/formats/image_record.md).
 */
enum imrec_metadata { IMREC_NO_METADATA, IMREC_HEADER, IMREC_IDENTITY };

/* A named part of a record next to its image and labels (docs/formats/record_fields.md). */
struct imrec_field {
    const char *name; /* name_bytes, without a NUL */
    size_t name_bytes;
    const void *bytes;
    size_t size;
    enum imrec_field_kind kind; /* not IMREC_FIELD_NONE */
};

/* A record. Pointers are valid until the next call on the reader. */
struct imrec_record {
    const void *data; /* the record's bytes, parts rejoined */
    size_t size;
    const char *uri; /* of the shard */
    uint32_t shard;  /* its number in the expanded list */
    uint64_t offset; /* of the record's head in the shard */
    bool is_image;   /* the fields below are those of the image record header */
    uint64_t id, id2;
    const float *labels;
    uint32_t label_count;
    const void *image;
    size_t image_size;
    const void *mask; /* after the image (imrec/segmentation.h); NULL: there is none, or its trailer
                         is wrong and belongs to the image's bytes */
    size_t mask_size;
    enum imrec_metadata metadata;     /* not IMREC_NO_METADATA: not a sample, without an image; its
                                         two labels are the range [first, end) of keys that it names */
    const struct imrec_field *fields; /* field_count; of a tar all files but the image */
    uint32_t field_count;
};

struct imrec_reader; /* opaque; one thread at a time */

/* Opens the partition part_index of num_parts of `uri` (as path_imgrec of the iterator). A file of
 * another kind, a set without any record, and missing shards are errors, as there. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open(const char *uri, uint64_t part_index, uint64_t num_parts,
                  struct imrec_reader **out, struct imrec_error *err);
/* The same for single files: an empty one has no records, and missing shards of its set are not
 * noticed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open_files(const char *uri, uint64_t part_index, uint64_t num_parts,
                        struct imrec_reader **out, struct imrec_error *err);
/* Both with options. A label that label_offset makes a number which float32 has not makes its
 * record a damaged range. `data` of a record is as it is stored, its labels too. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open_with(const char *uri, uint64_t part_index, uint64_t num_parts,
                       const struct imrec_reader_options *o, struct imrec_reader **out,
                       struct imrec_error *err);
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_open_files_with(const char *uri, uint64_t part_index, uint64_t num_parts,
                             const struct imrec_reader_options *o, struct imrec_reader **out,
                             struct imrec_error *err);

/* Reads the next record in file order, including metadata. IMREC_END: there are no more.
 * IMREC_ERR_DATA: a damaged range was skipped; *err names it (shard, first and last byte, reason),
 * and the next call continues with the record after it. Other errors end the reading. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_next(struct imrec_reader *r, struct imrec_record *out, struct imrec_error *err);
/* The range of the last IMREC_ERR_DATA: bytes [*begin, *end) of shard *shard. */
IMREC_API void
imrec_reader_damage(const struct imrec_reader *r, uint32_t *shard, uint64_t *begin, uint64_t *end);
/* Goes to the record whose head is at `offset` of shard `shard`. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_seek(struct imrec_reader *r, uint32_t shard, uint64_t offset, struct imrec_error *err);

/* Counts the samples of the complete data set (num_parts = 1): from the index of every shard, or,
 * if one has none, by reading all heads, once: imrec_reader_next() then begins with the first
 * record. Metadata is not counted. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_count(struct imrec_reader *r, uint64_t *count, struct imrec_error *err);
/* Reads sample `number`, from 0 in file order, and nothing else. IMREC_ERR_CORRUPT: it is not
 * readable, or the index is wrong about it. imrec_reader_next() then restarts with its shard. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_get(struct imrec_reader *r, uint64_t number, struct imrec_record *out,
                 struct imrec_error *err);
/* The same without the image: `data`, `image` and `mask` are NULL, their sizes 0. If a record has
 * one part, only its head is read, so the labels of a large data set take seconds. If the head
 * disagrees with the index, the complete record is read, as by imrec_reader_get(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_head(struct imrec_reader *r, uint64_t number, struct imrec_record *out,
                  struct imrec_error *err);
/* Reads the record at bytes [begin, end) of shard `shard`, taken from an index: `end` is the
 * beginning of a later record, or any offset after the shard's end. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reader_at(struct imrec_reader *r, uint32_t shard, uint64_t begin, uint64_t end,
                struct imrec_record *out, struct imrec_error *err);
IMREC_API void imrec_reader_close(struct imrec_reader *r);

struct imrec_writer; /* opaque; one thread at a time */

/* Writes `path` and, unless idx_path is NULL, its index. The files get these names in
 * imrec_writer_commit(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_open(const char *path, const char *idx_path, bool force, struct imrec_writer **out,
                  struct imrec_error *err);
/* Appends raw bytes as one record under the index key `key`. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_writer_append(struct imrec_writer *w,
                                                                uint64_t key, const void *bytes,
                                                                size_t n, struct imrec_error *err);
/* Appends an image record. label_count 1 stores the label in the header (flag 0). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_append_image(struct imrec_writer *w, uint64_t key, const float *labels,
                          uint32_t label_count, uint64_t id, const void *image, size_t n,
                          struct imrec_error *err);
/* The same with a mask, a PNG of the image's size as stored (imrec/segmentation.h). Neither is
 * checked. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_append_masked(struct imrec_writer *w, uint64_t key, const float *labels,
                           uint32_t label_count, uint64_t id, const void *image, size_t n,
                           const void *mask, size_t mask_bytes, struct imrec_error *err);
/* The same with fields, of which one called "mask" is the mask. 1 to 65535, with names of 1 to
 * 65535 bytes. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_append_fields(struct imrec_writer *w, uint64_t key, const float *labels,
                           uint32_t label_count, uint64_t id, const void *image, size_t n,
                           const struct imrec_field *fields, uint32_t field_count,
                           struct imrec_error *err);
/* Bytes of the shard so far: the offset of the next record's head. */
IMREC_API uint64_t imrec_writer_size(const struct imrec_writer *w);
/* Gives the files their names, or, on failure, removes them. Frees the writer in both cases. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_writer_commit(struct imrec_writer *w, struct imrec_error *err);
IMREC_API void imrec_writer_abort(struct imrec_writer *w); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
