/* dataset/verify_read.h - the serial half of a verification: records and what reading finds. */
#ifndef IMREC_DATASET_VERIFY_READ_H
#define IMREC_DATASET_VERIFY_READ_H

#include "dataset/dataset_walk.h"
#include "dataset/verify_batch.h"
#include "dataset/verify_marks.h"

struct source;
struct verify_reader { /* begins with the walk opened, all else zeroed */
    struct dataset_walk walk;
    uint32_t shard;        /* whose marks are loaded; shards.count: all are done */
    bool begun;            /* marks are loaded at all */
    struct source *source; /* of that shard, where it has checksums */
    struct marks index, sums;
    bool ended;
    uint64_t indexed; /* records met in an index */
};

/* Fills the batch, from empty; r->ended when the shards are over. */
IMREC_NODISCARD enum imrec_status
verify_reader_fill(struct verify_reader *r, struct verify_batch *b, struct imrec_error *err);
void verify_reader_close(struct verify_reader *r); /* zeroed memory is fine */
#endif
