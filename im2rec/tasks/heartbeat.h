/* im2rec/tasks/heartbeat.h - an object that is written again every few seconds, as long as a task
 * is in work: its time of change, by the clock of the store, says that the worker lives. */
#ifndef IMREC_IM2REC_TASKS_HEARTBEAT_H
#define IMREC_IM2REC_TASKS_HEARTBEAT_H

#include "base/stop.h"
#include "base/threads.h"
#include "im2rec/tasks/plan.h"

#define HEARTBEAT_EVERY_MS 15000u
#define HEARTBEAT_DEAD_NS  60000000000u /* nothing for so long: the worker is gone */

struct heartbeat {
    char name[PLAN_URI_BYTES];
    struct thread thread;
    struct mutex lock;
    struct cond ended;
    bool over;
};

/* A beat that cannot be written is omitted: the work does not depend on it. */
void heartbeat_begin(struct heartbeat *h, const struct plan *p, uint64_t k, const char *mark);
void heartbeat_end(struct heartbeat *h); /* removes the object */
/* When the object was changed last, by the store's clock, ns since 1970; 0: it is gone, or the
 * store does not say. */
uint64_t heartbeat_of(const char *name);
/* The store's clock, now: of an object that is written for it. */
uint64_t heartbeat_now(const struct plan *p, const char *mark);
#endif
