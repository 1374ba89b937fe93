/* storage/wire/pace.c - ninth deciles of the times of requests, by host and size. */
#include "storage/wire/pace.h"

#include "storage/wire/hosts.h"

#define HOSTS       32u
#define SEEN_LEAST  20u /* requests, before a decile means something */
#define STEP        16u /* a request moves the decile by a share of 1 / STEP at most */
#define SMALLEST    ((size_t)32 << 10)
#define SLACK_NS    UINT64_C(5000000) /* what a busy machine makes of a quick answer */
#define HEDGE_EVERY 10u

static struct wire_pace paces[HOSTS];

struct wire_pace *wire_pace_of(const char *url)
{
    return &paces[wire_host_hash(url) % HOSTS];
}

static unsigned size_of(size_t bytes)
{
    unsigned i = 0;
    for (size_t n = SMALLEST; n < bytes && i + 1 < PACE_SIZES; n *= 2)
        i++;
    return i;
}

/* Two threads at once may lose one's step: it is an estimate. */
void wire_pace_note(struct wire_pace *p, size_t bytes, uint64_t ns)
{
    const unsigned i = size_of(bytes);
    const uint64_t now = atomic_load(&p->decile_ns[i]);
    uint64_t next = ns;
    if (now != 0) /* up nine times as far as down: it rests where one in ten is slower */
        next = ns > now ? now + now / STEP * 9 / 10 + 1 : now - now / STEP / 10;
    atomic_store(&p->decile_ns[i], next);
    atomic_fetch_add(&p->seen[i], 1);
    atomic_fetch_add(&p->requests, 1);
}

uint64_t wire_pace_slow_ns(const struct wire_pace *p, size_t bytes)
{
    const unsigned i = size_of(bytes);
    if (atomic_load(&p->seen[i]) < SEEN_LEAST)
        return UINT64_MAX;
    const uint64_t ns = atomic_load(&p->decile_ns[i]);
    return ns + ns / 4 + SLACK_NS;
}

bool wire_pace_hedge(struct wire_pace *p)
{
    if ((atomic_load(&p->hedges) + 1) * HEDGE_EVERY > atomic_load(&p->requests))
        return false;
    atomic_fetch_add(&p->hedges, 1);
    return true;
}
