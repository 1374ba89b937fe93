#include "im2rec/budget.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdatomic.h>

enum { LIMIT = 1000, PICTURES = 400, WORKERS = 6, HUGE_BYTES = 5000 };

static struct budget budget;

static void setup(void)
{
    budget_init(&budget, LIMIT);
}

static void teardown(void)
{
    budget_destroy(&budget);
}

START_TEST(what_is_given_back_can_be_taken_again)
{
    struct budget_share a = {0}, b = {0};
    ck_assert(budget_take(&budget, &a, 0, 600));
    ck_assert(budget_take(&budget, &b, 1, 400));
    ck_assert_uint_eq(budget.used, LIMIT);
    budget_finish(&budget, &b, 50);
    ck_assert_uint_eq(budget.used, 650);
    budget_finish(&budget, &a, 100);
    budget_written(&budget, &a);
    budget_written(&budget, &b);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert_uint_eq(budget.working, 0);
    ck_assert_uint_eq(budget.oldest, 2);
}
END_TEST

START_TEST(the_oldest_goes_ahead_alone_however_large_it_is)
{
    struct budget_share a = {0};
    ck_assert(budget_take(&budget, &a, 0, HUGE_BYTES));
    ck_assert(budget_take(&budget, &a, 0, HUGE_BYTES)); /* file first, then pixels */
    ck_assert_uint_eq(budget.used, 2 * HUGE_BYTES);
    budget_finish(&budget, &a, 0);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

struct shared {
    struct mutex lock;
    struct cond moved;
    struct budget_share shares[PICTURES];
    bool done[PICTURES];
    uint64_t next, written, alone, huge_among_others;
};

/* As the packer does: pictures in any order, written in theirs. Every 50th is far too large. */
static void *worker(void *arg)
{
    struct shared *s = arg;
    mutex_lock(&s->lock);
    while (s->next < PICTURES) {
        const uint64_t i = s->next++;
        const bool is_huge = i % 50 == 7;
        mutex_unlock(&s->lock);
        ck_assert(budget_take(&budget, &s->shares[i], i, 10 + i % 90));
        ck_assert(budget_take(&budget, &s->shares[i], i, is_huge ? HUGE_BYTES : i * 7 % 300));
        mutex_lock(&budget.lock);
        if (is_huge && budget.working != 1)
            s->huge_among_others++;
        mutex_unlock(&budget.lock);
        budget_finish(&budget, &s->shares[i], 5);
        mutex_lock(&s->lock);
        s->done[i] = true;
        while (s->written < PICTURES && s->done[s->written])
            budget_written(&budget, &s->shares[s->written++]);
    }
    mutex_unlock(&s->lock);
    return NULL;
}

START_TEST(many_workers_never_block_each_other_for_ever)
{
    static struct shared s;
    struct thread threads[WORKERS] = {0};
    mutex_init(&s.lock);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(thread_start(&threads[i], "worker", worker, &s, NULL), IMREC_OK);
    for (int i = 0; i < WORKERS; i++)
        thread_join(&threads[i]);
    ck_assert_uint_eq(s.written, PICTURES);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert_uint_eq(budget.working, 0);
    ck_assert_uint_eq(s.huge_among_others, 0);
    ck_assert_uint_le(budget.peak, LIMIT + HUGE_BYTES + 100);
    mutex_destroy(&s.lock);
}
END_TEST

static void *waiter(void *given)
{
    struct budget_share s = {0};
    *(bool *)given = budget_take(&budget, &s, 9, 500);
    return NULL;
}

START_TEST(stopping_wakes_those_who_wait)
{
    struct budget_share a = {0};
    struct thread t = {0};
    bool given = true;
    ck_assert(budget_take(&budget, &a, 0, 900));
    ck_assert_int_eq(thread_start(&t, "waiter", waiter, &given, NULL), IMREC_OK);
    budget_stop(&budget);
    thread_join(&t);
    ck_assert(!given);
    ck_assert_uint_eq(budget.used, 900);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pack budget");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_is_given_back_can_be_taken_again);
    tcase_add_test(t, the_oldest_goes_ahead_alone_however_large_it_is);
    tcase_add_test(t, many_workers_never_block_each_other_for_ever);
    tcase_add_test(t, stopping_wakes_those_who_wait);
    suite_add_tcase(s, t);
    return suite_run(s);
}
