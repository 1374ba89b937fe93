/* base/stop.c */
#include "base/stop.h"

#include "base/clock.h"
#include "base/error.h"

#define GRACE_NS 1000000000u

void stop_ask(struct stop *s)
{
    if (stop_asked(s))
        return;
    atomic_store_explicit(&s->since_ns, clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&s->asked, true, memory_order_release);
}

bool stop_is_overdue(const struct stop *s)
{
    return s != NULL && atomic_load_explicit(&s->asked, memory_order_acquire) &&
           clock_ns() - atomic_load_explicit(&s->since_ns, memory_order_relaxed) > GRACE_NS;
}

enum imrec_status stop_error(struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted");
}
