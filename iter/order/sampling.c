/* iter/order/sampling.c - which record a sample of a job's sweep is. */
#include "iter/order/sampling.h"

#include "base/alloc.h"
#include "base/math.h"
#include "iter/order/permute.h"

/* ---- strata --------------------------------------------------------------------------------- */

static const struct stratum *stratum_of(const struct sampling *s, uint64_t place)
{
    uint64_t low = 0, high = s->stratum_count; /* strata[low].begin <= place < strata[high].begin */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->strata[middle].begin <= place)
            low = middle;
        else
            high = middle;
    }
    return &s->strata[low];
}

/* The sample at `place` of the sweep's samples, which are stratum by stratum. */
static struct sampled
of_stratum(const struct sampling *s, uint64_t seed, uint64_t sweep, uint64_t place)
{
    const struct stratum *t = stratum_of(s, place);
    const uint64_t before = sweep * (t[1].begin - t->begin); /* of all sweeps */
    const uint64_t at = before + (place - t->begin), lap = at / t->members;
    uint64_t member = at % t->members;
    if (s->shuffle) {
        const struct rng_key key = {seed, lap};
        const struct rng_key own = {
            rng_block(key, (uint64_t)(t - s->strata), t->members, 1, RNG_RECORD_ORDER).v[0], lap};
        member = permute(own, t->members, member);
    }
    return (struct sampled){t->first + member, lap - before / t->members};
}

/* ---- weights -------------------------------------------------------------------------------- */

/* Point j of the line. They are at least one unit apart: the line is far longer. */
static uint64_t point(const struct sampling *s, uint64_t offset, uint64_t j)
{
    return share_begin(s->line[s->member_count - 1], j, s->distinct) + offset;
}

static struct sampled of_line(const struct sampling *s, uint64_t seed, uint64_t sweep, uint64_t j)
{
    const struct rng_key key = {seed, sweep};
    const uint64_t step = s->line[s->member_count - 1] / s->distinct;
    const uint64_t offset =
        rng_below(rng_block(key, s->distinct, s->member_count, 2, RNG_RECORD_ORDER).v[0], step);
    const uint64_t member =
        first_at_least(s->line, sizeof(*s->line), 0, s->member_count, point(s, offset, j) + 1);
    const uint64_t begin = member != 0 ? s->line[member - 1] : 0;
    uint64_t low = 0, high = j; /* the first point of the piece is in [low, high] */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (point(s, offset, middle) < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct sampled){member, j - low};
}

/* ---- samples -------------------------------------------------------------------------------- */

/* The copies of a sample are a batch's share apart, so that no two of them are of one rank where
 * there are at least as many ranks as copies. */
static uint64_t drop_repeats(const struct sampling *s, uint64_t i, uint64_t *copy)
{
    const uint64_t all = s->distinct * s->repeats, batch = i / s->batch,
                   slots = min_u64(s->batch, all - batch * s->batch), apart = slots / s->repeats,
                   slot = i % s->batch;
    *copy = slot / apart;
    return batch * (s->batch / s->repeats) + slot % apart;
}

struct sampled sampling_at(const struct sampling *s, uint64_t seed, uint64_t sweep, uint64_t i)
{
    const struct rng_key key = {seed, sweep};
    uint64_t copy = 0, place = s->repeats > 1 ? drop_repeats(s, i, &copy) : i;
    if (s->shuffle)
        place = permute(key, s->distinct, place);
    struct sampled out =
        s->line != NULL ? of_line(s, seed, sweep, place) : of_stratum(s, seed, sweep, place);
    if (s->members != NULL)
        out.record = s->members[out.record];
    out.lap = out.lap * s->repeats + copy;
    return out;
}

uint64_t sampling_memory(const struct sampling *s)
{
    const uint64_t lists = (s->members != NULL) + (s->line != NULL);
    return lists * s->member_count * sizeof(uint64_t) + s->stratum_count * sizeof(*s->strata);
}

void sampling_free(struct sampling *s)
{
    IMREC_FREE(s->members, s->strata, s->line);
    *s = (struct sampling){0};
}
