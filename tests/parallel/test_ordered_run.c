/* tests/parallel/test_ordered_run.c - the ordered map that drains itself: order, room, errors,
 * ends. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"
#include "parallel/ordered.h"
#include "tests/support/suite.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_PLACES = 64, MOST_TASKS = 7 };
#define NEVER UINT64_MAX

struct job {
    uint64_t count; /* places to be fed */
    uint32_t tasks, places, workers, wake_at;
    bool unknown_end;   /* each place takes a call more, which closes it */
    uint64_t slow;      /* the place whose work takes long, or NEVER */
    uint64_t bad_from;  /* the work of this place and of all after it fails, or NEVER ... */
    uint64_t bad_drain; /* ... or the drain of this one */
    uint64_t room;      /* tasks that feed has at once, and waits for; 0: any number */

    uint64_t fed, drained;      /* by feed; by drain */
    uint32_t left[MOST_PLACES]; /* tasks that the place is still to have */
    uint64_t number[MOST_PLACES], value[MOST_PLACES][MOST_TASKS];
    bool failed[MOST_PLACES];
    atomic_uint feeding, draining;
    atomic_uint_least64_t most_ahead, after_drain;
    struct mutex lock; /* of what feed waits for */
    struct cond freed;
    uint64_t held;
    bool ended;
    double cpu; /* when the last place is drained */
};

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Waits as a feed with a bound on its memory does: for what is drained, while there is any. */
static void wait_for_room(struct job *j)
{
    mutex_lock(&j->lock);
    while (j->room != 0 && j->held >= j->room && !j->ended)
        cond_wait(&j->freed, &j->lock);
    j->held++;
    mutex_unlock(&j->lock);
}

static enum ordered_step give(struct job *j, const struct ordered_task *t)
{
    if (t->slot == 0) {
        if (j->fed == j->count)
            return ORDERED_STOP;
        j->number[t->place] = j->fed++;
        j->left[t->place] = 1 + (uint32_t)(j->number[t->place] % j->tasks);
        j->failed[t->place] = false;
    }
    if (j->left[t->place] == 0)
        return ORDERED_CLOSE;
    wait_for_room(j);
    j->value[t->place][t->slot] = 0;
    return --j->left[t->place] > 0 || j->unknown_end ? ORDERED_TASK : ORDERED_LAST;
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct job *j = context;
    ck_assert_uint_eq(atomic_fetch_add(&j->feeding, 1), 0);
    ck_assert_uint_lt(worker, j->workers);
    const enum ordered_step step = give(j, t);
    const uint64_t ahead = j->fed - atomic_load(&j->after_drain);
    if (ahead > atomic_load(&j->most_ahead))
        atomic_store(&j->most_ahead, ahead);
    atomic_fetch_sub(&j->feeding, 1);
    return step;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct job *j = context;
    const uint64_t number = j->number[t->place];
    ck_assert_uint_lt(worker, j->workers);
    if (number == j->slow)
        sleep_ms(20);
    if (number >= j->bad_from)
        j->failed[t->place] = true;
    j->value[t->place][t->slot] = 1000 * number + t->slot;
}

static enum imrec_status end_with(struct job *j, uint64_t number, struct imrec_error *err)
{
    mutex_lock(&j->lock);
    j->ended = true;
    cond_wake_all(&j->freed);
    mutex_unlock(&j->lock);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, number, "place %llu is bad",
                          (unsigned long long)number);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct job *j = context;
    const uint64_t number = j->drained;
    const uint32_t tasks = 1 + (uint32_t)(number % j->tasks);
    ck_assert_uint_eq(atomic_fetch_add(&j->draining, 1), 0);
    ck_assert_uint_eq(j->number[place], number);
    for (uint32_t i = 0; i < tasks; i++)
        ck_assert_uint_eq(j->value[place][i], 1000 * number + i);
    if (number + 1 == j->count)
        j->cpu = cpu_seconds();
    if (j->failed[place] || number == j->bad_drain) {
        atomic_fetch_sub(&j->draining, 1);
        return end_with(j, number, err);
    }
    mutex_lock(&j->lock);
    j->held -= tasks;
    cond_wake_all(&j->freed);
    mutex_unlock(&j->lock);
    j->drained++;
    atomic_fetch_sub(&j->draining, 1);
    atomic_fetch_add(&j->after_drain, 1); /* the place is empty no sooner than now */
    return IMREC_OK;
}

static struct job new_job(uint64_t count, uint32_t tasks, uint32_t places, uint32_t workers)
{
    return (struct job){.count = count,
                        .tasks = tasks,
                        .places = places,
                        .workers = workers,
                        .slow = NEVER,
                        .bad_from = NEVER,
                        .bad_drain = NEVER};
}

static enum imrec_status run_with(struct job *j,
                                  void (*do_task)(void *, const struct ordered_task *, uint32_t),
                                  struct imrec_error *err)
{
    const struct ordered_options o = {.context = j,
                                      .feed = feed,
                                      .work = do_task,
                                      .drain = drain,
                                      .tasks = j->tasks,
                                      .places = j->places,
                                      .workers = j->workers,
                                      .wake_at = j->wake_at,
                                      .name = "threads"};
    mutex_init(&j->lock);
    cond_init(&j->freed);
    const enum imrec_status st = ordered_run(&o, err);
    cond_destroy(&j->freed);
    mutex_destroy(&j->lock);
    ck_assert_int_eq(imrec_alloc_live(), 0);
    ck_assert_uint_le(atomic_load(&j->most_ahead), j->places);
    return st;
}

static enum imrec_status run(struct job *j, struct imrec_error *err)
{
    return run_with(j, work, err);
}

