/* The server that tests of network stores talk to: files, conditions, delays, bandwidth, counters.
 */
#include "tests/support/proxy_pair.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct proxy *through(int mode) /* 0: the folder itself; 1: through the proxy */
{
    return mode == 0 ? origin : front;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const struct {
    const char *range; /* NULL: none */
    int status;
    const char *said; /* Content-Range */
    size_t first, count;
} ranges[] = {
    {NULL, 200, NULL, 0, FILE_BYTES},
    {"bytes=0-0", 206, "bytes 0-0/200000", 0, 1},
    {"bytes=5-99999", 206, "bytes 5-99999/200000", 5, 99995},
    {"bytes=199999-", 206, "bytes 199999-199999/200000", 199999, 1},
    {"bytes=0-", 206, "bytes 0-199999/200000", 0, FILE_BYTES},
    {"bytes=100-999999999999", 206, "bytes 100-199999/200000", 100, 199900},
    {"bytes=-7", 206, "bytes 199993-199999/200000", 199993, 7},
    {"bytes=-999999", 206, "bytes 0-199999/200000", 0, FILE_BYTES},
    {"bytes=200000-", 416, "bytes */200000", 0, 0},
    {"bytes=-0", 416, "bytes */200000", 0, 0},
    {"bytes=7-6", 200, NULL, 0, FILE_BYTES}, /* no range */
    {"bytes=0-1,4-5", 200, NULL, 0, FILE_BYTES},
    {"lines=0-1", 200, NULL, 0, FILE_BYTES},
    {"bytes=x-1", 200, NULL, 0, FILE_BYTES},
};

CASE(.setup = pair_start, .teardown = pair_stop, .timeout = 120)

LOOP_TEST(a_file_comes_whole_or_by_a_range, 0, 2 * COUNT(ranges))
{
    const int row = _i / 2;
    char fields[128] = "";
    if (ranges[row].range != NULL)
        snprintf(fields, sizeof(fields), "Range: %s\r\n", ranges[row].range);
    struct raw_answer a = get(through(_i % 2), "/file", fields);
    ck_assert_int_eq(a.end, WIRE_COMPLETE);
    ck_assert_int_eq(a.status, ranges[row].status);
    ck_assert_pstr_eq(raw_field(&a, "Content-Range"), ranges[row].said);
    if (a.status != 416) {
        ck_assert_uint_eq(a.n, ranges[row].count);
        ck_assert_int_eq(memcmp(a.body, content + ranges[row].first, a.n), 0);
        ck_assert_str_eq(raw_field(&a, "Accept-Ranges"), "bytes");
        ck_assert_ptr_nonnull(raw_field(&a, "ETag"));
        ck_assert_ptr_nonnull(raw_field(&a, "Last-Modified"));
    }
    raw_free(&a);
}

LOOP_TEST(a_connection_lives_on_and_heads_have_no_body, 0, 2)
{
    struct proxy *p = through(_i);
    const int fd = raw_connect(p->port);
    for (int i = 0; i < 20; i++) {
        struct raw_answer a = on(fd, i % 2 != 0 ? "HEAD" : "GET", "/file", "");
        ck_assert_int_eq(a.end, WIRE_COMPLETE);
        ck_assert_str_eq(raw_field(&a, "Content-Length"), "200000");
        ck_assert_uint_eq(a.n, i % 2 != 0 ? 0 : FILE_BYTES);
        raw_free(&a);
    }
    struct raw_answer last = on(fd, "GET", "/file", "Connection: close\r\n");
    ck_assert_str_eq(raw_field(&last, "Connection"), "close");
    raw_free(&last);
    last = raw_read(fd, false, 60000);
    ck_assert_int_eq(last.end, WIRE_CLOSED);
    raw_free(&last);
    close(fd);
    ck_assert_int_eq(proxy_stat(p, "HEAD"), 10);
    ck_assert_int_eq(proxy_stat(p, "GET"), 11);
    ck_assert_int_eq(proxy_stat(origin, "body_bytes_out"), 11 * FILE_BYTES);
}

LOOP_TEST(requests_sent_at_once_are_answered_in_order, 0, 2)
{
    const int fd = raw_connect(through(_i)->port);
    char text[8192] = "";
    for (int i = 0; i < 50; i++)
        sprintf(text + strlen(text), "GET /file HTTP/1.1\r\nHost: t\r\nRange: bytes=%d-%d\r\n\r\n",
                i, 2 * i);
    raw_send(fd, text);
    for (int i = 0; i < 50; i++) {
        struct raw_answer a = raw_read(fd, false, 60000);
        ck_assert_uint_eq(a.n, i + 1);
        ck_assert_int_eq(memcmp(a.body, content + i, a.n), 0);
        raw_free(&a);
    }
    close(fd);
}

LOOP_TEST(conditions_look_at_the_etag, 0, 2)
{
    static const struct {
        const char *fields; /* '@' is the ETag, '$' the date */
        int status;
    } rows[] = {
        {"If-Match: @", 200},
        {"If-Match: *", 200},
        {"If-Match: \"x\", @", 200},
        {"If-Match: \"x\"", 412},
        {"If-None-Match: @", 304},
        {"If-None-Match: *", 304},
        {"If-None-Match: \"x\"", 200},
        {"Range: bytes=1-2\r\nIf-Range: @", 206},
        {"Range: bytes=1-2\r\nIf-Range: $", 206},
        {"Range: bytes=1-2\r\nIf-Range: \"x\"", 200},
        {"Range: bytes=1-2\r\nIf-Match: \"x\"", 412},
    };
    struct raw_answer a = get(through(_i), "/file", "");
    for (int i = 0; i < COUNT(rows); i++) {
        char fields[512];
        const size_t mark = strcspn(rows[i].fields, "@$");
        const char *which = rows[i].fields[mark] == '@' ? "ETag" : "Last-Modified";
        const char *value = rows[i].fields[mark] == '\0' ? "" : raw_field(&a, which);
        snprintf(fields, sizeof(fields), "%.*s%s\r\n", (int)mark, rows[i].fields, value);
        struct raw_answer b = get(through(_i), "/file", fields);
        ck_assert_msg(b.status == rows[i].status, "%s: %d", fields, b.status);
        ck_assert_int_eq(b.end, WIRE_COMPLETE);
        raw_free(&b);
    }
    raw_free(&a);
}

TEST(a_file_that_is_replaced_has_another_etag)
{
    struct raw_answer a = get(origin, "/file", "");
    tmp_write(&dir, "fresh", content, sizeof(content));
    ck_assert_int_eq(rename(tmp_path(&dir, "fresh"), tmp_path(&dir, "file")), 0);
    struct raw_answer b = get(origin, "/file", "");
    ck_assert_str_ne(raw_field(&a, "ETag"), raw_field(&b, "ETag"));
    raw_free(&a);
    raw_free(&b);
}

TEST(what_is_no_file_is_404_and_nothing_climbs)
{
    static const char *const names[] = {
        "/none",     "/",       "/..",          "/../x",     "/sub",          "/sub/", "/file/",
        "/%2e%2e/x", "/sub/..", "/sub/../file", "/%00",      "/fi%00le",      "/%",    "/file%2",
        "/pipe",     "//..",    "/%2f%2e.",     "/sub/%2e.", "/%2fetc/passwd"};
    ck_assert_int_eq(mkdir(tmp_path(&dir, "sub"), 0700), 0);
    ck_assert_int_eq(mkfifo(tmp_path(&dir, "pipe"), 0600), 0);
    for (int i = 0; i < COUNT(names); i++) {
        struct raw_answer a = get(origin, names[i], "");
        ck_assert_msg(a.status == 404, "%s: %d", names[i], a.status);
        raw_free(&a);
    }
    tmp_write(&dir, "sub/a ..b", "good", 4);
    struct raw_answer a = get(origin, "/sub/a%20%2e.b?versionId=7", "");
    ck_assert_str_eq(a.body, "good");
    raw_free(&a);
}

TEST(what_is_no_request_is_refused)
{
    static const char *const texts[] = {
        "\r\n\r\n",
        "HELLO\r\n\r\n",
        "GET / SMTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nno field\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"};
    for (int i = 0; i < COUNT(texts); i++) {
        const int fd = raw_connect(origin->port);
        raw_send(fd, texts[i]);
        struct raw_answer a = raw_read(fd, false, 60000);
        ck_assert_msg(a.status == 400, "%s: %d", texts[i], a.status);
        raw_free(&a);
        close(fd);
    }
}

LOOP_TEST(what_is_put_can_be_got_and_deleted, 0, 2)
{
    struct proxy *p = through(_i);
    struct raw_answer a = raw_ask(p->port, "PUT", "/new/sub/o", "", "hello");
    ck_assert_int_eq(a.status, 201);
    ck_assert_ptr_nonnull(raw_field(&a, "ETag"));
    raw_free(&a);
    a = raw_ask(p->port, "PUT", "/new/sub/o", "If-None-Match: *\r\n", "other");
    ck_assert_int_eq(a.status, 412);
    raw_free(&a);
    a = get(p, "/new/sub/o", "");
    ck_assert_str_eq(a.body, "hello");
    raw_free(&a);
    a = raw_ask(p->port, "PUT", "/new", "", "a folder");
    ck_assert_int_eq(a.status, 409);
    raw_free(&a);
    a = raw_ask(p->port, "DELETE", "/new/sub/o", "", NULL);
    ck_assert_int_eq(a.status, 204);
    raw_free(&a);
    a = raw_ask(p->port, "DELETE", "/new/sub/o", "", NULL);
    ck_assert_int_eq(a.status, 404);
    raw_free(&a);
    ck_assert_int_eq(proxy_stat(p, "body_bytes_in"), 5 + 5 + 8);
    ck_assert_int_eq(proxy_stat(origin, "PUT"), 3);
}

LOOP_TEST(large_bodies_and_chunks_are_put, 0, 2)
{
    enum { PIECES = 40 };
    struct proxy *p = through(_i);
    const int fd = raw_connect(p->port);
    raw_send(fd, "PUT /chunks HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n");
    struct raw_answer a = raw_read(fd, true, 60000);
    ck_assert_int_eq(a.status, 100);
    raw_free(&a);
    for (int i = 0; i < PIECES; i++) {
        raw_send(fd, "30d40;note=1\r\n");
        raw_send_bytes(fd, content, sizeof(content));
        raw_send(fd, "\r\n");
    }
    raw_send(fd, "0\r\nTrailer: x\r\n\r\n");
    a = raw_read(fd, false, 60000);
    ck_assert_int_eq(a.status, 201);
    raw_free(&a);
    a = on(fd, "GET", "/chunks", "");
    ck_assert_uint_eq(a.n, PIECES * sizeof(content));
    for (int i = 0; i < PIECES; i++)
        ck_assert_int_eq(memcmp(a.body + (size_t)i * sizeof(content), content, sizeof(content)), 0);
    raw_free(&a);
    close(fd);
}

TEST(a_put_that_is_broken_off_leaves_nothing)
{
    const int fd = raw_connect(origin->port);
    raw_send(fd, "PUT /half HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nhello");
    close(fd);
    while (proxy_stat(origin, "in_flight") != 0 || proxy_stat(origin, "requests") == 0)
        ;
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "half")), -1);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "half.put-0")), -1);
}

