/* tests/parallel/test_ordered.c - the ordered map: order, cancelling, pausing, slow parties, ends.
 */
#include "base/alloc.h"
#include "base/threads.h"
#include "parallel/ordered.h"
#include "tests/support/suite.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { BATCH = 5, DEPTH = 3, SWEEP = 13, SEVERAL = 8 }; /* a sweep is batches of 5, 5 and 3 */

struct job {
    uint64_t fed;     /* written by feed only */
    uint64_t stop_at; /* feed stops after this many; 0 = never */
    uint64_t wanted[DEPTH][BATCH], values[DEPTH][BATCH];
    uint32_t counts[DEPTH];
    atomic_uint_least64_t worked, taken;
    atomic_uint inside, most_inside; /* work() */
    uint64_t closed;
    atomic_uint most_ahead; /* batches begun and not yet taken */
    uint32_t slow_worker;   /* its every slot takes 2 ms; NOBODY: none is slow */
    bool meet;              /* every slot waits until all workers have one */
    atomic_bool held;       /* slots are not done before it ends */
    bool several;           /* a worker has several slots at once */
    atomic_uint most_had;   /* of a worker */
    uint32_t workers;
};
#define NOBODY UINT32_MAX

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void raise_to(atomic_uint *most, unsigned n)
{
    unsigned was = atomic_load(most);
    while (n > was && !atomic_compare_exchange_weak(most, &was, n)) {
    }
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct job *j = context;
    ck_assert_uint_lt(worker, j->workers);
    raise_to(&j->most_ahead, (unsigned)(j->closed + 1 - atomic_load(&j->taken)));
    j->counts[t->place] = t->slot;
    if (j->stop_at != 0 && j->fed == j->stop_at)
        return ORDERED_STOP;
    if (t->slot == BATCH || (t->slot != 0 && j->fed % SWEEP == 0)) {
        j->closed++;
        return ORDERED_CLOSE;
    }
    j->wanted[t->place][t->slot] = 1000 * (j->fed / SWEEP) + j->fed % SWEEP;
    j->fed++;
    return ORDERED_TASK;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct job *j = context;
    raise_to(&j->most_inside, atomic_fetch_add(&j->inside, 1) + 1);
    if (worker == j->slow_worker)
        sleep_us(2000);
    for (int i = 0; j->meet && i < 20000 && atomic_load(&j->most_inside) < j->workers; i++)
        sleep_us(100);
    while (atomic_load(&j->held))
        sleep_us(100);
    j->values[t->place][t->slot] = j->wanted[t->place][t->slot];
    atomic_fetch_sub(&j->inside, 1);
    atomic_fetch_add(&j->worked, 1);
}

/* Takes as many as it gets, and does the last first. */
static void
work_on(void *context, const struct ordered_task *first, uint32_t worker, struct ordered *t)
{
    struct job *j = context;
    struct ordered_task tasks[SEVERAL] = {*first};
    uint32_t n = 1;
    while (n < SEVERAL && ordered_more(t, &tasks[n], worker))
        n++;
    raise_to(&j->most_had, n);
    while (n-- > 0) {
        work(j, &tasks[n], worker);
        ordered_done(t, &tasks[n]);
    }
}

/* Now and then it is not. */
static bool is_fed(void *context, uint32_t worker)
{
    const struct job *j = context;
    ck_assert_uint_lt(worker, j->workers);
    return j->fed % 7 != 3;
}

static struct ordered_options options(struct job *j, uint32_t workers)
{
    j->workers = workers;
    return (struct ordered_options){.context = j,
                                    .feed = feed,
                                    .work = work,
                                    .work_on = j->several ? work_on : NULL,
                                    .is_fed = is_fed,
                                    .tasks = BATCH,
                                    .places = DEPTH,
                                    .workers = workers,
                                    .name = "threads"};
}

static struct ordered *start(struct job *j, uint32_t workers)
{
    const struct ordered_options o = options(j, workers);
    struct ordered *t;
    ck_assert_int_eq(ordered_start(&o, &t, NULL), IMREC_OK);
    return t;
}

static void take_and_check(struct ordered *t, struct job *j, uint64_t number)
{
    uint32_t place;
    ck_assert_int_eq(ordered_take(t, &place), IMREC_OK);
    atomic_fetch_add(&j->taken, 1);
    ck_assert_uint_eq(j->counts[place], number % 3 == 2 ? 3 : BATCH);
    for (uint32_t i = 0; i < j->counts[place]; i++)
        ck_assert_uint_eq(j->values[place][i], 1000 * (number / 3) + number % 3 * BATCH + i);
}