static const uint32_t sizes[] = {1, 2, 3, 8, 32};

CASE(.timeout = 60)

LOOP_TEST(places_are_drained_complete_and_in_the_order_of_the_feed, 0, COUNT(sizes))
{
    for (uint32_t tasks = 1; tasks <= MOST_TASKS; tasks += 3)
        for (uint32_t places = 1; places <= MOST_PLACES; places *= 4)
            for (int unknown_end = 0; unknown_end < 2; unknown_end++) {
                struct job j = new_job(300, tasks, places, sizes[_i]);
                j.unknown_end = unknown_end;
                ck_assert_int_eq(run(&j, NULL), IMREC_OK);
                ck_assert_uint_eq(j.drained, 300);
            }
}

LOOP_TEST(nothing_to_do_is_done_at_once, 0, COUNT(sizes))
{
    struct job j = new_job(0, 1, 4, sizes[_i]);
    ck_assert_int_eq(run(&j, NULL), IMREC_OK);
    ck_assert_uint_eq(j.drained, 0);
}

LOOP_TEST(no_wake_up_is_lost_wherever_the_feed_waits, 0, 10) /* _i: wake_at */
{
    for (int round = 0; round < 40; round++) {
        struct job j = new_job(200, 1 + (uint32_t)round % 3, 8, 4);
        j.wake_at = (uint32_t)_i;
        j.slow = round % 4 == 0 ? 5 : NEVER;
        ck_assert_int_eq(run(&j, NULL), IMREC_OK);
        ck_assert_uint_eq(j.drained, 200);
    }
}

TEST(others_go_on_while_the_oldest_is_slow)
{
    struct job j = new_job(200, 1, 16, 4);
    j.slow = 3;
    ck_assert_int_eq(run(&j, NULL), IMREC_OK);
    ck_assert_uint_eq(atomic_load(&j.most_ahead), 16); /* until there is no room */
}

LOOP_TEST(a_feed_that_waits_for_what_is_drained_comes_to_its_end, 0, COUNT(sizes))
{
    struct job j = new_job(500, 1, 16, sizes[_i]);
    j.room = 3;
    j.slow = 100;
    ck_assert_int_eq(run(&j, NULL), IMREC_OK);
    ck_assert_uint_eq(j.drained, 500);
}

LOOP_TEST(the_error_is_that_of_the_oldest_place, 0, COUNT(sizes))
{
    for (uint64_t bad = 0; bad < 40; bad += 3) {
        struct job j = new_job(100, 1, 16, sizes[_i]);
        struct imrec_error err = {0};
        j.slow = j.bad_from = bad; /* those after it have failed long before */
        ck_assert_int_eq(run(&j, &err), IMREC_ERR_CORRUPT);
        ck_assert_uint_eq(err.offset, bad);
        ck_assert_uint_eq(j.drained, bad); /* all before it, and none after it */
        ck_assert_uint_le(j.fed, bad + j.places);
    }
}

LOOP_TEST(an_error_ends_a_feed_that_waits, 0, 2) /* _i: for a place, or for what is drained */
{
    struct job j = new_job(1000, 1, 8, 4);
    struct imrec_error err = {0};
    j.room = _i == 0 ? 0 : 4;
    j.slow = 20;
    j.bad_drain = 20;
    ck_assert_int_eq(run(&j, &err), IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.message, "place 20 is bad");
    ck_assert_uint_eq(j.drained, 20);
}

static const void *g_caller;
static _Thread_local char g_me;

static void work_in_caller(void *context, const struct ordered_task *t, uint32_t worker)
{
    ck_assert(worker != 0 || g_caller == &g_me);
    work(context, t, worker);
}

TEST(the_caller_is_worker_0)
{
    struct job j = new_job(50, 1, 4, 3);
    g_caller = &g_me;
    ck_assert_int_eq(run_with(&j, work_in_caller, NULL), IMREC_OK);
    ck_assert_uint_eq(j.drained, 50);
}

static void sleep_in_the_first(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct job *j = context;
    if (j->number[t->place] == 0)
        sleep_ms(700);
    work(context, t, worker);
}

/* The feed waits for a place, or all have gone home but one. */
LOOP_TEST(waiting_costs_no_time_of_a_cpu, 3, 6) /* _i: places fed */
{
    struct job j = new_job((uint64_t)_i, 1, 4, 8);
    const struct ordered_options o = {.context = &j,
                                      .feed = feed,
                                      .work = sleep_in_the_first,
                                      .drain = drain,
                                      .tasks = 1,
                                      .places = 4,
                                      .workers = 8,
                                      .name = "threads"};
    mutex_init(&j.lock);
    cond_init(&j.freed);
    const double before = cpu_seconds();
    ck_assert_int_eq(ordered_run(&o, NULL), IMREC_OK);
    ck_assert_uint_eq(j.drained, (uint64_t)_i);
    ck_assert_double_lt(j.cpu - before, 0.35);
    cond_destroy(&j.freed);
    mutex_destroy(&j.lock);
}

TEST(run_leaks_nothing_when_the_nth_allocation_fails)
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    long n = 0;
    for (; st == IMREC_ERR_NO_MEMORY; n++) {
        struct job j = new_job(20, 2, 4, 3);
        imrec_alloc_fail_after(n);
        st = run(&j, NULL);
        imrec_alloc_fail_after(-1);
        ck_assert_uint_eq(j.drained, st == IMREC_OK ? 20 : 0); /* nothing is allocated later */
    }
    ck_assert_int_eq(st, IMREC_OK);
    ck_assert_int_gt(n, 3);
}
