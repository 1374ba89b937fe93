#include "iter/order/permute.h"
#include "iter/order/windows.h"
#include "tests/support/suite.h"

#include <string.h>

START_TEST(every_number_comes_exactly_once) /* _i = n */
{
    static uint8_t seen[4096];
    const uint64_t n = (uint64_t)_i;
    memset(seen, 0, sizeof(seen));
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t p = permute((struct rng_key){7, n}, n, i);
        ck_assert_uint_lt(p, n);
        ck_assert_msg(!seen[p], "%d: %d twice", (int)n, (int)p);
        seen[p] = 1;
    }
}
END_TEST

static const uint64_t large[] = {
    (uint64_t)14197122, ((uint64_t)1 << 31) + 1,   (uint64_t)1 << 32, ((uint64_t)1 << 33) - 7,
    (uint64_t)1 << 63,  ((uint64_t)1 << 63) + 123, UINT64_MAX,
};

START_TEST(large_ranges_stay_in_range_and_neighbours_part) /* _i into large */
{
    const uint64_t n = large[_i];
    uint64_t near = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t a = permute((struct rng_key){1, 2}, n, i);
        const uint64_t b = permute((struct rng_key){1, 2}, n, n - 1 - i);
        const uint64_t c = permute((struct rng_key){1, 2}, n, i + 1);
        ck_assert(a < n && b < n && a != b && a != c);
        near += (a > c ? a - c : c - a) < n / 1000;
    }
    ck_assert_uint_lt(near, 12); /* 2 expected */
}
END_TEST

/* Chi-square of "which number stands at place i" over many keys; a uniform choice has mean
 * n - 1 and deviation sqrt(2 (n - 1)) at each place. */
START_TEST(each_place_gets_each_number_equally_often) /* _i = n */
{
    enum { KEYS = 4000 };
    const uint64_t n = (uint64_t)_i;
    double worst = 0;
    for (uint64_t place = 0; place < n; place++) {
        uint32_t hits[64] = {0};
        double chi = 0;
        for (uint64_t k = 0; k < KEYS; k++)
            hits[permute((struct rng_key){k, 5}, n, place)]++;
        for (uint64_t v = 0; v < n; v++) {
            const double d = hits[v] - (double)KEYS / (double)n;
            chi += d * d * (double)n / KEYS;
        }
        worst = chi > worst ? chi : worst;
    }
    const double free = (double)n - 1;
    ck_assert_msg((worst - free) * (worst - free) < 2 * free * 25, "n %d: chi %.1f", (int)n, worst);
}
END_TEST

/* The same for pairs: the number at place 0 says nothing about the one at place 1. */
START_TEST(all_orders_of_few_come_equally_often) /* _i = n, 3 or 4 */
{
    enum { KEYS = 24000 };
    const uint64_t n = (uint64_t)_i;
    uint32_t hits[256] = {0}, orders = n == 3 ? 6 : 24, seen = 0;
    for (uint64_t k = 0; k < KEYS; k++) {
        uint32_t code = 0;
        for (uint64_t i = 0; i < n; i++)
            code = code * 4 + (uint32_t)permute((struct rng_key){k, 9}, n, i);
        hits[code]++;
    }
    for (uint32_t i = 0; i < 256; i++)
        if (hits[i] != 0) {
            const double expected = (double)KEYS / orders, d = hits[i] - expected;
            ck_assert_msg(d * d < 36 * expected, "order %x: %u", i, hits[i]);
            seen++;
        }
    ck_assert_uint_eq(seen, orders);
}
END_TEST

START_TEST(another_seed_or_sweep_is_another_order)
{
    uint32_t same_seed = 0, same_sweep = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t a = permute((struct rng_key){1, 1}, 1000, i);
        same_seed += a == permute((struct rng_key){1, 2}, 1000, i);
        same_sweep += a == permute((struct rng_key){2, 1}, 1000, i);
    }
    ck_assert_uint_lt(same_seed, 10);
    ck_assert_uint_lt(same_sweep, 10);
}
END_TEST

static const struct {
    uint64_t units, unit, most, first, count, in_first, in_last;
} plans[] = {
    {0, 256, 1024, 512, 1, 0, 0},
    {1, 256, 1024, 512, 1, 1, 1},
    {2, 256, 1024, 512, 1, 2, 2},
    {3, 256, 1024, 512, 2, 2, 1},
    {4, 256, 1024, 512, 2, 2, 2},
    {5, 256, 1024, 512, 2, 2, 3},
    {6, 256, 1024, 512, 2, 2, 4},
    {7, 256, 1024, 512, 3, 2, 2},
    {100, 256, 1024, 512, 26, 2, 3},
    {9, 256, 100, 50, 9, 1, 1},
    {10, 300, 1024, 4096, 4, 3, 2},
    {13, 256, 2560, 2560, 2, 7, 6},
    {UINT64_MAX, 1, 1024, 512, 18014398509481985u, 512, 1023},
};

START_TEST(windows_tumble_and_none_is_too_large) /* _i into plans */
{
    const struct windows w =
        windows_plan(plans[_i].units, plans[_i].unit, plans[_i].most, plans[_i].first);
    uint64_t first, count, next = 0;
    ck_assert_uint_eq(w.count, plans[_i].count);
    windows_extent(&w, 0, &first, &count);
    ck_assert_uint_eq(count, plans[_i].in_first);
    const uint64_t shown = w.count < 1000 ? w.count : 1000;
    for (uint64_t i = 0; i < shown; i++) {
        windows_extent(&w, i, &first, &count);
        ck_assert_uint_eq(first, next);
        ck_assert(count <= 1 || count * plans[_i].unit <= plans[_i].most);
        for (uint64_t k = 0; k < count; k++)
            if (windows_at(&w, first + k) != i)
                ck_abort_msg("place %llu", (unsigned long long)(first + k));
        next = first + count;
    }
    windows_extent(&w, w.count - 1, &first, &count);
    ck_assert_uint_eq(count, plans[_i].in_last);
    ck_assert_uint_eq(first + count, plans[_i].units);
    if (plans[_i].units != 0)
        ck_assert_uint_eq(windows_at(&w, plans[_i].units - 1), w.count - 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan");
    TCase *tc = tcase_create("plan");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_number_comes_exactly_once, 1, 600);
    tcase_add_loop_test(tc, every_number_comes_exactly_once, 4090, 4096);
    tcase_add_loop_test(tc, large_ranges_stay_in_range_and_neighbours_part, 0,
                        sizeof(large) / sizeof(large[0]));
    tcase_add_loop_test(tc, each_place_gets_each_number_equally_often, 2, 20);
    tcase_add_loop_test(tc, each_place_gets_each_number_equally_often, 63, 65);
    tcase_add_loop_test(tc, all_orders_of_few_come_equally_often, 3, 5);
    tcase_add_test(tc, another_seed_or_sweep_is_another_order);
    tcase_add_loop_test(tc, windows_tumble_and_none_is_too_large, 0,
                        sizeof(plans) / sizeof(plans[0]));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
