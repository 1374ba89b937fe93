/* storage/wire/flow.c - how many bytes should be under way. */
#include "storage/wire/flow.h"

#include "base/math.h"

#define MEMORY_NS  5000000000u          /* the best is that of one to two such times */
#define FEW_BYTES  ((uint64_t)16 << 10) /* such answers say nothing of the rate */
#define RATE_MOST  ((uint64_t)1 << 36)
#define DELAY_MOST ((uint64_t)60000000000)
#define SECOND_NS  1000000000.0
/* A rate that is measured with W bytes under way is W / (delay + W / wire), so three times the
 * delay settles at twice what the wire holds. */
#define GAIN 3

static void forget(struct flow *f, uint64_t now)
{
    if (now - f->since_ns < MEMORY_NS)
        return;
    f->best[1] = f->best[0];
    f->best[0].delay_ns = f->best[0].rate = 0;
    f->since_ns = now;
}

void flow_learn(struct flow *f, const struct flow_sample *s)
{
    f->delivered += s->bytes;
    if (s->bytes < FEW_BYTES || s->first_ns < s->begun_ns || s->ended_ns <= s->begun_ns)
        return;
    forget(f, s->ended_ns);
    /* All that arrived while it was under way, as others shared the wire with it. */
    const double rate =
        (double)(f->delivered - s->before) * SECOND_NS / (double)(s->ended_ns - s->begun_ns);
    const uint64_t bytes = rate < (double)RATE_MOST ? (uint64_t)rate : RATE_MOST,
                   delay = min_u64(s->first_ns - s->begun_ns + 1, DELAY_MOST);
    f->best[0].rate = bytes > f->best[0].rate ? bytes : f->best[0].rate;
    if (f->best[0].delay_ns == 0 || delay < f->best[0].delay_ns)
        f->best[0].delay_ns = delay;
}

uint64_t flow_bytes(const struct flow *f)
{
    uint64_t delay = f->best[0].delay_ns;
    const uint64_t then = f->best[1].delay_ns,
                   rate = f->best[0].rate > f->best[1].rate ? f->best[0].rate : f->best[1].rate;
    if (delay == 0 || (then != 0 && then < delay))
        delay = then;
    if (delay == 0)
        return FLOW_FIRST;
    const double bytes = GAIN * (double)rate * (double)delay / SECOND_NS;
    if (bytes > (double)FLOW_MOST)
        return FLOW_MOST;
    return bytes > (double)FLOW_LEAST ? (uint64_t)bytes : FLOW_LEAST;
}
