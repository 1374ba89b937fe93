/* iter/split/picture_reader.h - the pictures of CBF files one by one: imrec_reader_*() where the
 * shards are such files. */
#ifndef IMREC_ITER_SPLIT_PICTURE_READER_H
#define IMREC_ITER_SPLIT_PICTURE_READER_H

#include "imrec/records.h"
#include "iter/split/dataset.h"

struct picture_reader {
    const struct split *split; /* borrowed; split->cbf is not NULL */
    uint64_t unit;             /* that comes next */
    struct split_range damage; /* behind the last IMREC_ERR_DATA */
    uint8_t *buffer;           /* bytes of the picture */
    size_t room;
    uint8_t *bmp; /* a decoded one as a file */
    size_t bmp_room;
    float *labels;
};

/* As the functions of imrec/records.h. A decoded picture is given as a BMP file, where its values
 * are pixels and its shape can be told; else as a record that is no image. */
IMREC_NODISCARD enum imrec_status
picture_reader_next(struct picture_reader *r, struct imrec_record *out, struct imrec_error *err);
/* To the picture at `offset` or the first one behind it. */
void picture_reader_seek(struct picture_reader *r, uint32_t shard, uint64_t offset);
void picture_reader_free(struct picture_reader *r);

/* Opens a reader as the options say, which are those of a reader but for path, partition and looks.
 */
IMREC_NODISCARD enum imrec_status imrec_reader_open_as(const struct split_options *o,
                                                       struct imrec_reader **out,
                                                       struct imrec_error *err);
/* What it reads: shards, metadata. */
const struct split *imrec_reader_split(const struct imrec_reader *r);
/* Of CBF files: where the picture with this id is. IMREC_END: none has it. Of several the first. */
IMREC_NODISCARD enum imrec_status
imrec_reader_find(const struct imrec_reader *r, uint64_t id, uint32_t *shard, uint64_t *offset);
/* Whether the reader's shards are CBF files. */
bool imrec_reader_is_cbf(const struct imrec_reader *r);
/* Where in its file the record given last ends; 0 where it is not a CBF file. */
uint64_t imrec_reader_record_end(const struct imrec_reader *r);
#endif
