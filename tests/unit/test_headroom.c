/* Large images under memory_limit: they wait for each other, and what can never be fails. */
#include "iter/sample/headroom.h"
#include "tests/support/suite.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define MIB ((uint64_t)1 << 20)

START_TEST(without_a_limit_everything_is_had)
{
    struct headroom h;
    headroom_init(&h);
    ck_assert_int_eq(headroom_take(&h, UINT64_MAX, NULL), IMREC_OK);
    headroom_give(&h, UINT64_MAX);
    headroom_destroy(&h);
}
END_TEST

START_TEST(what_fails_does_not_depend_on_the_workers) /* _i workers */
{
    struct headroom h;
    struct imrec_error err = {0};
    headroom_init(&h);
    headroom_limit(&h, 1000 * MIB, 500 * MIB + (uint64_t)_i * HEADROOM_FREE_BYTES, (uint32_t)_i);
    ck_assert_int_eq(headroom_take(&h, 500 * MIB, &err), IMREC_OK); /* alone, it may have all */
    headroom_give(&h, 500 * MIB);
    ck_assert_int_eq(headroom_take(&h, 500 * MIB + 1, &err), IMREC_ERR_LIMIT);
    ck_assert_msg(strstr(err.message, "memory_limit leaves 524288000") != NULL, "%s", err.message);
    headroom_destroy(&h);
}
END_TEST

enum { THREADS = 8, TIMES = 50 };
static struct headroom shared;
static atomic_uint_least64_t in_use, most;

static void *use(void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        const uint64_t need = (uint64_t)(5 + i % 30) * MIB;
        if (headroom_take(&shared, need, NULL) != IMREC_OK)
            abort();
        const uint64_t now = atomic_fetch_add(&in_use, need) + need;
        uint64_t was = atomic_load(&most);
        while (now > was && !atomic_compare_exchange_weak(&most, &was, now)) {
        }
        nanosleep(&(struct timespec){0, 20000}, NULL);
        atomic_fetch_sub(&in_use, need);
        headroom_give(&shared, need);
    }
    return NULL;
}

START_TEST(together_they_stay_within_the_room)
{
    struct thread threads[THREADS] = {{0}};
    headroom_init(&shared);
    headroom_limit(&shared, 100 * MIB, 60 * MIB, THREADS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(thread_start(&threads[i], "user", use, NULL, NULL), IMREC_OK);
    for (int i = 0; i < THREADS; i++)
        thread_join(&threads[i]);
    ck_assert_uint_le(atomic_load(&most), 44 * MIB);
    ck_assert_uint_gt(atomic_load(&most), 34 * MIB); /* small ones go side by side */
    ck_assert_uint_eq(shared.used, 0);
    headroom_destroy(&shared);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("headroom");
    TCase *tc = tcase_create("headroom");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, without_a_limit_everything_is_had);
    tcase_add_loop_test(tc, what_fails_does_not_depend_on_the_workers, 1, 40);
    tcase_add_test(tc, together_they_stay_within_the_room);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
