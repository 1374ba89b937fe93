/* dataset/repair_walk.h - every record of a damaged shard, also where bytes that came in or went
 * missing have moved it off the 4-byte boundaries that records begin at. */
#ifndef IMREC_DATASET_REPAIR_WALK_H
#define IMREC_DATASET_REPAIR_WALK_H

#include "container/walk/recordio_scan.h"

struct moved_source { /* a shard from its byte `shift` on */
    struct source source;
    struct source *inner;
    uint64_t shift;
};

struct repair_item {
    enum walk_step step; /* WALK_RECORD, WALK_DAMAGE or WALK_END */
    uint64_t begin, end; /* bytes of the shard */
    struct recordio_span span;
    struct bytes framed;    /* the record as stored in the shard, until the next call */
    struct imrec_error why; /* of damage */
};

struct repair_walk {
    struct source *source;
    struct moved_source moved;
    struct scan scan;
    uint8_t *piece; /* for searching */
};

IMREC_NODISCARD enum imrec_status
repair_walk_open(const char *shard, struct repair_walk *out, struct imrec_error *err);
/* The next record or damaged range. Damage ends where a record begins
 * whose head is on any byte: one that fits into the shard and has an image record header, or is
 * followed by another head or the shard's end. */
IMREC_NODISCARD enum imrec_status
repair_walk_next(struct repair_walk *w, struct repair_item *out, struct imrec_error *err);
void repair_walk_close(struct repair_walk *w); /* zeroed memory is fine */
#endif
