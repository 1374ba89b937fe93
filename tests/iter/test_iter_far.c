/* Sweeps over shards on a server: what is delivered is that of the files, many ranges are under way
 * at once, and what fails for good costs its records alone. */
#include "base/alloc.h"
#include "container/walk/unreadable.h"
#include "tests/support/http_proxy.h"
#include "tests/support/opening.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <unistd.h>

enum { SHARDS = 4, IN_SHARD = 400 };

static struct tmpdir dir;
static struct proxy *server;
static char here[2048], there[2048];
static const char common[] = "data_shape=3,16,16 batch_size=40 last_batch=partial shuffle=1 "
                             "shuffle_chunk=8192 shuffle_window=262144 verbose=0";

static void setup(void)
{
    char path[400];
    dir = tmpdir_make();
    server = proxy_start(dir.path, NULL);
    here[0] = there[0] = '\0';
    for (uint32_t i = 0; i < SHARDS; i++) {
        const char *between = i != 0 ? ";" : "";
        snprintf(path, sizeof(path), "%s/s%u.rec", dir.path, i);
        small_shard(path, i * IN_SHARD, (i + 1) * IN_SHARD);
        snprintf(here + strlen(here), sizeof(here) - strlen(here), "%s%s", between, path);
        snprintf(there + strlen(there), sizeof(there) - strlen(there), "%s%s/s%u.rec", between,
                 server->url, i);
    }
}

