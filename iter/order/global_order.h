/* iter/order/global_order.h - the sequence of a job's samples, and a rank's share of it.
 *
 * The sequence depends on data, seed, sweep and the job's batch, never on the number of ranks. With
 * `chunks`, cells of the shards, permuted, give one list of records, which is cut into windows;
 * slot j of the batches takes its samples from the j-th run of a window, so the slots of a rank are
 * one piece of the list. */
#ifndef IMREC_ITER_ORDER_GLOBAL_ORDER_H
#define IMREC_ITER_ORDER_GLOBAL_ORDER_H

#include "container/container.h"
#include "iter/order/sampling.h"
#include "iter/order/share.h"
#include "iter/order/windows.h"

struct global_order {
    struct share share;
    struct sampling sampling; /* owned; which records a sweep has, unless it is every one once */
    uint64_t seed;
    bool shuffle, chunks;
    struct windows windows; /* of `grain` samples each */
    uint64_t grain;
    /* of chunks: */
    uint64_t *cell_first; /* record of each cell, and the end of the last one */
    uint64_t *list;       /* place of the i-th permuted cell in the list of `listed` */
    uint64_t cells, listed;
};

/* Takes share, sampling, seed, shuffle, windows and grain from *o; `cell_bytes`: of a cell of
 * chunks, 0: none. The container has all records, listed. */
IMREC_NODISCARD enum imrec_status
global_order_init(struct global_order *g, const struct global_order *o, const struct container *c,
                  uint64_t cell_bytes, struct imrec_error *err);
/* The record of a sample. One thread at a time. */
uint64_t global_order_record(struct global_order *g, uint64_t sweep, uint64_t sample);
/* struct sampled: 0 where every record comes once. */
uint64_t global_order_lap(const struct global_order *g, uint64_t sweep, uint64_t sample);
/* Samples of a window. */
void global_order_window(const struct global_order *g, uint64_t number, uint64_t *first,
                         uint64_t *count);
uint64_t global_order_window_of(const struct global_order *g, uint64_t sample);
uint64_t global_order_memory(const struct global_order *g); /* bytes */
void global_order_free(struct global_order *g);             /* zeroed memory is fine */
#endif
