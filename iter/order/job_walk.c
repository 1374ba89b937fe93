/* iter/order/job_walk.c - a rank's part of what a job's schedule gives. */
#include "iter/order/job_walk.h"

#include "base/math.h"

static const struct schedule_run *run_of(const struct schedule *s)
{
    return s->fill == FILL_NEXT_SWEEPS ? &s->tail : &s->main;
}

bool job_has_more(const struct schedule *s, const struct share *share)
{
    return run_of(s)->sample < share->records;
}

bool job_owns(const struct schedule *s, const struct share *share, struct job_sample *out)
{
    const struct schedule_run *run = run_of(s);
    *out = (struct job_sample){run->sweep, run->sample - 1, s->slots - 1};
    return out->slot - share->begin < share->count; /* below begin: wraps, is large */
}

struct schedule_close job_closed(const struct schedule *s, const struct share *share)
{
    struct schedule_close closed = s->closed;
    closed.count = (uint32_t)share_of_batch(share, closed.count);
    closed.slots = (uint32_t)min_u64(closed.slots, share->count);
    return closed;
}
