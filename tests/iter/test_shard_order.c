/* Cells of shards that are read from their begin on: each once, several shards at a time. */
#include "iter/order/shard_order.h"
#include "tests/support/suite.h"

#include <string.h>

enum { MOST_SHARDS = 70, MOST_CELLS = 40 };

static uint64_t base[MOST_SHARDS + 1];
static struct shard shards[MOST_SHARDS];

/* Shards of up to MOST_CELLS cells, some of none. */
static struct container made(uint32_t n, uint64_t parts, uint64_t part)
{
    struct container c = {.shards = shards, .shard_count = n, .cell_base = base};
    c.options.num_parts = parts;
    c.options.part_index = part;
    for (uint32_t i = 0; i < n; i++)
        base[i + 1] = base[i] + i * 7919 % MOST_CELLS;
    return c;
}

CASE(.timeout = 60)

LOOP_TEST(every_cell_comes_once_and_a_shards_in_file_order, 1, MOST_SHARDS) /* _i: shards */
{
    static uint64_t next[MOST_SHARDS];
    const struct container c = made((uint32_t)_i, 1, 0);
    struct shard_order o;
    ck_assert_int_eq(shard_order_init(&o, &c, 5, NULL), IMREC_OK);
    for (uint64_t sweep = 0; sweep < 3; sweep++) {
        memcpy(next, base, sizeof(next));
        for (uint64_t i = 0; i < base[_i]; i++) {
            const uint64_t cell = shard_order_cell(&o, sweep, i);
            uint32_t shard = 0;
            while (base[shard + 1] <= cell)
                shard++;
            ck_assert_uint_eq(cell, next[shard]);
            next[shard]++;
        }
        for (int k = 0; k < _i; k++)
            ck_assert_uint_eq(next[k], base[k + 1]);
    }
    shard_order_free(&o);
}

TEST(a_place_is_the_same_whatever_was_asked_before)
{
    const struct container c = made(MOST_SHARDS, 1, 0);
    struct shard_order a, b;
    ck_assert_int_eq(shard_order_init(&a, &c, 5, NULL), IMREC_OK);
    ck_assert_int_eq(shard_order_init(&b, &c, 5, NULL), IMREC_OK);
    for (uint64_t i = 0, n = base[MOST_SHARDS]; i < 2 * n; i++) {
        const uint64_t k = i * 7907 % (2 * n); /* two sweeps, mixed */
        ck_assert_uint_eq(shard_order_cell(&a, k / n, k % n), shard_order_cell(&b, k / n, k % n));
        (void)shard_order_cell(&b, 1 - k / n, n - 1 - k % n);
    }
    shard_order_free(&a);
    shard_order_free(&b);
}

/* A tenth of a group has a tenth of each of its shards, but for a cell. */
TEST(a_groups_shards_are_read_in_proportion)
{
    struct container c = made(SHARD_GROUP, 1, 0);
    struct shard_order o;
    for (uint32_t i = 0; i < SHARD_GROUP; i++)
        base[i + 1] = base[i] + 1000 + 300 * i;
    ck_assert_int_eq(shard_order_init(&o, &c, 5, NULL), IMREC_OK);
    for (uint64_t piece = 0, n = base[SHARD_GROUP] / 10; piece < 9; piece++) {
        uint64_t given[SHARD_GROUP] = {0};
        for (uint64_t i = piece * n; i < (piece + 1) * n; i++) {
            const uint64_t cell = shard_order_cell(&o, 0, i);
            uint32_t shard = 0;
            while (base[shard + 1] <= cell)
                shard++;
            given[shard]++;
        }
        for (uint32_t i = 0; i < SHARD_GROUP; i++) {
            const uint64_t fair = (base[i + 1] - base[i]) / 10;
            ck_assert_msg(given[i] + 2 >= fair && given[i] <= fair + 2, "shard %u: %d cells", i,
                          (int)given[i]);
        }
    }
    shard_order_free(&o);
}

/* The shards of the partitions are all shards; sizes differ by one at most. */
LOOP_TEST(partitions_have_whole_shards, 1, 20) /* _i: partitions */
{
    uint64_t cells = 0;
    uint32_t last = 0;
    for (uint64_t part = 0; part < (uint64_t)_i; part++) {
        const struct container c = made(53, (uint64_t)_i, part);
        struct shard_order o;
        ck_assert_int_eq(shard_order_init(&o, &c, 5, NULL), IMREC_OK);
        ck_assert_uint_eq(o.first, last);
        ck_assert(o.shards == 53 / (uint32_t)_i || o.shards == 53 / (uint32_t)_i + 1);
        last += o.shards;
        cells += base[o.first + o.shards] - base[o.first];
        shard_order_free(&o);
    }
    ck_assert_uint_eq(last, 53);
    ck_assert_uint_eq(cells, base[53]);
}

TEST(a_shard_of_too_many_cells_is_refused)
{
    struct imrec_error err;
    struct container c = made(2, 1, 0);
    struct shard_order o;
    shards[1].uri = "big.tar";
    base[2] = base[1] + UINT32_MAX + 1;
    ck_assert_int_eq(shard_order_init(&o, &c, 5, &err), IMREC_ERR_LIMIT);
    ck_assert(strstr(err.message, "big.tar") != NULL);
}
