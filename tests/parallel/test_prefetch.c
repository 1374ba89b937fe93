/* tests/parallel/test_prefetch.c - the standalone prefetcher: order, ends, errors, waiting, memory.
 */
#include "imrec/prefetch.h"

#include "base/alloc.h"
#include "base/threads.h"
#include "tests/support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NO_END = 1 << 30, FAILS = 7 };

struct maker {
    uint64_t end;     /* the first number without an item */
    uint64_t fail;    /* every so many numbers one fails; 0: none */
    bool dawdle;      /* even numbers take longer than odd ones */
    bool tongue_tied; /* failures do not say why */
    atomic_uint calls, inside, cells;
    atomic_uint_least64_t taken; /* by the consumer; nobody makes more than depth + 1 beyond */
    atomic_uint_least64_t most_ahead;
    int32_t cells_left; /* make_cell fails after so many; -1: never */
};

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void note_ahead(struct maker *m, uint64_t number)
{
    const uint64_t taken = atomic_load(&m->taken), ahead = number + 1 - taken;
    uint64_t was = atomic_load(&m->most_ahead);
    while (number + 1 > taken && ahead > was &&
           !atomic_compare_exchange_weak(&m->most_ahead, &was, ahead)) {
    }
}

static enum imrec_status make(void *context, void *cell, uint64_t number, struct imrec_error *err)
{
    struct maker *m = context;
    atomic_fetch_add(&m->calls, 1);
    if (number >= m->end)
        return IMREC_END;
    note_ahead(m, number);
    if (m->dawdle)
        sleep_us(number % 2 == 0 ? 300 : 0);
    if (m->fail != 0 && number % m->fail == m->fail - 1) {
        if (!m->tongue_tied)
            snprintf(err->message, sizeof(err->message), "no item %llu",
                     (unsigned long long)number);
        return IMREC_ERR_CORRUPT;
    }
    memcpy(cell, &number, sizeof(number));
    return IMREC_OK;
}

static void *make_cell(void *context)
{
    struct maker *m = context;
    if (m->cells_left == 0)
        return NULL;
    m->cells_left -= m->cells_left > 0;
    atomic_fetch_add(&m->cells, 1);
    return imrec_zalloc(1, sizeof(uint64_t));
}

static void free_cell(void *context, void *cell)
{
    struct maker *m = context;
    atomic_fetch_sub(&m->cells, 1);
    imrec_free(cell);
}

static struct imrec_prefetch_options options(struct maker *m, uint32_t depth, uint32_t threads)
{
    struct imrec_prefetch_options o;
    imrec_prefetch_options_init(&o);
    o.produce = make;
    o.context = m;
    o.cell_bytes = sizeof(uint64_t);
    o.depth = depth;
    o.threads = threads;
    return o;
}

static struct imrec_prefetch *start(struct maker *m, uint32_t depth, uint32_t threads)
{
    const struct imrec_prefetch_options o = options(m, depth, threads);
    struct imrec_prefetch *p;
    ck_assert_int_eq(imrec_prefetch_open(&o, &p, NULL), IMREC_OK);
    return p;
}

/* Item `number`, or its error, comes next. */
static void expect(struct imrec_prefetch *p, struct maker *m, uint64_t number)
{
    struct imrec_error err = {.status = IMREC_OK};
    char message[64];
    uint64_t n = UINT64_MAX;
    void *cell;
    const enum imrec_status status = imrec_prefetch_next(p, &cell, &n, &err);
    atomic_store(&m->taken, number + 1);
    ck_assert_uint_eq(n, number);
    if (m->fail == 0 || number % m->fail != m->fail - 1) {
        ck_assert_int_eq(status, IMREC_OK);
        ck_assert_uint_eq(*(const uint64_t *)cell, number);
        return;
    }
    ck_assert_int_eq(status, IMREC_ERR_CORRUPT);
    ck_assert_int_eq(err.status, IMREC_ERR_CORRUPT);
    ck_assert_ptr_null(cell);
    snprintf(message, sizeof(message), m->tongue_tied ? "item %llu failed" : "no item %llu",
             (unsigned long long)number);
    ck_assert_ptr_nonnull(strstr(err.message, message));
}

static const struct {
    uint32_t depth, threads;
    uint64_t items;
    uint64_t fail;
    bool dawdle;
} streams[] = {
    {1, 1, 0, 0, false},   {1, 1, 1, 0, false},  {1, 1, 50, 0, false},     {4, 1, 50, 7, false},
    {1, 8, 100, 7, true},  {3, 4, 200, 0, true}, {8, 3, 200, 5, true},     {16, 16, 300, 3, true},
    {2, 2, 100, 1, false}, {5, 4, 3, 0, true},   {64, 8, 3000, 11, false}, {1, 2, 1000, 0, false},
};

