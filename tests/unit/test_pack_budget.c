#include "im2rec/item/budget.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdatomic.h>

#define MIB ((uint64_t)1 << 20)

/* 700 MiB for work, 100 MiB for records that wait. */
enum { LIMIT_MIB = 800, WORK_MIB = 700, RECORDS_MIB = 100, IMAGES = 400, WORKERS = 6 };

static struct budget budget;

static struct budget_need mib(uint64_t work, uint64_t record)
{
    return (struct budget_need){work * MIB, record * MIB};
}

static void setup(void)
{
    budget_init(&budget, LIMIT_MIB * MIB);
}

static void teardown(void)
{
    budget_destroy(&budget);
}

START_TEST(what_is_given_back_can_be_taken_again)
{
    struct budget_share a = {0}, b = {0};
    ck_assert(budget_take(&budget, &a, 0, mib(400, 50)));
    ck_assert(budget_try(&budget, &b, 1, mib(200, 20)));
    ck_assert(budget_try(&budget, &b, 1, mib(300, 30))); /* in its place */
    ck_assert(!budget_try(&budget, &b, 1, mib(301, 30)));
    ck_assert(!budget_try(&budget, &b, 1, mib(200, 101)));
    ck_assert_uint_eq(budget.work, 700 * MIB);
    ck_assert_uint_eq(budget.records, 30 * MIB); /* the oldest's waits for nobody */
    budget_finish(&budget, &b, 1, 10 * MIB);
    ck_assert_uint_eq(budget.work, 400 * MIB);
    ck_assert_uint_eq(budget.records, 10 * MIB);
    budget_finish(&budget, &a, 0, 40 * MIB);
    ck_assert_uint_eq(budget.work, 40 * MIB);
    budget_written(&budget, &a);
    budget_written(&budget, &b);
    ck_assert_uint_eq(budget.work + budget.records, 0);
    ck_assert_uint_eq(budget.oldest, 2);
}
END_TEST

START_TEST(one_image_may_have_seven_eighths_and_64_mib_at_least)
{
    ck_assert_uint_eq(budget_most(LIMIT_MIB * MIB), WORK_MIB * MIB);
    ck_assert_uint_eq(budget_most(16 * MIB), 64 * MIB);
    ck_assert_uint_eq(budget_most(UINT64_MAX), UINT64_MAX - UINT64_MAX / 8);
}
END_TEST

/* Younger images whose records wait do not keep the oldest from room for work. */
START_TEST(the_oldest_needs_no_room_among_records_that_wait)
{
    struct budget_share s[4] = {{{0, 0}, false}};
    for (int i = 1; i < 4; i++) {
        ck_assert(budget_take(&budget, &s[i], (uint64_t)i, mib(200, 30)));
        budget_finish(&budget, &s[i], (uint64_t)i, 30 * MIB);
    }
    ck_assert(!budget_try(&budget, &s[0], 5, mib(50, 30)));
    ck_assert(budget_take(&budget, &s[0], 0, mib(700, 650)));
    ck_assert_uint_eq(budget.work + budget.records, 790 * MIB);
    budget_finish(&budget, &s[0], 0, 650 * MIB);
    for (int i = 0; i < 4; i++)
        budget_written(&budget, &s[i]);
    ck_assert_uint_eq(budget.work + budget.records, 0);
}
END_TEST

START_TEST(one_that_becomes_the_oldest_gives_up_its_room_for_a_record)
{
    struct budget_share a = {0}, b = {0};
    ck_assert(budget_take(&budget, &a, 0, mib(10, 5)));
    ck_assert(budget_take(&budget, &b, 1, mib(10, 5)));
    budget_finish(&budget, &a, 0, 5 * MIB);
    budget_written(&budget, &a);
    ck_assert(budget_try(&budget, &b, 1, mib(600, 300)));
    ck_assert_uint_eq(budget.records, 0);
    budget_finish(&budget, &b, 1, 300 * MIB);
    ck_assert_uint_eq(budget.work, 300 * MIB);
    budget_written(&budget, &b);
}
END_TEST

struct shared {
    struct mutex lock;
    struct cond moved;
    struct budget_share shares[IMAGES];
    bool done[IMAGES];
    uint64_t next, written;
    atomic_uint_fast64_t passed, working, alone_among_others;
};

