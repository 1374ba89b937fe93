/* dataset/record_reader.h - what imrec_reader_*() stand on, and what the library asks of
 * a reader beyond them. */
#ifndef IMREC_DATASET_RECORD_READER_H
#define IMREC_DATASET_RECORD_READER_H

#include "base/buf.h"
#include "container/metadata.h"
#include "container/partition.h"
#include "container/recordio_scan.h"
#include "imrec/records.h"

struct image_reader {          /* of CBF files, image by image */
    const struct split *split; /* borrowed; split->cbf is not NULL */
    uint64_t unit;             /* that comes next */
    struct split_range damage; /* behind the last IMREC_ERR_DATA */
    uint8_t *buffer;           /* bytes of the image */
    size_t room;
    uint8_t *bmp; /* a decoded one as a file */
    size_t bmp_room;
    float *labels;
};

struct imrec_reader {
    struct split split;
    struct scan scan;
    uint32_t shard; /* that the scan is in */
    bool begun;     /* the scan is in it */
    struct damage {
        uint32_t shard;
        uint64_t begin, end;
    } damage;
    float *labels;
    uint32_t label_room;
    struct image_reader images; /* of CBF files: nothing else is used */
    bool keep_framed;           /* set by who reads `framed` */
    struct bytes framed; /* the record given last as it stands in the shard; none of CBF files */
    struct buf parts;    /* its copy, where parts were joined in their own bytes */
};

/* To the image at `offset` or the first one behind it. */
void image_reader_seek(struct image_reader *r, uint32_t shard, uint64_t offset);
/* Room for so many labels in r->labels. */
IMREC_NODISCARD enum imrec_status
reader_room_for_labels(struct imrec_reader *r, uint32_t count, struct imrec_error *err);
/* Opens a reader as the options say, which are those of a reader but for path, partition and looks.
 */
IMREC_NODISCARD enum imrec_status imrec_reader_open_as(const struct split_options *o,
                                                       struct imrec_reader **out,
                                                       struct imrec_error *err);
/* What it reads: shards, metadata. */
const struct split *imrec_reader_split(const struct imrec_reader *r);
/* Of CBF files: where the image with this id is. IMREC_END: none has it. Of several the first. */
IMREC_NODISCARD enum imrec_status
imrec_reader_find(const struct imrec_reader *r, uint64_t id, uint32_t *shard, uint64_t *offset);
/* Whether the reader's shards are CBF files. */
bool imrec_reader_is_cbf(const struct imrec_reader *r);
/* Where in its file the record given last ends; 0 where it is not a CBF file. */
uint64_t imrec_reader_record_end(const struct imrec_reader *r);
#endif
