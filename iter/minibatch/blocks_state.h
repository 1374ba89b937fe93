/* iter/minibatch/blocks_state.h - what blocks.c and blocks_threads.c share. Private to them. */
#ifndef IMREC_ITER_MINIBATCH_BLOCKS_STATE_H
#define IMREC_ITER_MINIBATCH_BLOCKS_STATE_H

#include "base/threads.h"
#include "iter/minibatch/blocks.h"

enum block_state { BLOCK_ABSENT, BLOCK_QUEUED, BLOCK_LOADING, BLOCK_READY, BLOCK_FAILED };

struct blocks_entry {
    uint8_t state;
    bool wanted;
    uint32_t slot; /* LOADING, READY */
    uint64_t used; /* number of the last task, from 1 on, that may look into it */
};

struct blocks_slot {
    struct block block;
    uint64_t number; /* of the block */
    uint64_t memory;
    struct blocks_slot *next; /* free ones */
};

struct blocks_pool { /* of a corpus: blocks of several cannot share memory */
    struct blocks_slot *free;
    uint64_t first; /* number of its first block */
};

struct blocks_worker { /* number 0 is whoever calls; the others are threads */
    struct thread thread;
    struct blocks *blocks;
    struct block_scratch scratch;
};

struct blocks_queued { /* a task */
    uint64_t number;
    bool done;
};

struct blocks {
    struct corpus *const *corpus;
    uint32_t corpora;
    struct blocks_pool *pool;
    struct blocks_entry *entry;
    uint64_t count;
    struct blocks_slot **slot; /* all there are */
    uint32_t slots, slot_room;
    uint32_t *resident; /* slots that are LOADING or READY, in no order */
    uint32_t residents;

    uint64_t *queue; /* blocks to load: [head, tail) */
    uint64_t head, tail;
    uint64_t *wanted; /* the list that was given last */
    uint64_t wanteds;
    bool untidy; /* there may be something to trim */

    struct blocks_task task;
    struct blocks_queued *queued;    /* [task.most], task n at n % task.most */
    uint64_t posted, begun, settled; /* tasks; all before `settled` are done */

    struct mutex lock;
    struct cond work, done;
    bool stop;
    struct imrec_error error; /* of the block that FAILED last ... */
    uint64_t failed;          /* ... which is this one */
    uint64_t bytes_read, memory;
    struct blocks_worker *worker;
    uint32_t workers, sleeping;
};

/* Under the lock, which they let go of while they read or work. */
void blocks_load(struct blocks_worker *w, uint64_t number);
void blocks_do_task(struct blocks *b);
#endif
