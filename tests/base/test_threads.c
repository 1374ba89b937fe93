/* Threads, waiting, and being asked to stop: what ends when. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"
#include "tests/support/suite.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { MILLISECOND = 1000000 };

static void *count(void *to)
{
    atomic_fetch_add((atomic_int *)to, 1);
    return NULL;
}

static uint64_t real_ns(void)
{
    struct timespec t;
    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

TEST(the_clock_is_monotonic_and_in_nanoseconds)
{
    for (int i = 0; i < 1000; i++) {
        const uint64_t before = real_ns(), now = clock_ns();
        ck_assert(before <= now && now <= real_ns());
    }
}

TEST(a_thread_that_was_joined_is_over)
{
    enum { MANY = 40 };
    struct thread t[MANY] = {{.running = false}};
    struct imrec_error err;
    atomic_int n = 0;
    thread_join(&t[0]); /* which never started */
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(thread_start(&t[i], "imrec-test", count, &n, &err), IMREC_OK);
    for (int i = 0; i < MANY; i++) {
        ck_assert(t[i].running);
        thread_join(&t[i]);
        ck_assert(!t[i].running);
        thread_join(&t[i]);
    }
    ck_assert_int_eq(atomic_load(&n), MANY);
}

TEST(threads_that_can_be_had_are_given_back)
{
    struct imrec_error err;
    ck_assert_int_eq(threads_probe(0, &err), IMREC_OK);
    ck_assert_int_eq(threads_probe(64, &err), IMREC_OK);
    ck_assert_int_eq(imrec_alloc_live(), 0);
    imrec_alloc_fail_after(0);
    ck_assert_int_eq(threads_probe(64, &err), IMREC_ERR_NO_MEMORY);
    imrec_alloc_fail_after(-1);
}

TEST(who_waits_for_a_time_waits_that_long)
{
    struct mutex m = MUTEX_INIT;
    struct cond c;
    cond_init(&c);
    mutex_lock(&m);
    for (uint32_t ms = 1; ms <= 1100; ms += 366) { /* over the end of a second, too */
        const uint64_t before = real_ns();
        cond_wait_for(&c, &m, ms);
        ck_assert_uint_ge(real_ns() - before + 5 * MILLISECOND, (uint64_t)ms * MILLISECOND);
    }
    mutex_unlock(&m);
    cond_destroy(&c);
    mutex_destroy(&m);
}

TEST(who_asks_to_stop_is_heard_once_and_overdue_a_second_later)
{
    struct stop s = {0};
    struct imrec_error err = {0};
    ck_assert(!stop_asked(NULL) && !stop_is_overdue(NULL));
    ck_assert_int_eq(stop_check(NULL, &err), IMREC_OK);
    ck_assert(!stop_asked(&s) && !stop_is_overdue(&s));
    ck_assert_int_eq(stop_check(&s, &err), IMREC_OK);
    stop_ask(&s);
    ck_assert(stop_asked(&s));
    ck_assert_int_eq(stop_check(&s, &err), IMREC_ERR_CANCELLED);
    ck_assert_str_eq(err.message, "interrupted");
    const uint64_t since = atomic_load(&s.since_ns);
    ck_assert(since != 0 && since <= clock_ns());
    stop_ask(&s); /* the first one counts */
    ck_assert_uint_eq(atomic_load(&s.since_ns), since);
    atomic_store(&s.since_ns, clock_ns());
    ck_assert(!stop_is_overdue(&s));
    atomic_store(&s.since_ns, clock_ns() - 1001 * (uint64_t)MILLISECOND);
    ck_assert(stop_is_overdue(&s));
}
