/* The order of records without an index, on shards sorted by class: 1,000 classes of 1,300
 * records of about 43 kB, cells of 256 KiB, windows as the iterator cuts them. No bytes. */
#include "iter/load/loader.h"
#include "iter/order/permute.h"
#include "iter/order/window_order.h"
#include "iter/order/windows.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>

enum { CLASSES = 1000, OF_EACH = 1300, RECORDS = CLASSES * OF_EACH, SHARDS = 10, BATCH = 128 };
#define CELL ((uint64_t)256 << 10)

struct set {
    uint64_t *offset;        /* of each record in its shard */
    uint32_t *first_of_cell; /* cells of all shards in a row; one more at the end */
    uint64_t cells, cell_base[SHARDS + 1];
};

static struct set make_set(void)
{
    struct set s = {calloc(RECORDS, sizeof(uint64_t)), calloc(400000, sizeof(uint32_t)), 0, {0}};
    struct dice d = {1};
    for (uint32_t shard = 0, r = 0; shard < SHARDS; shard++) {
        uint64_t at = 0;
        s.cell_base[shard] = s.cells;
        for (; r < (shard + 1) * (RECORDS / SHARDS); r++) {
            for (; s.cell_base[shard] + at / CELL >= s.cells; s.cells++)
                s.first_of_cell[s.cells] = r;
            s.offset[r] = at;
            at += (30000 + dice_below(&d, 26000)) & ~(uint64_t)3;
        }
    }
    s.cell_base[SHARDS] = s.cells;
    s.first_of_cell[s.cells] = RECORDS;
    return s;
}

static void free_set(struct set *s)
{
    free(s->offset);
    free(s->first_of_cell);
}

/* The window's records in the order of delivery; `key` then is the record's number. */
static struct window make_window(const struct set *s, const struct windows *plan, uint64_t number,
                                 uint64_t seed, struct record_ref *room)
{
    struct window w = {.sweep = 3, .number = number, .records = room};
    uint64_t first, count;
    windows_extent(plan, number, &first, &count);
    for (uint64_t i = first; i < first + count; i++) {
        const uint64_t cell = permute((struct rng_key){seed, w.sweep}, s->cells, i);
        uint32_t shard = 0;
        while (cell >= s->cell_base[shard + 1])
            shard++;
        for (uint32_t r = s->first_of_cell[cell]; r < s->first_of_cell[cell + 1]; r++)
            room[w.count++] = (struct record_ref){.bytes = {(const uint8_t *)(uintptr_t)r, 0},
                                                  .offset = s->offset[r],
                                                  .shard = shard};
    }
    order_window(w.records, w.count, (struct rng_key){seed, w.sweep}, CELL, plan->count == 1);
    return w;
}

static uint32_t class_of(const struct record_ref *r)
{
    return (uint32_t)((uintptr_t)r->bytes.p / OF_EACH);
}

struct batches {
    uint32_t class[BATCH], n;
    uint32_t worst;
    double sum;
    uint64_t full;
};

static uint32_t distinct(const uint32_t *class, uint32_t n)
{
    uint8_t seen[CLASSES] = {0};
    uint32_t different = 0;
    for (uint32_t i = 0; i < n; i++)
        different += !seen[class[i]]++;
    return different;
}

static void add(struct batches *b, uint32_t class)
{
    b->class[b->n++] = class;
    if (b->n < BATCH)
        return;
    const uint32_t different = distinct(b->class, BATCH);
    b->worst = different < b->worst ? different : b->worst;
    b->sum += different;
    b->full++;
    b->n = 0;
}

START_TEST(every_batch_of_a_sorted_set_sees_most_classes) /* _i: seed */
{
    struct set s = make_set();
    const struct windows plan =
        windows_plan(s.cells, CELL, (uint64_t)128 << 20, (uint64_t)32 << 20);
    struct record_ref *room = calloc(20000, sizeof(*room));
    struct batches b = {.worst = BATCH};
    uint8_t *seen = calloc(RECORDS, 1);
    uint64_t total = 0;
    for (uint64_t number = 0; number < plan.count; number++) {
        const struct window w = make_window(&s, &plan, number, (uint64_t)_i, room);
        for (uint64_t i = 0; i < w.count; i++) {
            total += !seen[(uintptr_t)w.records[i].bytes.p]++;
            if (w.records[i].key != 0)
                ck_abort_msg("a sort key is left in a record");
            add(&b, class_of(&w.records[i]));
        }
    }
    const double expected =
        CLASSES * (1 - pow(1 - 1.0 / CLASSES, b.n)); /* of the last, short one */
    printf("seed %d: %d batches, worst %u, mean %.1f classes; the last %u: %u\n", _i, (int)b.full,
           b.worst, b.sum / (double)b.full, b.n, distinct(b.class, b.n));
    ck_assert_uint_eq(total, RECORDS);
    ck_assert_uint_ge(b.worst, 102); /* 85 % of the 120 that a full permutation gives */
    ck_assert(b.sum / (double)b.full > 116);
    ck_assert(distinct(b.class, b.n) >= 0.85 * expected);
    free(seen);
    free(room);
    free_set(&s);
}
END_TEST