TEST(who_may_not_write_does_not)
{
    struct proxy *p = proxy_start(dir.path, NULL);
    struct raw_answer a = raw_ask(p->port, "PUT", "/o", "", "hello");
    ck_assert_int_eq(a.status, 405);
    raw_free(&a);
    a = raw_ask(p->port, "DELETE", "/file", "", NULL);
    ck_assert_int_eq(a.status, 405);
    raw_free(&a);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "file")), FILE_BYTES);
    proxy_stop(p);
}

TEST(an_upstream_that_is_not_there_is_a_502)
{
    proxy_stop(origin);
    struct raw_answer a = get(front, "/file", "");
    ck_assert_int_eq(a.status, 502);
    raw_free(&a);
    origin = proxy_start(dir.path, NULL);
}

LOOP_TEST(an_upstream_that_breaks_breaks_the_answer, 0, 3)
{
    static const char *const rules[] = {"do=short=1000", "do=reset-after=1000",
                                        "do=chunked do=short=1000"};
    proxy_rules(origin, rules[_i]);
    struct raw_answer a = get(front, "/file", "");
    ck_assert_int_eq(a.status, 200);
    ck_assert_uint_le(a.n, 1000);
    ck_assert_int_ne(a.end, WIRE_COMPLETE);
    raw_free(&a);
    proxy_rules(origin, "");
    a = get(front, "/file", "");
    ck_assert_uint_eq(a.n, FILE_BYTES);
    raw_free(&a);
}

