/* tests/storage/test_http.c - objects on a web server: their bytes, or an error that names it,
 * whatever the server does. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/threads.h"
#include "storage/folder.h"
#include "storage/lock.h"
#include "storage/sink.h"
#include "storage/source.h"
#include "storage/uri_list.h"
#include "tests/support/http_proxy.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 9 << 20, SMALL = 5000 }; /* several parts; less than opening brings along */

static struct tmpdir dir;
static struct proxy *server;
static struct imrec_error err;
static uint8_t *data;
static char uri[256];

static void setup(void)
{
    dir = tmpdir_make();
    data = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 131 + i / 257);
    tmp_write(&dir, "a.rec", data, BYTES);
    tmp_write(&dir, "small", data, SMALL);
    tmp_write(&dir, "empty", data, 0);
    server = proxy_start(dir.path, NULL);
}

static void teardown(void)
{
    proxy_stop(server);
    free(data);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *at(const char *name)
{
    snprintf(uri, sizeof(uri), "%s/%s", server->url, name);
    return uri;
}

static struct source *opened(const char *name)
{
    struct source *s;
    ck_assert_msg(source_open(at(name), &s, &err) == IMREC_OK, "%s", err.message);
    return s;
}

static void check_bytes(struct source *s, uint64_t offset, size_t n)
{
    uint8_t *got = malloc(n + 1);
    ck_assert_msg(source_read(s, offset, got, n, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(memcmp(got, data + offset, n), 0);
    free(got);
}

/* Reading all of a.rec behind what opening brought along fails, with these words. */
static void check_refused(struct source *s, enum imrec_status status, const char *words)
{
    uint8_t *got = malloc(BYTES);
    ck_assert_int_eq(source_read(s, 0, got, BYTES, &err), status);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "/a.rec") != NULL, "%s", err.message);
    free(got);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(every_range_has_its_bytes)
{
    static const struct {
        uint64_t offset;
        size_t n;
    } ranges[] = {{0, BYTES},         {0, 1},     {BYTES - 1, 1},          {65535, 2},
                  {65536, 3 << 20},   {1000, 0},  {(2 << 20) - 1, 2},      {0, 65536},
                  {1 << 20, 4 << 20}, {BYTES, 0}, {BYTES - 100000, 100000}};
    struct source *s = opened("a.rec");
    ck_assert_uint_eq(s->size, BYTES);
    ck_assert_uint_gt(s->modified, 0);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        check_bytes(s, ranges[i].offset, ranges[i].n);
    source_close(s);
}

TEST(opening_and_reading_the_beginning_is_one_request)
{
    struct source *s = opened("a.rec");
    check_bytes(s, 0, 65536);
    ck_assert_int_eq((int)proxy_stat(server, "requests"), 1);
    source_close(s);
}

TEST(small_and_empty_objects_are_whole)
{
    struct source *s = opened("small");
    ck_assert_uint_eq(s->size, SMALL);
    check_bytes(s, 0, SMALL);
    source_close(s);
    s = opened("empty");
    ck_assert_uint_eq(s->size, 0);
    source_close(s);
}

TEST(what_is_not_there_is_named_with_its_errno)
{
    struct source *s;
    ck_assert_int_eq(source_open(at("none"), &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    ck_assert_msg(strstr(err.message, "/none: the server answers 404") != NULL, "%s", err.message);
    proxy_rules(server, "do=status=403");
    ck_assert_int_eq(source_open(at("a.rec"), &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EACCES);
    ck_assert_ptr_null(s);
}

/* What passes is tried again, and the bytes are right. */
static const char *const passing[] = {
    "skip=1 every=2 do=status=503",
    "skip=1 every=3 do=reset",
    "skip=1 every=2 do=short=100000",
    "skip=1 every=2 do=reset-after=70000",
    "skip=1 every=3 do=status=429",
    "skip=1 every=3 do=garbage",
    "nth=1 do=status=500",
    "skip=1 every=2 do=chunked do=short=5000",
    "skip=1 every=4 do=status=408",
    "every=2 do=close",
};

LOOP_TEST(what_passes_is_tried_again, 0, COUNT(passing))
{
    proxy_rules(server, passing[_i]);
    struct source *s = opened("a.rec");
    check_bytes(s, 0, BYTES);
    ck_assert_int_gt(proxy_hits(server, 0), 0);
    source_close(s);
}

TEST(a_part_that_broke_off_goes_on_behind_its_bytes)
{
    proxy_rules(server, "nth=2 do=short=1500000");
    struct source *s = opened("a.rec");
    check_bytes(s, 0, BYTES);
    ck_assert_uint_lt((uint64_t)proxy_stat(server, "body_bytes_out"), BYTES + 600000u);
    source_close(s);
}

TEST(retry_after_is_obeyed)
{
    proxy_rules(server, "nth=1 do=status=503 retry-after=1");
    const uint64_t before = clock_ns();
    source_close(opened("small"));
    ck_assert_uint_ge(clock_ns() - before, 1000000000u);
}

/* What does not pass is an error: no byte of another range, version or encoding is used. */
static const struct {
    const char *rule, *words;
    enum imrec_status status;
} lasting[] = {
    {"skip=1 do=wrong-range=start", "not 65536 to", IMREC_ERR_IO},
    {"skip=1 do=wrong-range=total", "another version", IMREC_ERR_IO},
    {"skip=1 do=no-content-range", "does not say which", IMREC_ERR_IO},
    {"skip=1 nth=3 do=changed", "another version", IMREC_ERR_IO},
    {"skip=1 do=header=ETag:\"other\"", "another version", IMREC_ERR_IO},
    {"skip=1 do=ignore-range", "serves ranges is needed", IMREC_ERR_UNSUPPORTED},
    {"skip=1 do=header=Content-Encoding:gzip", "encoding 'gzip'", IMREC_ERR_UNSUPPORTED},
    {"skip=1 do=status=404", "answers 404", IMREC_ERR_IO},
    {"skip=1 do=redirect-loop", "redirects", IMREC_ERR_IO},
};

LOOP_TEST(what_lasts_is_an_error, 0, COUNT(lasting))
{
    proxy_rules(server, lasting[_i].rule);
    struct source *s = opened("a.rec");
    check_refused(s, lasting[_i].status, lasting[_i].words);
    source_close(s);
}

TEST(a_server_without_ranges_serves_small_objects_alone)
{
    struct source *s;
    proxy_rules(server, "do=ignore-range");
    s = opened("small");
    check_bytes(s, 0, SMALL);
    source_close(s);
    ck_assert_int_eq(source_open(at("a.rec"), &s, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "serves ranges is needed") != NULL, "%s", err.message);
}

TEST(an_object_that_is_replaced_in_mid_read_is_no_mix)
{
    struct source *s = opened("a.rec");
    check_bytes(s, 0, 100000);
    for (size_t i = 0; i < BYTES; i++)
        data[i] ^= 0xff;
    tmp_write(&dir, "a.rec", data, BYTES);
    check_refused(s, IMREC_ERR_IO, "another version");
    ck_assert_int_eq(err.sys_errno, ESTALE);
    source_close(s);
}

TEST(a_redirect_is_followed)
{
    proxy_rules(server, "match=/moved do=redirect=/a.rec");
    struct source *s = opened("moved");
    check_bytes(s, 0, BYTES);
    source_close(s);
}

TEST(a_server_that_stays_away_is_an_error_with_its_tries)
{
    struct source *s;
    proxy_rules(server, "do=status=503");
    ck_assert_int_eq(source_open(at("a.rec"), &s, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "503 (not available) after 8 tries") != NULL, "%s",
                  err.message);
    ck_assert_int_eq((int)proxy_stat(server, "requests"), 8);
}

TEST(an_answer_that_breaks_off_is_not_whole_and_none_is_none)
{
    struct source *s;
    proxy_rules(server, "do=reset-after=700");
    ck_assert_int_eq(source_open(at("a.rec"), &s, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, ": no whole answer after 8 tries in ") != NULL, "%s",
                  err.message);
    proxy_rules(server, "do=reset");
    ck_assert_int_eq(source_open(at("a.rec"), &s, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, ": no answer after 8 tries in ") != NULL, "%s", err.message);
}

static void *begin_again(void *port)
{
    clock_sleep_ms(1200); /* more than three tries take */
    server = proxy_start(dir.path, "--port", port, NULL);
    return NULL;
}

TEST(a_server_that_begins_again_is_waited_for_by_who_opens_next)
{
    char port[16];
    struct thread t = {0};
    source_close(opened("small"));
    snprintf(port, sizeof(port), "%d", server->port);
    const char *where = at("a.rec");
    proxy_stop(server);
    ck_assert_int_eq(thread_start(&t, "again", begin_again, port, &err), IMREC_OK);
    struct source *s;
    ck_assert_msg(source_open(where, &s, &err) == IMREC_OK, "%s", err.message);
    thread_join(&t);
    check_bytes(s, 0, BYTES);
    source_close(s);
}

TEST(secrets_of_a_url_are_in_no_message)
{
    char secret[256];
    struct source *s;
    snprintf(secret, sizeof(secret), "http://me:hidden@127.0.0.1:%d/none?key=hidden", server->port);
    ck_assert_int_eq(source_open(secret, &s, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "hidden") == NULL, "%s", err.message);
    struct sink *out;
    ck_assert_int_eq(sink_open(secret, &out, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "hidden") == NULL, "%s", err.message);
}

TEST(it_is_for_reading_alone)
{
    struct sink *out;
    struct lock *lock;
    struct folder *f;
    ck_assert_int_eq(sink_open(at("b.rec"), &out, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_int_eq(sink_remove(at("a.rec"), &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_int_eq(sink_publish(at("a.rec"), &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_int_eq(lock_take(at("a.rec"), &lock, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_int_eq(folder_open(at(""), &f, &err), IMREC_ERR_UNSUPPORTED);
    bool there;
    ck_assert_int_eq(sink_exists(at("a.rec"), &there, &err), IMREC_OK);
    ck_assert(there);
    ck_assert_int_eq(sink_exists(at("b.rec"), &there, &err), IMREC_OK);
    ck_assert(!there);
    proxy_rules(server, "do=status=403");
    ck_assert_int_eq(sink_exists(at("b.rec"), &there, &err), IMREC_ERR_IO);
}

TEST(a_query_is_no_pattern)
{
    struct uri_list l;
    ck_assert_int_eq(uri_list_expand(at("a.rec?list[]=*"), ".rec", &l, &err), IMREC_OK);
    ck_assert_uint_eq(l.count, 1);
    ck_assert_str_eq(l.uri[0], uri);
    uri_list_free(&l);
}

static void *read_all(void *arg)
{
    for (int i = 0; i < 5; i++)
        check_bytes(arg, (uint64_t)i * 100003, BYTES - 700000);
    return NULL;
}

TEST(many_threads_read_at_once)
{
    struct thread t[6];
    proxy_rules(server, "share=0.05 seed=3 do=reset-after=30000");
    struct source *s = opened("a.rec");
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(thread_start(&t[i], "reads", read_all, s, &err), IMREC_OK);
    for (int i = 0; i < 6; i++)
        thread_join(&t[i]);
    source_close(s);
}
