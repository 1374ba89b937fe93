/* tests/storage/test_far_reads.c - requests that take long: a second one, their end when reading
 * is cancelled, and what is lost when they fail for good. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/threads.h"
#include "container/walk/unreadable.h"
#include "storage/store/scope.h"
#include "storage/wire/pace.h"
#include "tests/support/http_proxy.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 64 << 10, PART = 2 << 20, BYTES = 7 << 20 };

static struct tmpdir dir;
static struct proxy *server;
static struct imrec_error err;
static struct source *s;
static struct store_scope scope;
static uint8_t *data, *got;

static void setup(void)
{
    char uri[256];
    dir = tmpdir_make();
    data = malloc(BYTES);
    got = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 131 + i / 257);
    tmp_write(&dir, "a.rec", data, BYTES);
    server = proxy_start(dir.path, NULL);
    snprintf(uri, sizeof(uri), "%s/a.rec", server->url);
    scope = (struct store_scope){0};
    store_scope_enter(&scope);
    ck_assert_msg(source_open(uri, &s, &err) == IMREC_OK, "%s", err.message);
    store_scope_enter(NULL);
}

static void teardown(void)
{
    source_close(s);
    proxy_stop(server);
    free(data);
    free(got);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 100, .setup = setup, .teardown = teardown)

static void read_piece(int i)
{
    const uint64_t at = (uint64_t)PIECE + (uint64_t)i * PIECE;
    ck_assert_msg(source_read(s, at, got, PIECE, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(memcmp(got, data + at, PIECE), 0);
}

/* The hundredth request is never answered, and gives way to a second one after some times what the
 * others took, not after the 20 s of silence. */
TEST(a_request_that_hangs_is_overtaken_by_a_second_one)
{
    proxy_rules(server, "match=/a.rec skip=99 nth=1 do=hang-head\n");
    struct imrec_traffic t;
    for (int i = 0; i < 110; i++)
        read_piece(i);
    ck_assert_int_eq((int)proxy_hits(server, 0), 1);
    traffic_read(&scope.traffic, &t, sizeof(t));
    ck_assert_uint_ge(t.hedges, 1);
    ck_assert_uint_le(t.hedges, 11);               /* one request in ten at most */
    ck_assert_uint_eq(t.requests, 111 + t.hedges); /* with that of opening */
}

/* The answer to the second request is cut off: it is not taken, and the first one is
 * awaited. */
TEST(a_second_answer_that_is_wrong_is_not_taken)
{
    proxy_rules(server, "match=/a.rec skip=99 nth=1 do=delay=3000\n"
                        "match=/a.rec skip=100 nth=1 do=short=100\n");
    for (int i = 0; i < 110; i++)
        read_piece(i);
    ck_assert_int_eq((int)proxy_hits(server, 0), 1);
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The thread sleeps until its answer is there: once all second requests were spent it asked for
 * another without a pause. */
TEST(a_slow_request_that_may_have_no_second_one_is_awaited_asleep)
{
    proxy_rules(server, "match=/a.rec skip=60 nth=1 do=delay=2000\n");
    for (int i = 0; i < 60; i++)
        read_piece(i);
    while (wire_pace_hedge(wire_pace_of(server->url)))
        ;
    const uint64_t before = cpu_ns();
    read_piece(60);
    ck_assert_uint_lt(cpu_ns() - before, 500000000u);
}

/* What is known of the pace of requests: nothing, then their ninth decile and some slack. */
TEST(the_slowest_tenth_is_slow)
{
    struct wire_pace p = {0};
    uint32_t slow = 0;
    ck_assert_uint_eq(wire_pace_slow_ns(&p, PIECE), UINT64_MAX);
    for (uint64_t i = 0; i < 10000; i++) { /* evenly from 100 to 200 ms */
        const uint64_t ns = 100000000u + i * 7919u % 10000 * 10000u;
        slow += i >= 5000 && ns > (wire_pace_slow_ns(&p, PIECE) - 5000000u) * 4 / 5;
        wire_pace_note(&p, PIECE, ns);
    }
    ck_assert_uint_ge(slow, 350); /* about a tenth of 5,000 */
    ck_assert_uint_le(slow, 700);
    ck_assert_uint_eq(wire_pace_slow_ns(&p, 2 << 20), UINT64_MAX); /* of other sizes nothing */
    for (int i = 0; i < 1000; i++)
        ck_assert(wire_pace_hedge(&p));
    ck_assert(!wire_pace_hedge(&p));
}

static void *cancel(void *arg)
{
    while (proxy_stat(server, "in_flight") < 1)
        clock_sleep_ms(5);
    source_cancel(arg);
    return NULL;
}

TEST(reading_that_is_cancelled_ends_in_the_middle_of_a_request)
{
    struct thread t;
    proxy_rules(server, "match=/a.rec do=hang-head\n");
    ck_assert_int_eq(thread_start(&t, "cancel", cancel, s, &err), IMREC_OK);
    ck_assert_int_eq(source_read(s, PIECE, got, BYTES - PIECE, &err), IMREC_ERR_CANCELLED);
    thread_join(&t);
    ck_assert_int_eq(source_read(s, PIECE, got, PIECE, &err), IMREC_ERR_CANCELLED);
}

/* A request that fails for good costs the part that it asked for. */
TEST(what_fails_for_good_costs_its_request)
{
    struct hole *holes = NULL;
    proxy_rules(server, "match=/a.rec nth=2 do=status=403\n");
    ck_assert_int_eq(unreadable_read(s, PIECE, got, BYTES - PIECE, &holes, &err), IMREC_OK);
    ck_assert_ptr_nonnull(holes);
    ck_assert_ptr_null(holes->next);
    ck_assert_uint_eq((holes->begin - PIECE) % PART, 0);
    ck_assert_uint_ge(holes->end - holes->begin, 1 << 20); /* the last part is shorter */
    ck_assert_uint_le(holes->end - holes->begin, PART);
    ck_assert_msg(strstr(holes->why.message, "403") != NULL, "%s", holes->why.message);
    for (uint64_t i = PIECE; i < BYTES; i++)
        if (i < holes->begin || i >= holes->end)
            ck_assert_uint_eq(got[i - PIECE], data[i]);
        else
            ck_assert_uint_eq(got[i - PIECE], 0);
    ck_assert_int_le((int)proxy_stat(server, "requests"), 12); /* not one for each page */
    unreadable_free(&holes);
}
