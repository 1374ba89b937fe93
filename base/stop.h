/* base/stop.h - asks long work to end before it is done.
 *
 * The worker checks every few rows or files; a check costs a load. NULL: never asked. */
#ifndef IMREC_BASE_STOP_H
#define IMREC_BASE_STOP_H

#include "imrec/error.h"

#include <stdatomic.h>

struct stop { /* zeroed at first */
    atomic_bool asked;
    atomic_uint_least64_t since_ns; /* clock_ns(), once asked */
};

void stop_ask(struct stop *s); /* any thread */
static inline bool stop_asked(const struct stop *s)
{
    return s != NULL && atomic_load_explicit(&s->asked, memory_order_relaxed);
}
/* Asked for a second: for work that is worth being finished if that takes no longer. */
bool stop_is_overdue(const struct stop *s);
/* Fills *err, returns IMREC_ERR_CANCELLED. */
enum imrec_status stop_error(struct imrec_error *err);
static inline enum imrec_status stop_check(const struct stop *s, struct imrec_error *err)
{
    return stop_asked(s) ? stop_error(err) : IMREC_OK;
}
#endif
