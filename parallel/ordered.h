/* parallel/ordered.h - the ordered parallel map: tasks out of a serial feed, done by workers in any
 * order, come out in the order of the feed, in a bounded ring of places.
 *
 * The workers loop: have the next task fed, do it. A place that the feed has closed is ready when
 * its last task is done. Who uses the places is one of two:
 *
 *     ordered_start()  a consumer takes them, at its own pace; a thread of its own has the workers
 *     ordered_run()    a callback drains them, in any worker; the caller is a worker itself
 *
 * No barrier, nothing is allocated after the start, nobody spins. */
#ifndef IMREC_PARALLEL_ORDERED_H
#define IMREC_PARALLEL_ORDERED_H

#include "imrec/error.h"

/* Where a task's result goes. What the task is, the feed leaves in the worker's own memory or in
 * the place. */
struct ordered_task {
    uint32_t place, slot; /* place < places, slot < tasks; slots are given out in order */
};

enum ordered_step {
    ORDERED_TASK,  /* there is a task */
    ORDERED_LAST,  /* likewise, and it is its place's last: as if ORDERED_CLOSE came at once */
    ORDERED_CLOSE, /* the open place is over, full or not; the next call has another place */
    ORDERED_STOP,  /* so is everything: the open place is the last */
};

struct ordered; /* take, recycle, pause, resume: one consumer; cancel: any thread */

struct ordered_options {
    void *context;
    /* Serial, in the order of places and slots; the worker does the task itself. May wait for what
     * older places give back when they are drained. A limit that one task alone can exhaust belongs
     * in work, where the oldest place can go first: here it would wait for younger ones. */
    enum ordered_step (*feed)(void *context, const struct ordered_task *t, uint32_t worker);
    /* Parallel; worker < workers. Leaves a failure in its place. */
    void (*work)(void *context, const struct ordered_task *t, uint32_t worker);
    /* Instead of work, unless NULL: does `first`, and the tasks that ordered_more() gives it, at
     * the same time or in whatever order is fastest; ordered_done() is called for each. */
    void (*work_on)(void *context, const struct ordered_task *first, uint32_t worker,
                    struct ordered *t);
    /* Whether the feed need not wait, for ordered_more(). */
    bool (*is_fed)(void *context, uint32_t worker);
    /* Called after the last task of a closed place, before it is ready; NULL: nothing. */
    void (*complete)(void *context, uint32_t place);
    /* For ordered_run(): serial, in the order of the places, at the same time as feed and work; for
     * each place that has a task. The worker that makes the oldest place ready drains it and all
     * ready places after it, while the others continue. An error ends the run: so it is always that
     * of the oldest place that has one. Before drain returns an error, it wakes those that wait in
     * feed or work. */
    enum imrec_status (*drain)(void *context, uint32_t place, struct imrec_error *err);
    uint32_t tasks;   /* of a place, at most */
    uint32_t places;  /* begun or ready, and the one that is taken or drained */
    uint32_t wake_at; /* drain: a worker that waits for a place sleeps until this many are empty, or
                         no place is ready to be drained; 0: until one is empty */
    uint32_t workers; /* workers_count() turns "0 = every CPU" into a number */
    const char *name; /* of the option that asks for that many, for messages */
};

/* With drain. Returns when all is drained, or drain's error. OpenMP may give fewer threads; more
 * than the system has are IMREC_ERR_LIMIT. */
IMREC_NODISCARD enum imrec_status
ordered_run(const struct ordered_options *o, struct imrec_error *err);

/* Without drain. Fewer threads than asked for are IMREC_ERR_LIMIT. */
IMREC_NODISCARD enum imrec_status
ordered_start(const struct ordered_options *o, struct ordered **out, struct imrec_error *err);

/* Within work_on. False: there is no task now, or somebody would have to wait for it; those that
 * the worker has are finished first. */
bool ordered_more(struct ordered *t, struct ordered_task *out, uint32_t worker);
void ordered_done(struct ordered *t, const struct ordered_task *task);

/* Waits for the next place. IMREC_ERR_CANCELLED after ordered_cancel(). */
IMREC_NODISCARD enum imrec_status ordered_take(struct ordered *t, uint32_t *place);
bool ordered_wait(struct ordered *t, uint32_t milliseconds); /* as ring_wait() */
void ordered_recycle(struct ordered *t);                     /* gives back the place taken last */
/* Waits until nobody is in feed or work, and forgets every place, also the one taken. State
 * that feed uses may be changed until ordered_resume(). */
void ordered_pause(struct ordered *t);
void ordered_resume(struct ordered *t);
uint64_t ordered_consumer_wait_ns(struct ordered *t); /* workers waited for room, all together */
/* Workers stop after the task they are in. What the feed may be waiting for is cancelled first. */
void ordered_cancel(struct ordered *t);
void ordered_stop(struct ordered *t); /* cancel, join, free; NULL is fine */
#endif