START_TEST(items_and_errors_come_in_order_and_the_end_stays)
{
    struct maker m = {.end = streams[_i].items,
                      .fail = streams[_i].fail,
                      .dawdle = streams[_i].dawdle,
                      .tongue_tied = _i % 2 != 0};
    struct imrec_prefetch *p = start(&m, streams[_i].depth, streams[_i].threads);
    void *cell;
    for (uint64_t n = 0; n < m.end; n++)
        expect(p, &m, n);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(imrec_prefetch_next(p, &cell, NULL, NULL), IMREC_END);
        ck_assert_ptr_null(cell);
        imrec_prefetch_recycle(p);
    }
    struct imrec_prefetch_stats stats;
    imrec_prefetch_get_stats(p, &stats);
    const uint64_t failed = m.fail == 0 ? 0 : m.end / m.fail;
    ck_assert_uint_eq(stats.failed, failed);
    ck_assert_uint_eq(stats.delivered, m.end - failed);
    ck_assert_uint_eq(stats.produced, m.end - failed);
    imrec_prefetch_close(p);
    ck_assert_uint_le(m.calls, m.end + streams[_i].threads);
    ck_assert_uint_le(m.most_ahead, streams[_i].depth + 2u); /* `taken` is told a moment late */
}
END_TEST

START_TEST(no_more_is_made_than_there_are_cells)
{
    struct maker m = {.end = NO_END};
    struct imrec_prefetch *p = start(&m, 3, 4);
    for (int i = 0; i < 2000 && atomic_load(&m.calls) < 4; i++)
        sleep_us(1000);
    sleep_us(20000);
    ck_assert_uint_eq(atomic_load(&m.calls), 4); /* three ahead, and what the consumer may take */
    expect(p, &m, 0);
    sleep_us(5000);
    ck_assert_uint_eq(atomic_load(&m.calls), 4); /* the consumer holds it */
    imrec_prefetch_recycle(p);
    imrec_prefetch_recycle(p);
    for (int i = 0; i < 2000 && atomic_load(&m.calls) < 5; i++)
        sleep_us(1000);
    sleep_us(5000);
    ck_assert_uint_eq(atomic_load(&m.calls), 5);
    expect(p, &m, 1);
    imrec_prefetch_close(p); /* all producers wait */
}
END_TEST

START_TEST(closing_is_safe_at_any_moment)
{
    for (uint32_t taken = 0; taken < 40; taken++) {
        struct maker m = {.end = taken % 3 == 0 ? 20 : NO_END, .dawdle = taken % 2 == 0};
        struct imrec_prefetch *p = start(&m, 1 + taken % 4, 1 + taken % 5);
        for (uint32_t n = 0; n < taken && n < m.end; n++)
            expect(p, &m, n);
        imrec_prefetch_close(p);
    }
    imrec_prefetch_close(NULL);
}
END_TEST

static void *cancel_soon(void *arg)
{
    sleep_us(2000);
    imrec_prefetch_cancel(arg);
    return NULL;
}

static enum imrec_status
make_slowly(void *context, void *cell, uint64_t number, struct imrec_error *err)
{
    (void)cell, (void)err;
    const atomic_bool *go = context;
    while (number > 0 && !atomic_load(go))
        sleep_us(100);
    return IMREC_OK;
}

