/* iter/order/share.c - which samples of a job are a rank's. */
#include "iter/order/share.h"

#include "base/math.h"

/* Slots of whole sweeps before it, as far as they count in a batch. */
static uint64_t run_so_far(const struct share *s, uint64_t sweep)
{
    return s->runs_on ? sweep % s->batch * (s->records % s->batch) % s->batch : 0;
}

uint64_t share_shift(const struct share *s, uint64_t sweep, uint64_t sample, uint64_t slot)
{
    const uint64_t behind = (sample % s->batch + run_so_far(s, sweep)) % s->batch;
    return (slot + s->batch - behind) % s->batch;
}

uint64_t share_phase(const struct share *s, uint64_t sweep, uint64_t shift)
{
    return (shift + run_so_far(s, sweep)) % s->batch;
}

uint64_t share_of_batch(const struct share *s, uint64_t n)
{
    return n > s->begin ? min_u64(n - s->begin, s->count) : 0;
}

/* Own slots among the first n of a run of batches. */
static uint64_t own_slots(const struct share *s, uint64_t n)
{
    return n / s->batch * s->count + share_of_batch(s, n % s->batch);
}

uint64_t share_before(const struct share *s, uint64_t phase, uint64_t n)
{
    return own_slots(s, phase + n) - own_slots(s, phase);
}

uint64_t share_sample(const struct share *s, uint64_t phase, uint64_t i)
{
    const uint64_t own = own_slots(s, phase) + i;
    return own / s->count * s->batch + s->begin + own % s->count - phase;
}