static void stop(struct ordered *t)
{
    ordered_stop(t);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const uint32_t sizes[] = {1, 2, 3, 8, 32};

static bool under_a_limit(void)
{
    return getenv("OMP_THREAD_LIMIT") != NULL;
}

static bool without_a_limit(void)
{
    return !under_a_limit();
}

CASE(.begin = without_a_limit, .timeout = 60)

/* The second half of the rounds: a worker has several slots at once. */
static struct job job_of(int round)
{
    return (struct job){.slow_worker = NOBODY, .several = (size_t)round >= COUNT(sizes)};
}

static uint32_t size_of(int round)
{
    return sizes[(size_t)round % COUNT(sizes)];
}

LOOP_TEST(batches_come_complete_and_in_order, 0, 2 * COUNT(sizes))
{
    struct job j = job_of(_i);
    struct ordered *t = start(&j, size_of(_i));
    for (uint64_t n = 0; n < 300; n++) {
        take_and_check(t, &j, n);
        ordered_recycle(t);
    }
    stop(t);
    if (j.several && size_of(_i) == 1)
        ck_assert_uint_ge(atomic_load(&j.most_had), 2);
}

/* The only worker has slots of a batch that nobody can take before they are done: it must not wait
 * for room. */
TEST(who_has_slots_does_not_wait_for_room)
{
    struct job j = {.slow_worker = NOBODY, .several = true};
    struct ordered *t = start(&j, 1);
    for (uint64_t n = 0; n < 20; n++) {
        take_and_check(t, &j, n);
        sleep_us(1000); /* till all places are full */
        ordered_recycle(t);
    }
    stop(t);
}

TEST(waiting_ends_when_a_batch_is_complete)
{
    struct job j = {.slow_worker = NOBODY, .held = true};
    struct ordered *t = start(&j, 2);
    ck_assert(!ordered_wait(t, 0));
    ck_assert(!ordered_wait(t, 20));
    atomic_store(&j.held, false);
    ck_assert(ordered_wait(t, 60000));
    take_and_check(t, &j, 0);
    stop(t);
}

TEST(a_slow_worker_keeps_the_order)
{
    struct job j = {.slow_worker = 0};
    struct ordered *t = start(&j, 4);
    for (uint64_t n = 0; n < 30; n++) {
        take_and_check(t, &j, n);
        ordered_recycle(t);
    }
    stop(t);
}

TEST(a_slow_consumer_is_never_overrun_and_seen_as_slow)
{
    struct job j = {.slow_worker = NOBODY};
    struct ordered *t = start(&j, 4);
    for (uint64_t n = 0; n < 20; n++) {
        take_and_check(t, &j, n);
        sleep_us(3000); /* the batch in hand must stay as it is */
        ck_assert_uint_eq(j.values[n % DEPTH][0], 1000 * (n / 3) + n % 3 * BATCH);
        ordered_recycle(t);
    }
    ck_assert_uint_le(atomic_load(&j.most_ahead), DEPTH + 1); /* one is closed and one begun */
    ck_assert_uint_gt(ordered_consumer_wait_ns(t), 4 * 3000000);
    stop(t);
}

LOOP_TEST(as_many_workers_as_asked_for_work_at_once, 0, COUNT(sizes))
{
    struct job j = {.slow_worker = NOBODY, .meet = true};
    const uint32_t n = sizes[_i] < DEPTH * BATCH - 4 ? sizes[_i] : 3; /* slots there are */
    struct ordered *t = start(&j, n);
    take_and_check(t, &j, 0);
    ck_assert_uint_eq(atomic_load(&j.most_inside), n);
    stop(t);
}

TEST(workers_can_begin_inside_a_parallel_region)
{
    struct job j[2] = {{.slow_worker = NOBODY, .meet = true},
                       {.slow_worker = NOBODY, .meet = true}};
    struct ordered *t[2];
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; i++)
        t[i] = start(&j[i], 3);
    for (int i = 0; i < 2; i++) {
        take_and_check(t[i], &j[i], 0);
        ck_assert_uint_eq(atomic_load(&j[i].most_inside), 3);
        ordered_stop(t[i]);
    }
}

