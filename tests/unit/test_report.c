/* The notes of a batch: the first ten in their order, whoever comes first. */
#include "iter/batch_report.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { SWEEPS = 3 };
static struct report_count counts[SWEEPS];
static struct report_note notes[LOG_LISTED];

static struct cell_report begin(void)
{
    struct cell_report r = {.counts = counts, .room = SWEEPS, .notes = notes, .noted = 7};
    memset(counts, 0xff, sizeof(counts));
    report_begin(&r);
    return r;
}

static void put(struct cell_report *r, uint32_t sample)
{
    char text[32];
    snprintf(text, sizeof(text), "sample %u", sample);
    report_sample(r, sample, sample / 100, sample % 2 != 0, text);
}

static void must_hold(const struct cell_report *r, uint32_t first)
{
    ck_assert_uint_eq(r->noted, LOG_LISTED);
    for (uint32_t i = 0; i < LOG_LISTED; i++) {
        char text[32];
        snprintf(text, sizeof(text), "sample %u", first + 7 * i);
        ck_assert_str_eq(r->notes[i].text, text);
        ck_assert_uint_eq(r->notes[i].nth, (first + 7 * i) / 100);
    }
}

START_TEST(the_first_ten_stay_in_any_order) /* _i: how the samples come */
{
    enum { N = 31 }; /* samples 3, 10, ..., 213 */
    struct cell_report r = begin();
    for (uint32_t i = 0; i < N; i++)
        put(&r, 3 + 7 * (_i == 0 ? i : _i == 1 ? N - 1 - i : i * 11 % N));
    must_hold(&r, 3);
    ck_assert_uint_eq(counts[0].zeroed + counts[0].replaced, 14);
    ck_assert_uint_eq(counts[1].zeroed + counts[1].replaced, 15);
    ck_assert_uint_eq(counts[2].zeroed + counts[2].replaced, 2);
    ck_assert_uint_eq(counts[0].replaced, 7);
    ck_assert_uint_eq(counts[0].damages, 0);
}
END_TEST

START_TEST(damage_comes_before_the_sample_that_follows_it)
{
    struct cell_report r = begin();
    struct imrec_error lines[LOG_LISTED] = {{.message = "range 1"}, {.message = "range 2"}};
    put(&r, 4);
    put(&r, 5);
    report_damage(&r, 5, 1, 2, lines);
    ck_assert_uint_eq(r.noted, 4);
    ck_assert_str_eq(r.notes[0].text, "sample 4");
    ck_assert_str_eq(r.notes[1].text, "range 1");
    ck_assert_str_eq(r.notes[2].text, "range 2");
    ck_assert_str_eq(r.notes[3].text, "sample 5");
    ck_assert_uint_eq(counts[1].damages, 2);
    report_damage(&r, 6, 1, 5000, lines); /* ten have lines */
    ck_assert_uint_eq(r.noted, LOG_LISTED);
    ck_assert_uint_eq(counts[1].damages, 5002);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report");
    TCase *tc = tcase_create("report");
    tcase_add_loop_test(tc, the_first_ten_stay_in_any_order, 0, 3);
    tcase_add_test(tc, damage_comes_before_the_sample_that_follows_it);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
