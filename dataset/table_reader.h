/* dataset/table_reader.h - the records of a kind that lists them, one by one. */
#ifndef IMREC_DATASET_TABLE_READER_H
#define IMREC_DATASET_TABLE_READER_H

#include "base/buf.h"
#include "container/container.h"
#include "dataset/given_fields.h"
#include "imrec/records.h"

struct table_reader {
    const struct container *container; /* borrowed; its kind has own_index */
    uint64_t unit;                     /* that comes next */
    struct unit_range damage;          /* of the last IMREC_ERR_DATA */
    struct buf bytes;                  /* of the record, as in the shard */
    struct buf rest;                   /* what is of it in another place of the shard */
    struct buf file;                   /* of an image that is stored decoded */
    struct parse_room parse;
    struct given_fields fields;
    struct record last; /* of the record returned last: what imrec_record has no room for */
    float *labels;
    uint64_t label_room;
};

void table_reader_init(struct table_reader *r, const struct container *c);
/* An image that is stored decoded is given as a file, where its kind can make one of it; else as a
 * record that is no image. */
IMREC_NODISCARD enum imrec_status
table_reader_next(struct table_reader *r, struct imrec_record *out, struct imrec_error *err);
/* To the record at `offset` or the first one after it. */
void table_reader_seek(struct table_reader *r, uint32_t shard, uint64_t offset);
void table_reader_free(struct table_reader *r);
#endif
