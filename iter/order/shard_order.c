/* iter/order/shard_order.c */
#include "iter/order/shard_order.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/partition.h"
#include "iter/order/permute.h"

#include <inttypes.h>

#define NO_SWEEP UINT64_MAX

enum imrec_status shard_order_init(struct shard_order *o, const struct container *c, uint64_t seed,
                                   struct imrec_error *err)
{
    const uint64_t part = c->options.part_index;
    *o = (struct shard_order){.container = c, .seed = seed, .sweep = NO_SWEEP};
    o->first = partition_first_shard(c, part);
    o->shards = partition_first_shard(c, part + 1) - o->first;
    for (uint32_t i = 0; i < o->shards; i++)
        if (c->cell_base[o->first + i + 1] - c->cell_base[o->first + i] > UINT32_MAX)
            return imrec_fail(err, IMREC_ERR_LIMIT,
                              "%.300s has more than 2^32 cells of %" PRIu64
                              " bytes: set shuffle_chunk to more",
                              c->shards[o->first + i].uri, c->options.cell_bytes);
    o->groups = (uint32_t)ceil_div(o->shards, SHARD_GROUP);
    o->group_first = imrec_zalloc((size_t)o->groups + 1, sizeof(*o->group_first));
    return o->group_first != NULL ? IMREC_OK
                                  : IMREC_NO_MEMORY(err, "no memory for the order of shards");
}

void shard_order_free(struct shard_order *o)
{
    imrec_free(o->group_first);
    o->group_first = NULL;
}

uint64_t shard_order_memory(const struct shard_order *o)
{
    return o->group_first != NULL ? ((uint64_t)o->groups + 1) * sizeof(*o->group_first) : 0;
}

static uint32_t shard_at(const struct shard_order *o, uint64_t sweep, uint64_t i)
{
    return o->first + (uint32_t)permute((struct rng_key){o->seed, sweep}, o->shards, i);
}

static uint64_t cells_of(const struct shard_order *o, uint32_t shard)
{
    return o->container->cell_base[shard + 1] - o->container->cell_base[shard];
}

static void enter_group(struct shard_order *o, uint32_t group)
{
    const uint64_t first = partition_deal(o->shards, o->groups, group); /* of the permuted ones */
    o->group = group;
    o->members = (uint32_t)(partition_deal(o->shards, o->groups, group + 1) - first);
    for (uint32_t i = 0; i < o->members; i++)
        o->member[i] = shard_at(o, o->sweep, first + i);
}

static void enter_sweep(struct shard_order *o, uint64_t sweep)
{
    o->sweep = sweep;
    for (uint32_t g = 0; g < o->groups; g++) {
        enter_group(o, g);
        o->group_first[g + 1] = o->group_first[g];
        for (uint32_t i = 0; i < o->members; i++)
            o->group_first[g + 1] += cells_of(o, o->member[i]);
    }
}

/* Cell j of n is at (2j + 1) / 2n of its shard, in steps of 2^-32: these are below step x. A shard
 * has fewer than 2^32 cells, so that each has a step of its own. */
static uint64_t cells_before(uint64_t n, uint64_t x)
{
    const uint64_t half = (uint64_t)1 << 31;
    return x * n <= half ? 0 : (x * n - half - 1) / (half * 2) + 1;
}

static uint64_t group_before(const struct shard_order *o, uint64_t x)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->members; i++)
        sum += cells_before(cells_of(o, o->member[i]), x);
    return sum;
}

/* Cell q of the group: of those at the same step, that of the member which comes first. */
static uint64_t cell_of_group(const struct shard_order *o, uint64_t q)
{
    uint64_t low = 0, high = (uint64_t)1 << 32; /* group_before(low) <= q < group_before(high) */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (group_before(o, middle) <= q)
            low = middle;
        else
            high = middle;
    }
    q -= group_before(o, low);
    for (uint32_t i = 0;; i++) {
        const uint64_t n = cells_of(o, o->member[i]), j = cells_before(n, low);
        const uint64_t here = cells_before(n, high) - j;
        if (q < here)
            return o->container->cell_base[o->member[i]] + j;
        q -= here;
    }
}

uint64_t shard_order_cell(struct shard_order *o, uint64_t sweep, uint64_t place)
{
    if (o->sweep != sweep)
        enter_sweep(o, sweep);
    const uint32_t group =
        (uint32_t)first_at_least(o->group_first, sizeof(*o->group_first), 0, o->groups, place + 1) -
        1; /* group_first[it] <= place < group_first[it + 1] */
    if (o->group != group)
        enter_group(o, group);
    return cell_of_group(o, place - o->group_first[group]);
}
