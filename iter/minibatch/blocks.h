/* iter/minibatch/blocks.h - the blocks that are in memory, loaded ahead by threads.
 *
 * One consumer says which blocks are wanted, in the order in which it will need them, and gets
 * them one by one; what is no longer wanted gives its memory to what comes. Blocks are numbered
 * through all corpora: corpus k's begin at blocks_first(b, k). */
#ifndef IMREC_ITER_MINIBATCH_BLOCKS_H
#define IMREC_ITER_MINIBATCH_BLOCKS_H

#include "iter/minibatch/block.h"

struct blocks;

/* threads >= 1. The corpora stay the caller's, and live longer. */
IMREC_NODISCARD enum imrec_status blocks_start(struct corpus *const *corpus, uint32_t corpora,
                                               uint32_t threads, struct blocks **out,
                                               struct imrec_error *err);
uint64_t blocks_first(const struct blocks *b, uint32_t corpus);
uint64_t blocks_count(const struct blocks *b);

/* Replaces what is wanted by wanted[0..n): they are loaded in this order. What is in memory stays
 * until blocks_trim(). */
void blocks_want(struct blocks *b, const uint64_t *wanted, uint64_t n);
/* Waits for a block; it stays until blocks_trim(). One that is not wanted is loaded at once. */
IMREC_NODISCARD enum imrec_status
blocks_get(struct blocks *b, uint64_t number, const struct block **out, struct imrec_error *err);
/* Lets go of all that is not wanted, but for corpora with keep_data_in_memory. */
void blocks_trim(struct blocks *b);

uint64_t blocks_bytes_read(struct blocks *b);
uint64_t blocks_memory(struct blocks *b);
void blocks_cancel(struct blocks *b); /* whoever waits is woken: IMREC_ERR_CANCELLED */
void blocks_stop(struct blocks *b);   /* cancel, join, free; NULL is allowed */
#endif
