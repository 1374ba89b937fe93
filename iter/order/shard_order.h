/* iter/order/shard_order.h - the order of cells that can be read from the begin of their shard on
 * alone: shards are permuted, and several of them are read at a time.
 *
 * The permuted shards of a partition are dealt into groups of at most SHARD_GROUP, of equal sizes
 * but for one. The cells of a group's shards are mixed in proportion: when half of the group has
 * been given, so has half of each of its shards, and each gives its cells in file order. A window
 * so has a piece of every shard of its group. Pure numbers. */
#ifndef IMREC_ITER_ORDER_SHARD_ORDER_H
#define IMREC_ITER_ORDER_SHARD_ORDER_H

#include "container/container.h"

#define SHARD_GROUP 16u

struct shard_order {
    const struct container *container;
    uint64_t seed;
    uint32_t first, shards; /* of the partition */
    uint32_t groups;
    uint64_t *group_first; /* place of each group's first cell in the sweep, and their end */
    uint64_t sweep;        /* that these are of; UINT64_MAX: none yet */
    /* Of the group that was asked about last: */
    uint32_t group, members;
    uint32_t member[SHARD_GROUP]; /* numbers of shards */
};

/* The container's units are cells. */
IMREC_NODISCARD enum imrec_status shard_order_init(struct shard_order *o, const struct container *c,
                                                   uint64_t seed, struct imrec_error *err);
/* The cell at a place of the sweep. One thread at a time. */
uint64_t shard_order_cell(struct shard_order *o, uint64_t sweep, uint64_t place);
uint64_t shard_order_memory(const struct shard_order *o); /* bytes */
void shard_order_free(struct shard_order *o);             /* zeroed memory is fine */
#endif