LOOP_TEST(pausing_forgets_what_was_begun, 0, 2 * COUNT(sizes))
{
    struct job j = job_of(_i);
    struct ordered *t = start(&j, size_of(_i));
    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t n = 0; n < round % 4; n++) {
            take_and_check(t, &j, n);
            if (n + 1 < round % 4)
                ordered_recycle(t); /* the last one is in hand while pausing */
        }
        ordered_pause(t);
        ck_assert_uint_eq(atomic_load(&j.worked), j.fed); /* nobody is at work */
        j.fed = j.closed = 0;
        atomic_store(&j.worked, 0);
        atomic_store(&j.taken, 0);
        ordered_resume(t);
    }
    take_and_check(t, &j, 0);
    stop(t);
}

TEST(what_is_paused_can_be_stopped)
{
    struct job j = {.slow_worker = NOBODY};
    struct ordered *t = start(&j, 3);
    ordered_pause(t);
    stop(t);
}

LOOP_TEST(stopping_in_mid_batch_finishes_only_the_slots_in_work, 0, 2 * COUNT(sizes))
{
    const uint32_t workers = size_of(_i);
    struct job j = job_of(_i);
    j.slow_worker = 0;
    struct ordered *t = start(&j, workers);
    while (atomic_load(&j.worked) < 2) /* in the first batch */
        sleep_us(100);
    ordered_cancel(t);
    const uint64_t worked = atomic_load(&j.worked); /* each worker may still end the slot it has */
    uint32_t place;
    ck_assert_int_eq(ordered_take(t, &place), IMREC_ERR_CANCELLED);
    stop(t);
    ck_assert_uint_eq(atomic_load(&j.worked), j.fed); /* what was given out was done */
    ck_assert_uint_le(j.fed, worked + (j.several ? SEVERAL : 1) * workers);
}

static void *cancel_soon(void *ordered)
{
    sleep_us(5000);
    ordered_cancel(ordered);
    return NULL;
}

TEST(cancelling_wakes_a_waiting_consumer)
{
    struct job j = {.slow_worker = NOBODY, .stop_at = 1};
    struct ordered *t = start(&j, 3);
    uint32_t place;
    struct thread other = {0};
    ck_assert_int_eq(ordered_take(t, &place), IMREC_OK); /* the last one; nothing follows it */
    ck_assert_int_eq(thread_start(&other, "canceller", cancel_soon, t, NULL), IMREC_OK);
    ck_assert_int_eq(ordered_take(t, &place), IMREC_ERR_CANCELLED);
    thread_join(&other);
    stop(t);
}

LOOP_TEST(a_stopping_feed_is_met_in_its_batchs_place, 2, 60) /* _i / 2 slots were given */
{
    struct job j = {.slow_worker = NOBODY, .stop_at = (uint64_t)_i / 2, .several = _i % 2 != 0};
    struct ordered *t = start(&j, 4);
    uint64_t left = (uint64_t)_i / 2;
    for (uint64_t n = 0; left > (n % 3 == 2 ? 3 : BATCH); n++) {
        take_and_check(t, &j, n);
        left -= n % 3 == 2 ? 3 : BATCH;
        ordered_recycle(t);
    }
    uint32_t place;
    ck_assert_int_eq(ordered_take(t, &place), IMREC_OK);
    ck_assert_uint_eq(j.counts[place], left);
    stop(t);
}

TEST(starting_and_stopping_at_once_leaves_nothing)
{
    for (int i = 0; i < 20; i++) {
        struct job j = {.slow_worker = NOBODY};
        stop(start(&j, 4));
    }
}

TEST(start_leaks_nothing_when_the_nth_allocation_fails)
{
    struct job j = {.slow_worker = NOBODY};
    const struct ordered_options o = options(&j, 2);
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    long n = 0;
    for (; st == IMREC_ERR_NO_MEMORY; n++) {
        struct ordered *t;
        imrec_alloc_fail_after(n);
        st = ordered_start(&o, &t, NULL);
        ck_assert(st == IMREC_OK || t == NULL);
        stop(t);
    }
    ck_assert_int_eq(st, IMREC_OK);
    ck_assert_int_gt(n, 3);
}

CASE(.begin = under_a_limit, .timeout = 60)

/* Run by itself with OMP_THREAD_LIMIT=3 in the environment. */
TEST(fewer_threads_than_asked_for_are_an_error)
{
    struct job j = {.slow_worker = NOBODY};
    const struct ordered_options o = options(&j, 8);
    struct ordered *t;
    struct imrec_error err = {0};
    ck_assert_int_eq(ordered_start(&o, &t, &err), IMREC_ERR_LIMIT);
    ck_assert_msg(strstr(err.message, "threads asks for 8 workers, but OpenMP gives") != NULL, "%s",
                  err.message);
    ck_assert_ptr_null(t);
}
