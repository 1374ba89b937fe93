#include "base/alloc.h"
#include "im2rec/item/tally.h"
#include "tests/support/suite.h"

#include <stdio.h>

static struct tally tally;
static struct imrec_pack_result result;

static void add(uint32_t width, const char *kind, int64_t class_index)
{
    struct outcome o = {.width = width, .height = 2 * width, .class_index = class_index};
    o.file_bytes = 10;
    snprintf(o.kind, sizeof(o.kind), "%s", kind);
    tally_add(&tally, &o);
}

static void setup(void)
{
    ck_assert_int_eq(tally_init(&tally, 3, NULL), IMREC_OK);
    result = (struct imrec_pack_result){0};
}

static void teardown(void)
{
    tally_free(&tally);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const struct {
    uint32_t n, widths[5], least, median, most;
} cases[] = {
    {1, {7}, 7, 7, 7},
    {2, {9, 5}, 5, 5, 9},
    {4, {4, 1, 3, 2}, 1, 2, 4},
    {5, {10, 10, 1, 10, 70000}, 1, 10, 65535}, /* the last counter holds all from there on */
    {0, {0}, 0, 0, 0},
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(sizes_have_a_least_a_median_and_a_most, 0, COUNT(cases))
{
    for (uint32_t i = 0; i < cases[_i].n; i++)
        add(cases[_i].widths[i], "", -1);
    tally_result(&tally, &result);
    ck_assert_uint_eq(result.width.least, cases[_i].least);
    ck_assert_uint_eq(result.width.median, cases[_i].median);
    ck_assert_uint_eq(result.width.most, cases[_i].most);
    ck_assert_uint_eq(result.packed, cases[_i].n);
}

TEST(kinds_and_reasons_come_most_first_and_equal_ones_by_name)
{
    add(1, "png", 0);
    add(1, "jpeg baseline", 0);
    add(1, "bmp", 2);
    add(1, "jpeg baseline", 0);
    tally_add(&tally, &(struct outcome){.reason = REASON_EMPTY});
    tally_add(&tally, &(struct outcome){.reason = REASON_DAMAGED});
    tally_add(&tally, &(struct outcome){.reason = REASON_DAMAGED});
    tally_result(&tally, &result);
    ck_assert_uint_eq(result.kind_count, 3);
    ck_assert_str_eq(result.kinds[0].name, "jpeg baseline");
    ck_assert_uint_eq(result.kinds[0].count, 2);
    ck_assert_str_eq(result.kinds[1].name, "bmp");
    ck_assert_str_eq(result.kinds[2].name, "png");
    ck_assert_uint_eq(result.reason_count, 2);
    ck_assert_str_eq(result.reasons[0].name, "damaged");
    ck_assert_uint_eq(result.skipped, 3);
    ck_assert_uint_eq(result.file_bytes, 40);
    ck_assert_uint_eq(result.classes, 3);
    ck_assert_uint_eq(result.class_least, 0);
    ck_assert_uint_eq(result.class_most, 3);
}

TEST(more_kinds_than_there_is_room_for_are_not_counted_by_name)
{
    char kind[24];
    for (int i = 0; i < IMREC_PACK_KINDS + 5; i++) {
        snprintf(kind, sizeof(kind), "kind %d", i);
        add(1, kind, -1);
    }
    tally_result(&tally, &result);
    ck_assert_uint_eq(result.kind_count, IMREC_PACK_KINDS);
    ck_assert_uint_eq(result.packed, IMREC_PACK_KINDS + 5);
}