TEST(counters_and_the_log_say_what_happened)
{
    static const char *const in_log[] = {
        "\"method\":\"GET\",\"path\":\"/"
        "file?a=\\u0022\",\"range\":\"bytes=1-2\",\"authorization\":true,"
        "\"status\":206,\"body_out\":2,\"body_in\":0,\"connection\":",
        "\"path\":\"/none\",\"range\":null,\"authorization\":false,\"status\":404"};
    struct raw_answer a = get(front, "/file?a=\"", "Range: bytes=1-2\r\nAuthorization: secret\r\n");
    raw_free(&a);
    a = get(front, "/none", "");
    raw_free(&a);
    for (int i = 0; i < 2; i++) {
        char *log = proxy_log(through(i));
        for (int k = 0; k < COUNT(in_log); k++)
            ck_assert_msg(strstr(log, in_log[k]) != NULL, "%s", log);
        ck_assert_ptr_null(strstr(log, "secret"));
        free(log);
        ck_assert_int_eq(proxy_stat(through(i), "requests"), 2);
        ck_assert_int_eq(proxy_stat(through(i), "206"), 1);
        ck_assert_int_eq(proxy_stat(through(i), "404"), 1);
        ck_assert_int_eq(proxy_stat(through(i), "in_flight"), 0);
        ck_assert_int_eq(proxy_stat(through(i), "in_flight_most"), 1);
        ck_assert(proxy_stat(through(i), "cpu_s") > 0);
        proxy_reset(through(i));
        ck_assert_int_eq(proxy_stat(through(i), "requests"), 0);
    }
}