static void teardown(void)
{
    proxy_stop(server);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static uint64_t mixed(uint64_t hash, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return hash;
}

struct swept {
    uint64_t hash, images, failed;
    struct imrec_error why; /* the last one */
};

static struct swept sweep(const char *spec, const char *more)
{
    struct imrec_iter *it = open_over(spec, common, more);
    struct imrec_batch b;
    struct imrec_error err;
    struct swept s = {0};
    for (enum imrec_status st; (st = imrec_iter_next(it, &b, &err)) != IMREC_END;) {
        if (st != IMREC_OK)
            s.why = err;
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_DATA, "%s", err.message);
        s.images += b.count;
        s.hash = mixed(s.hash, b.ids, b.count * sizeof(*b.ids));
        s.hash = mixed(s.hash, b.data, (size_t)b.count * 3 * 16 * 16 * sizeof(float));
    }
    imrec_iter_close(it);
    return s;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(a_sweep_over_a_server_is_that_of_the_files_with_many_ranges_under_way)
{
    static const char *const ways[] = {"", "path_imgidx=auto", "shuffle=0",
                                       "keep_in_memory=1 num_parts=2 part_index=1"};
    proxy_rules(server, "match=.rec do=delay=200");
    for (size_t i = 0; i < COUNT(ways); i++) {
        const struct swept a = sweep(here, ways[i]), b = sweep(there, ways[i]);
        ck_assert_uint_gt(a.images, 700);
        ck_assert_uint_eq(a.images, b.images);
        ck_assert_uint_eq(a.hash, b.hash);
        if (i == 0) /* each is of a cell or two; two threads were enough for a disk */
            ck_assert_int_ge((int)proxy_stat(server, "in_flight_most"), 16);
    }
}

TEST(what_fails_once_is_read_again_and_changes_nothing)
{
    const struct swept a = sweep(here, "");
    proxy_rules(server, "match=.rec share=0.1 seed=3 do=status=503\n"
                        "match=.rec share=0.1 seed=4 do=reset-after=1000");
    const struct swept b = sweep(there, "");
    ck_assert_int_gt((int)proxy_hits(server, 0) + (int)proxy_hits(server, 1), 3);
    ck_assert_uint_eq(a.hash, b.hash);
}

/* A limit that is less than what was planned. */
static void below(const struct imrec_iter_stats *s, char limit[64])
{
    snprintf(limit, 64, "memory_limit=%llu", (unsigned long long)s->memory_planned_bytes - 1);
}

TEST(what_many_requests_need_is_planned_and_limited)
{
    struct imrec_iter *near = open_over(here, common, ""), *far = open_over(there, common, "");
    struct imrec_iter_stats a, b;
    struct imrec_error err;
    imrec_iter_get_stats(near, &a);
    imrec_iter_get_stats(far, &b);
    ck_assert_uint_gt(b.memory_planned_bytes, a.memory_planned_bytes + (16u << 20));
    imrec_iter_close(near);
    imrec_iter_close(far);
    char limit[64];
    below(&b, limit);
    if (try_open_over(there, common, limit, &far, &err) == IMREC_OK) { /* not side by side */
        imrec_iter_get_stats(far, &b);
        imrec_iter_close(far);
        below(&b, limit);
    }
    ck_assert_int_eq(try_open_over(there, common, limit, &far, &err), IMREC_ERR_LIMIT);
    near = open_over(here, common, limit);
    imrec_iter_close(near);
}

/* Nothing is asked again of a server that is silent, once nobody waits for it. */
TEST(closing_ends_requests_that_are_not_answered)
{
    proxy_rules(server, "match=.rec skip=8 do=hang-head");
    struct imrec_iter *it = open_over(there, common, "");
    while (proxy_hits(server, 0) < 8)
        usleep(10000);
    imrec_iter_close(it);
    ck_assert_int_le((int)proxy_hits(server, 0),
                     32); /* cells of two windows; none was asked twice */
}

TEST(what_fails_for_good_costs_its_records_and_few_requests)
{
    proxy_rules(server, "match=.rec share=0.2 seed=5 skip=8 do=status=404");
    const struct swept a = sweep(there, "on_error=skip");
    ck_assert_int_gt((int)proxy_hits(server, 0), 2);
    ck_assert_uint_gt(a.images, 100);
    ck_assert_uint_lt(a.images, SHARDS * IN_SHARD);
    proxy_rules(server, "match=.rec skip=8 do=status=404");
    proxy_reset(server);
    const struct swept b = sweep(there, "shuffle=0");
    ck_assert_int_lt((int)proxy_hits(server, 0), 40); /* of 400 pages */
    ck_assert_msg(strstr(b.why.message, "404") != NULL && strstr(b.why.message, ".rec") != NULL,
                  "%s", b.why.message);
}

/* Parts are under way at once: one that fails says nothing of those before it. */
TEST(bytes_outside_a_hole_are_those_of_the_object)
{
    enum { BIG = 9 << 20 };
    char uri[200];
    struct imrec_error err;
    struct source *s;
    struct hole *holes = NULL;
    uint8_t *data = malloc(BIG), *got = calloc(1, BIG);
    for (size_t i = 0; i < BIG; i++)
        data[i] = (uint8_t)(i * 131 + i / 257 + 1);
    tmp_write(&dir, "big", data, BIG);
    proxy_rules(server, "match=/big skip=1 nth=4 do=status=404\n"
                        "match=/big skip=1 times=3 do=delay=500");
    snprintf(uri, sizeof(uri), "%s/big", server->url);
    ck_assert_msg(source_open(uri, &s, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(unreadable_read(s, 0, got, BIG, &holes, &err), IMREC_OK);
    ck_assert_ptr_nonnull(holes);
    ck_assert_uint_le(holes->end - holes->begin, 2 << 20);
    for (size_t i = 0; i < BIG; i++)
        if (unreadable_find(holes, i, i + 1) == NULL && got[i] != data[i])
            ck_abort_msg("byte %zu", i);
    unreadable_free(&holes);
    source_close(s);
    free(data);
    free(got);
}

/* When the first request came whose path has this word. */
static double asked_at(const char *log, const char *word)
{
    const char *at = strstr(log, word);
    ck_assert_msg(at != NULL, "nobody asked for %s", word);
    return strtod(strstr(at, "\"at_ms\":") + 8, NULL);
}

/* Manifest and shards, their ends, and the first window: no shard waits for another, nor for the
 * manifest. */
TEST(the_first_batch_comes_after_few_round_trips)
{
    enum { MANY = 12, STEP_MS = 1500 };
    char path[400], spec[2048] = "";
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "%s/set-%05u-of-%05d.rec", dir.path, i, MANY);
        small_shard(path, i * 20, (i + 1) * 20);
        snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "%s%s/set-%05u-of-%05d.rec",
                 i != 0 ? ";" : "", server->url, i, MANY);
    }
    proxy_rules(server, "match=/set do=delay=1500");
    struct imrec_iter *it = open_over(spec, common, "");
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_ge((int)proxy_stat(server, "in_flight_most"), 4);
    imrec_iter_close(it);
    char *log = proxy_log(server);
    double begun = 0; /* trips: requests that begin when those before have ended */
    int trips = 0;
    for (const char *at = log; (at = strstr(at, "\"at_ms\":")) != NULL; at++) {
        const double ms = strtod(at + 8, NULL);
        if (trips == 0 || ms >= begun + STEP_MS) {
            begun = ms;
            trips++;
        }
    }
    ck_assert_double_lt(asked_at(log, "set-00000-") - asked_at(log, "manifest"), STEP_MS);
    free(log);
    ck_assert_int_le(trips, 5); /* 3; one by one they would be 26 */
}