START_TEST(cancelling_wakes_a_consumer_who_waits)
{
    atomic_bool go = false;
    struct imrec_prefetch_options o = options(NULL, 2, 2);
    o.produce = make_slowly;
    o.context = &go;
    struct imrec_prefetch *p;
    struct thread t;
    struct imrec_error err;
    void *cell;
    ck_assert_int_eq(imrec_prefetch_open(&o, &p, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_prefetch_next(p, &cell, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(thread_start(&t, "cancel", cancel_soon, p, NULL), IMREC_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(imrec_prefetch_next(p, &cell, NULL, &err), IMREC_ERR_CANCELLED);
        ck_assert_str_eq(err.message, "the prefetcher was cancelled");
    }
    thread_join(&t);
    atomic_store(&go, true);
    imrec_prefetch_close(p);
}
END_TEST

START_TEST(cells_of_the_callers_are_made_once_and_freed)
{
    struct maker m = {.end = 100, .fail = FAILS, .cells_left = -1};
    struct imrec_prefetch_options o = options(&m, 4, 3);
    struct imrec_prefetch *p;
    o.cell_bytes = 0;
    o.make_cell = make_cell;
    o.free_cell = free_cell;
    ck_assert_int_eq(imrec_prefetch_open(&o, &p, NULL), IMREC_OK);
    for (uint64_t n = 0; n < m.end; n++)
        expect(p, &m, n);
    ck_assert_uint_eq(m.cells, 5);
    imrec_prefetch_close(p);
    ck_assert_uint_eq(m.cells, 0);
    m.cells_left = 3;
    ck_assert_int_eq(imrec_prefetch_open(&o, &p, NULL), IMREC_ERR_NO_MEMORY);
    ck_assert_uint_eq(m.cells, 0);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

START_TEST(cells_are_zeroed_aligned_and_used_again)
{
    struct maker m = {.end = 50};
    struct imrec_prefetch_options o = options(&m, 2, 1);
    const void *seen[3];
    struct imrec_prefetch *p;
    void *cell;
    o.cell_bytes = 100;
    ck_assert_int_eq(imrec_prefetch_open(&o, &p, NULL), IMREC_OK);
    for (uint64_t n = 0; n < m.end; n++) {
        ck_assert_int_eq(imrec_prefetch_next(p, &cell, NULL, NULL), IMREC_OK);
        ck_assert_uint_eq((uintptr_t)cell % 64, 0);
        if (n < 3)
            seen[n] = cell;
        ck_assert_ptr_eq(seen[n % 3], cell);
        for (int i = sizeof(uint64_t); i < 100; i++)
            if (((uint8_t *)cell)[i] != 0)
                ck_abort_msg("byte %d of cell %llu", i, (unsigned long long)n);
    }
    imrec_prefetch_close(p);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    struct maker m = {.end = 5};
    const struct imrec_prefetch_options o = options(&m, 2, 2);
    const long live = imrec_alloc_live();
    long refused = 0;
    for (enum imrec_status status = IMREC_ERR_NO_MEMORY; status != IMREC_OK; refused++) {
        struct imrec_prefetch *p = (void *)&m;
        struct imrec_error err = {.status = IMREC_OK};
        imrec_alloc_fail_after(refused);
        status = imrec_prefetch_open(&o, &p, &err);
        imrec_alloc_fail_after(-1);
        if (status != IMREC_OK) {
            ck_assert_int_eq(status, IMREC_ERR_NO_MEMORY);
            ck_assert_int_eq(err.status, IMREC_ERR_NO_MEMORY);
            ck_assert_ptr_null(p);
        }
        imrec_prefetch_close(p);
        ck_assert_int_eq(imrec_alloc_live(), live);
    }
    ck_assert_int_ge(refused, 5);
}
END_TEST

START_TEST(options_that_cannot_be_are_refused)
{
    struct maker m = {.end = 5};
    struct imrec_prefetch_options o[7];
    const char *why[] = {"depth is 0; it is 1 to 65536",
                         "depth is 65537",
                         "threads is 0",
                         "threads is 1025; it is 1 to 1024",
                         "produce is NULL",
                         "cell_bytes, which is 0, or make_cell, which is NULL",
                         "cell_bytes, which is 8, or make_cell, which is given"};
    for (int i = 0; i < 7; i++)
        o[i] = options(&m, 2, 2);
    o[0].depth = 0;
    o[1].depth = 65537;
    o[2].threads = 0;
    o[3].threads = 1025;
    o[4].produce = NULL;
    o[5].cell_bytes = 0;
    o[6].make_cell = make_cell;
    for (int i = 0; i < 7; i++) {
        struct imrec_prefetch *p = (void *)&m;
        struct imrec_error err;
        ck_assert_int_eq(imrec_prefetch_open(&o[i], &p, &err), IMREC_ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(err.message, why[i]));
        ck_assert_ptr_null(p);
    }
    o[0] = options(&m, 65536, 1);
    o[0].cell_bytes = UINT64_MAX / 65536;
    struct imrec_prefetch *p;
    ck_assert_int_eq(imrec_prefetch_open(&o[0], &p, NULL), IMREC_ERR_NO_MEMORY);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("prefetch");
    TCase *tc = tcase_create("prefetch");
    tcase_add_loop_test(tc, items_and_errors_come_in_order_and_the_end_stays, 0,
                        sizeof(streams) / sizeof(*streams));
    tcase_add_test(tc, no_more_is_made_than_there_are_cells);
    tcase_add_test(tc, closing_is_safe_at_any_moment);
    tcase_add_test(tc, cancelling_wakes_a_consumer_who_waits);
    tcase_add_test(tc, cells_of_the_callers_are_made_once_and_freed);
    tcase_add_test(tc, cells_are_zeroed_aligned_and_used_again);
    tcase_add_test(tc, every_allocation_may_fail);
    tcase_add_test(tc, options_that_cannot_be_are_refused);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
