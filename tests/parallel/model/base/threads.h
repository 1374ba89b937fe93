/* tests/parallel/model/base/threads.h - in place of base/threads.h: every call is a point where
 * model.c chooses who runs next. Found first by what is compiled for the model. */
#ifndef IMREC_BASE_THREADS_H
#define IMREC_BASE_THREADS_H

#include "imrec/error.h"

#include <stdint.h>

struct mutex {
    uint32_t made, held;
};
struct cond {
    uint32_t made;
};
struct thread {
    uint32_t id;
    bool running;
};

void mutex_init(struct mutex *m);
void mutex_destroy(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

void cond_init(struct cond *c);
void cond_destroy(struct cond *c);
void cond_wait(struct cond *c, struct mutex *m);
void cond_wait_for(struct cond *c, struct mutex *m, uint32_t milliseconds);
void cond_wake_all(struct cond *c);
void cond_wake_one(struct cond *c); /* any: each is tried */
bool mutex_flag(struct mutex *m, const bool *flag);
void cond_tell(struct mutex *m, bool *flag, struct cond *c, struct cond *other);

IMREC_NODISCARD enum imrec_status thread_start(struct thread *t, const char *name,
                                               void *(*run)(void *), void *arg,
                                               struct imrec_error *err);
void thread_join(struct thread *t);
IMREC_NODISCARD enum imrec_status threads_probe(uint32_t n, struct imrec_error *err);
#endif
