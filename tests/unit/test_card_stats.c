#include "dataset/card_stats.h"
#include "tests/support/suite.h"

#include "base/alloc.h"

#include <math.h>

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(a_median_is_the_lower_middle_value_within_one_in_512) /* loop test over sizes */
{
    uint64_t values[300], state = 88172645463325252u + (uint64_t)_i;
    struct histogram h;
    ck_assert_int_eq(histogram_init(&h, NULL), IMREC_OK);
    const int n = _i < 8 ? _i : 7 * _i;
    for (int i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        values[i] = state >> (state % 64); /* of every size */
        histogram_add(&h, values[i]);
    }
    const struct imrec_range r = histogram_range(&h);
    histogram_free(&h);
    if (n == 0) {
        ck_assert(r.min == 0 && r.median == 0 && r.max == 0);
        return;
    }
    qsort(values, (size_t)n, sizeof(values[0]), by_value);
    const uint64_t median = values[(n - 1) / 2];
    ck_assert_uint_eq(r.min, values[0]);
    ck_assert_uint_eq(r.max, values[n - 1]);
    ck_assert_uint_le(r.median, median);
    ck_assert_uint_le(median - r.median, median < 1024 ? 0 : median / 512);
    ck_assert_uint_ge(r.median, r.min);
}
END_TEST

START_TEST(the_edges_of_buckets_are_where_they_are_said_to_be)
{
    static const uint64_t edges[] = {0, 1, 1023, 1024, 1026, 2046, 2048, 4096, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        struct histogram h;
        ck_assert_int_eq(histogram_init(&h, NULL), IMREC_OK);
        histogram_add(&h, 0);
        histogram_add(&h, edges[i]);
        histogram_add(&h, UINT64_MAX);
        ck_assert_uint_eq(histogram_range(&h).median, edges[i]);
        histogram_free(&h);
    }
}
END_TEST

START_TEST(labels_are_counted_once_each_and_come_in_order)
{
    struct label_count t = {0};
    struct imrec_label_count *list;
    uint64_t n;
    for (int i = 0; i < 3000; i++)
        ck_assert_int_eq(label_count_add(&t, (float)((i * 7919) % 1000) - 500, NULL), IMREC_OK);
    ck_assert_int_eq(label_count_add(&t, -0.0f, NULL), IMREC_OK);
    ck_assert_int_eq(label_count_add(&t, NAN, NULL), IMREC_OK);
    ck_assert_int_eq(label_count_add(&t, -NAN, NULL), IMREC_OK);
    list = label_count_take(&t, &n);
    ck_assert_uint_eq(n, 1001);
    for (uint64_t i = 0; i < 1000; i++) {
        ck_assert(list[i].label == (float)i - 500);
        ck_assert_uint_eq(list[i].records, i == 500 ? 4 : 3);
    }
    ck_assert(isnan(list[1000].label) && list[1000].records == 2);
    imrec_free(list);
    label_count_free(&t);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

START_TEST(too_many_labels_end_the_counting)
{
    struct label_count t = {0};
    for (uint32_t i = 0; i < IMREC_CARD_LABELS; i++)
        ck_assert_int_eq(label_count_add(&t, (float)i, NULL), IMREC_OK);
    ck_assert(!t.full);
    ck_assert_int_eq(label_count_add(&t, 7, NULL), IMREC_OK);
    ck_assert(!t.full);
    ck_assert_int_eq(label_count_add(&t, 0.5f, NULL), IMREC_OK);
    ck_assert(t.full);
    label_count_free(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("card_stats");
    TCase *tc = tcase_create("card_stats");
    tcase_add_loop_test(tc, a_median_is_the_lower_middle_value_within_one_in_512, 0, 42);
    tcase_add_test(tc, the_edges_of_buckets_are_where_they_are_said_to_be);
    tcase_add_test(tc, labels_are_counted_once_each_and_come_in_order);
    tcase_add_test(tc, too_many_labels_end_the_counting);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