TEST(it_ends_on_sigterm)
{
    int status;
    ck_assert_int_eq(kill(front->pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(front->pid, &status, 0), front->pid);
    ck_assert_int_eq(status, 0);
    close(front->input);
    free(front);
    front = proxy_start(dir.path, NULL);
}

/* ---- time ------------------------------------------------------------------------------------ */

LOOP_TEST(delays_pass_and_many_wait_at_once, 0, 2) /* _i: --delay or a rule's */
{
    enum { MANY = 400 };
    int fds[MANY];
    struct proxy *p = _i == 0 ? proxy_start(dir.path, "--delay", "150", NULL)
                              : proxy_start(dir.path, "--rule", "do=delay=150", NULL);
    const double began = now_s();
    for (int i = 0; i < MANY; i++) {
        fds[i] = raw_connect(p->port);
        raw_send(fds[i], "GET /file HTTP/1.1\r\nHost: t\r\nRange: bytes=0-9\r\n\r\n");
    }
    for (int i = 0; i < MANY; i++) {
        struct raw_answer a = raw_read(fds[i], false, 60000);
        ck_assert_uint_eq(a.n, 10);
        raw_free(&a);
        ck_assert(now_s() - began >= 0.149);
        close(fds[i]);
    }
    ck_assert_int_gt(proxy_stat(p, "in_flight_most"), 1);
    proxy_stop(p);
}

TEST(a_new_connection_is_read_later)
{
    struct proxy *p = proxy_start(dir.path, "--connect-delay", "100", NULL);
    const double began = now_s();
    const int fd = raw_connect(p->port);
    struct raw_answer a = on(fd, "GET", "/file", "");
    ck_assert(now_s() - began >= 0.099);
    ck_assert_uint_eq(a.n, FILE_BYTES);
    raw_free(&a);
    close(fd);
    proxy_stop(p);
}

enum { SHARERS = 4, RATE = 2000000 };

/* Reads from all until one has it all; `got` is what each has then. */
static void race(const int fds[SHARERS], size_t got[SHARERS])
{
    static char room[1 << 16];
    struct pollfd ready[SHARERS];
    for (int i = 0; i < SHARERS; i++)
        ready[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    for (;;) {
        ck_assert_int_gt(poll(ready, SHARERS, 60000), 0);
        for (int i = 0; i < SHARERS; i++) {
            if (ready[i].revents == 0)
                continue;
            const ssize_t n = recv(fds[i], room, sizeof(room), 0);
            ck_assert_int_gt(n, 0);
            got[i] += (size_t)n;
            if (got[i] >= FILE_BYTES)
                return;
        }
    }
}

LOOP_TEST(bandwidth_is_a_limit_and_shared_fairly, 0, 2)
{
    char upstream[64], rate[32];
    snprintf(upstream, sizeof(upstream), "127.0.0.1:%d", origin->port);
    snprintf(rate, sizeof(rate), "%d", RATE);
    struct proxy *p = _i == 0
                          ? proxy_start(dir.path, "--bandwidth", rate, NULL)
                          : proxy_start(NULL, "--upstream", upstream, "--bandwidth", rate, NULL);
    int fds[SHARERS];
    size_t got[SHARERS] = {0};
    const double began = now_s();
    for (int i = 0; i < SHARERS; i++) {
        fds[i] = raw_connect(p->port);
        raw_send(fds[i], "GET /file HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    race(fds, got);
    size_t all = 0;
    for (int i = 0; i < SHARERS; i++) {
        ck_assert_msg(got[i] >= FILE_BYTES / 2, "%d has %zu", i, got[i]);
        all += got[i];
        close(fds[i]);
    }
    ck_assert((now_s() - began + 0.021) * RATE >= (double)all); /* the bucket holds 20 ms */
    proxy_stop(p);
}