START_TEST(the_first_batches_of_any_seed_see_most_classes)
{
    enum { SEEDS = 300 };
    struct set s = make_set();
    const struct windows plan =
        windows_plan(s.cells, CELL, (uint64_t)128 << 20, (uint64_t)32 << 20);
    struct record_ref *room = calloc(20000, sizeof(*room));
    struct batches b = {.worst = BATCH};
    for (uint64_t seed = 0; seed < SEEDS; seed++, b.n = 0) {
        struct window w = make_window(&s, &plan, 0, seed, room);
        for (uint64_t i = 0; i < w.count; i++)
            add(&b, class_of(&w.records[i]));
        w = make_window(&s, &plan, 1, seed, room); /* the batch across the border too */
        for (uint64_t i = 0; i < BATCH; i++)
            add(&b, class_of(&w.records[i]));
    }
    printf("first batches: worst %u, mean %.1f classes\n", b.worst, b.sum / (double)b.full);
    ck_assert_uint_ge(b.worst, 102);
    free(room);
    free_set(&s);
}
END_TEST

static struct window small_window(struct record_ref *room, uint32_t n, uint32_t cell_of)
{
    for (uint32_t i = 0; i < n; i++)
        room[i] = (struct record_ref){.offset = (uint64_t)(i / cell_of) * CELL + i % cell_of * 8};
    return (struct window){.records = room, .count = n};
}

/* Each of 16 records at each of 16 places: chi-square, 225 degrees of freedom. */
START_TEST(each_record_comes_equally_often_at_each_place) /* _i: whole or spread */
{
    enum { N = 16, KEYS = 8000 };
    uint32_t hits[N][N] = {{0}};
    struct record_ref room[N];
    double chi = 0;
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        struct window w = small_window(room, N, 4);
        order_window(w.records, w.count, (struct rng_key){seed, w.sweep}, CELL, _i);
        for (uint32_t i = 0; i < N; i++)
            hits[room[i].offset / CELL * 4 + room[i].offset % CELL / 8][i]++;
    }
    for (uint32_t i = 0; i < N * N; i++) {
        const double d = hits[i / N][i % N] - (double)KEYS / N;
        chi += d * d * N / KEYS;
    }
    ck_assert_msg(fabs(chi - 225) < (_i ? 5 * 21.2 : 10 * 21.2), "chi-square %.0f", chi);
}
END_TEST

START_TEST(the_whole_is_shuffled_without_regard_to_cells)
{
    enum { N = 16, KEYS = 4000 };
    struct record_ref room[N];
    uint32_t together = 0;
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        struct window w = small_window(room, N, 4);
        order_window(w.records, w.count, (struct rng_key){seed, w.sweep}, CELL, true);
        for (uint32_t i = 1; i < N; i++)
            together += room[i].offset / CELL == room[i - 1].offset / CELL;
    }
    const double expected = KEYS * (N - 1) * 3.0 / (N - 1); /* 3 of 15 others are of the cell */
    ck_assert_msg(fabs(together - expected) < 6 * sqrt(expected), "%u pairs", together);
}
END_TEST

START_TEST(equal_keys_give_equal_orders_and_others_do_not)
{
    enum { N = 1000 };
    static struct record_ref a[N], b[N];
    struct window one = small_window(a, N, 7), two = small_window(b, N, 7);
    order_window(one.records, one.count, (struct rng_key){5, one.sweep}, CELL, false);
    order_window(two.records, two.count, (struct rng_key){5, two.sweep}, CELL, false);
    ck_assert_int_eq(memcmp(a, b, sizeof(a)), 0);
    two = small_window(b, N, 7);
    two.sweep = 1;
    order_window(two.records, two.count, (struct rng_key){5, two.sweep}, CELL, false);
    uint32_t same = 0;
    for (uint32_t i = 0; i < N; i++)
        same += a[i].offset == b[i].offset;
    ck_assert_uint_lt(same, 10);
}
END_TEST

START_TEST(windows_of_any_size_keep_their_records) /* _i records */
{
    struct record_ref room[200];
    struct window w = small_window(room, (uint32_t)_i, 5);
    uint64_t sum = 0, right = 0;
    for (int i = 0; i < _i; i++)
        right += room[i].offset;
    order_window(w.records, w.count, (struct rng_key){1, w.sweep}, CELL, _i % 2);
    for (int i = 0; i < _i; i++)
        sum += room[i].offset;
    ck_assert_uint_eq(sum, right);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("order");
    TCase *tc = tcase_create("order");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, every_batch_of_a_sorted_set_sees_most_classes, 0, 2);
    tcase_add_test(tc, the_first_batches_of_any_seed_see_most_classes);
    tcase_add_loop_test(tc, each_record_comes_equally_often_at_each_place, 0, 2);
    tcase_add_test(tc, the_whole_is_shuffled_without_regard_to_cells);
    tcase_add_test(tc, equal_keys_give_equal_orders_and_others_do_not);
    tcase_add_loop_test(tc, windows_of_any_size_keep_their_records, 0, 200);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