static void look(struct shared *s)
{
    mutex_lock(&budget.lock);
    s->passed += budget.work > WORK_MIB * MIB || budget.records > RECORDS_MIB * MIB;
    mutex_unlock(&budget.lock);
}

/* As the packer does: the file, then all, given back and asked for anew where it is not there. */
static void work_on(struct shared *s, uint64_t i)
{
    struct budget_share *share = &s->shares[i];
    const struct budget_need all = i % 50 == 7 ? mib(690, 600) : mib(20 + i * 7 % 300, 1 + i % 9);
    ck_assert(budget_take(&budget, share, i, mib(10 + i % 9, 0)));
    if (!budget_try(&budget, share, i, all)) {
        budget_drop(&budget, share);
        ck_assert(budget_take(&budget, share, i, all));
    }
    look(s);
    s->working++;
    if (i % 97 == 5) { /* found no memory */
        s->working--;
        budget_drop(&budget, share);
        ck_assert(budget_alone(&budget, share, i));
        s->alone_among_others += s->working != 0;
        ck_assert(budget_try(&budget, share, i, all));
        s->alone_among_others += s->working != 0;
        s->working++;
    }
    look(s);
    s->working--;
    budget_finish(&budget, share, i, all.record / 2);
    look(s);
}

/* Images in any order, written in theirs. */
static void *worker(void *arg)
{
    struct shared *s = arg;
    mutex_lock(&s->lock);
    while (s->next < IMAGES) {
        const uint64_t i = s->next++;
        mutex_unlock(&s->lock);
        work_on(s, i);
        mutex_lock(&s->lock);
        s->done[i] = true;
        while (s->written < IMAGES && s->done[s->written])
            budget_written(&budget, &s->shares[s->written++]);
    }
    mutex_unlock(&s->lock);
    return NULL;
}

START_TEST(many_workers_pass_no_limit_and_never_block_each_other_for_ever)
{
    static struct shared s;
    struct thread threads[WORKERS] = {0};
    mutex_init(&s.lock);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(thread_start(&threads[i], "worker", worker, &s, NULL), IMREC_OK);
    for (int i = 0; i < WORKERS; i++)
        thread_join(&threads[i]);
    ck_assert_uint_eq(s.written, IMAGES);
    ck_assert_uint_eq(budget.work + budget.records, 0);
    ck_assert_uint_eq(s.passed, 0);
    ck_assert_uint_eq(s.alone_among_others, 0);
    ck_assert_uint_le(budget.peak, LIMIT_MIB * MIB);
    ck_assert_uint_gt(budget.peak, WORK_MIB * MIB / 2);
    mutex_destroy(&s.lock);
}
END_TEST

struct waiting {
    uint64_t index;
    bool alone, given;
};

static void *waiter(void *arg)
{
    struct waiting *w = arg;
    struct budget_share s = {0};
    w->given = w->alone ? budget_alone(&budget, &s, w->index)
                        : budget_take(&budget, &s, w->index, mib(500, 0));
    return NULL;
}

START_TEST(stopping_wakes_those_who_wait) /* loop: for room, or to be alone */
{
    struct budget_share a = {0};
    struct thread t = {0};
    struct waiting w = {9, _i == 1, true};
    ck_assert(budget_take(&budget, &a, 0, mib(690, 0)));
    ck_assert_int_eq(thread_start(&t, "waiter", waiter, &w, NULL), IMREC_OK);
    budget_stop(&budget);
    thread_join(&t);
    ck_assert(!w.given);
    ck_assert_uint_eq(budget.work, 690 * MIB);
    ck_assert(!budget_try(&budget, &a, 0, mib(1, 0)));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pack budget");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_is_given_back_can_be_taken_again);
    tcase_add_test(t, one_image_may_have_seven_eighths_and_64_mib_at_least);
    tcase_add_test(t, the_oldest_needs_no_room_among_records_that_wait);
    tcase_add_test(t, one_that_becomes_the_oldest_gives_up_its_room_for_a_record);
    tcase_add_test(t, many_workers_pass_no_limit_and_never_block_each_other_for_ever);
    tcase_add_loop_test(t, stopping_wakes_those_who_wait, 0, 2);
    suite_add_tcase(s, t);
    return suite_run(s);
}
