/* iter/equal_count.h - with equal_batches: the samples of a sweep, those of the largest partition.
 *
 * Where records are not listed that takes a walk through all shards. It begins when the first batch
 * was delivered, in a thread of its own, or when the number is first needed: by the feed that is at
 * the end of the own records, before which the number changes nothing. */
#ifndef IMREC_ITER_EQUAL_COUNT_H
#define IMREC_ITER_EQUAL_COUNT_H

#include "base/threads.h"
#include "container/container.h"
#include "storage/store/scope.h"

struct equal_count {
    struct mutex lock;
    struct cond done;
    struct thread thread;
    const struct container *container;
    struct store_scope *scope; /* of what counting opens */
    bool begun;
    enum { EQUAL_AWAITED, EQUAL_COUNTING, EQUAL_COUNTED } state;
    uint64_t most;
};

void equal_count_init(struct equal_count *e, const struct container *c, struct store_scope *scope);
void equal_count_begin(struct equal_count *e); /* in a thread; later calls do nothing */
/* Waits, or counts, also after a failure. Any thread. */
IMREC_NODISCARD enum imrec_status
equal_count_get(struct equal_count *e, uint64_t *most, struct imrec_error *err);
void equal_count_end(struct equal_count *e); /* after container_cancel() it does not wait long */
#endif
