/* minibatch/corpus/blocks.h - the blocks that are in memory, loaded ahead and used by threads.
 *
 * One consumer says which blocks are wanted, in the order in which it will need them, and gets
 * them one by one. It may look into them until it posts a task; from then on any thread looks into
 * them, that does the task. What is no longer wanted gives its memory to what comes, when no task
 * may look into it. Blocks are numbered through all corpora: corpus k's begin at
 * blocks_first(b, k).
 *
 * The consumer is one of the threads: it loads what it needs at once and nobody has begun, and
 * does tasks while it would wait. So with one thread there is no other. */
#ifndef IMREC_MINIBATCH_CORPUS_BLOCKS_H
#define IMREC_MINIBATCH_CORPUS_BLOCKS_H

#include "minibatch/corpus/block.h"

struct blocks;

/* The work on blocks. Posting waits while `most` are posted and not done. */
struct blocks_task {
    void (*run)(void *context, uint64_t number);
    void *context;
    uint32_t most;
};

/* threads >= 1, the consumer among them. The corpora stay the caller's, and live longer. */
IMREC_NODISCARD enum imrec_status blocks_start(struct corpus *const *corpus, uint32_t corpora,
                                               uint32_t threads, const struct blocks_task *task,
                                               struct blocks **out, struct imrec_error *err);
uint64_t blocks_first(const struct blocks *b, uint32_t corpus);
uint64_t blocks_count(const struct blocks *b);

/* Replaces what is wanted by wanted[0..n): they are loaded in this order. What is in memory stays
 * until blocks_trim(). */
void blocks_want(struct blocks *b, const uint64_t *wanted, uint64_t n);
/* Waits for a block; it stays until the task that is posted next is done. */
IMREC_NODISCARD enum imrec_status
blocks_get(struct blocks *b, uint64_t number, const struct block **out, struct imrec_error *err);
/* Has a task done that may look into what was got since the one before. */
void blocks_post(struct blocks *b, uint64_t number);
/* Does a task, or loads a block ahead; false: there is nothing to do, or no other thread either. */
bool blocks_help(struct blocks *b);
/* Waits until all tasks are done, or for blocks_cancel(). */
void blocks_settle(struct blocks *b);
/* Lets go of all that is not wanted and not in a task's use, but for corpora with
 * keep_data_in_memory. */
void blocks_trim(struct blocks *b);

void blocks_look(struct blocks *b, uint64_t *bytes_read, uint64_t *memory); /* bytes, both */
void blocks_cancel(struct blocks *b); /* wakes all waits: IMREC_ERR_CANCELLED */
void blocks_stop(struct blocks *b);   /* cancel, join, free; NULL is allowed */
#endif
