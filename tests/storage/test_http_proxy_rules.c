/* What the scripted server does wrong on request, each action as a client sees it. */
#include "tests/support/proxy_pair.h"

#include <time.h>

static struct proxy *through(int mode) /* 0: the folder itself; 1: through the proxy */
{
    return mode == 0 ? origin : front;
}

/* The rule is of the one that is asked. */
static struct raw_answer get_by(int mode, const char *rule, const char *fields)
{
    proxy_rules(through(mode), rule);
    struct raw_answer a = get(through(mode), "/file", fields);
    proxy_rules(through(mode), "");
    return a;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of a range of 1,000 bytes from byte 4,090, unless `whole`. */
static const struct {
    const char *rule;
    bool whole;
    int status;
    enum raw_end end;
    size_t n;               /* body bytes */
    size_t first;           /* that are those of the file from here */
    const char *field, *is; /* of the head; NULL: it has none */
} rows[] = {
    {"do=close", false, 206, WIRE_COMPLETE, 1000, 4090, "Connection", "close"},
    {"do=reset", false, 0, WIRE_RESET, 0, 0, "ETag", NULL},
    {"do=reset-after=100", false, 206, WIRE_RESET, 100, 4090, "Content-Length", "1000"},
    {"do=reset-after=0", false, 206, WIRE_RESET, 0, 0, "Content-Length", "1000"},
    {"do=reset-after=150000", true, 200, WIRE_RESET, 150000, 0, "Content-Length", "200000"},
    {"do=reset-after=1000", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Length", "1000"},
    {"do=short=100", false, 206, WIRE_CLOSED, 100, 4090, "Content-Length", "1000"},
    {"do=short arg=199999", true, 200, WIRE_CLOSED, 199999, 0, "Content-Length", "200000"},
    {"do=short=100 do=chunked", false, 206, WIRE_CLOSED, 100, 4090, "Content-Length", NULL},
    {"do=stall=50", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Length", "1000"},
    {"do=ignore-range", false, 200, WIRE_COMPLETE, FILE_BYTES, 0, "Content-Range", NULL},
    {"do=wrong-range", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Range",
     "bytes 4089-5088/200000"},
    {"do=wrong-range=total", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Range",
     "bytes 4090-5089/200001"},
    {"do=no-content-range", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Range", NULL},
    {"do=slow=20000", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Length", "1000"},
    {"do=delay=30", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Length", "1000"},
    {"do=chunked", false, 206, WIRE_COMPLETE, 1000, 4090, "Content-Length", NULL},
    {"do=chunked", true, 200, WIRE_COMPLETE, FILE_BYTES, 0, "Transfer-Encoding", "chunked"},
    {"do=header=X-New:1", false, 206, WIRE_COMPLETE, 1000, 4090, "X-New", "1"},
    {"do=header=\"ETag: \\x  y\"", false, 206, WIRE_COMPLETE, 1000, 4090, "ETag", "\\x  y"},
    {"do=header=ETag:", false, 206, WIRE_COMPLETE, 1000, 4090, "ETag", NULL},
    {"do=garbage", false, 0, WIRE_CLOSED, 0, 0, "ETag", NULL},
};

CASE(.setup = pair_start, .teardown = pair_stop, .timeout = 120)

LOOP_TEST(an_action_is_seen_by_the_client, 0, 2 * COUNT(rows))
{
    const int row = _i / 2;
    struct raw_answer a =
        get_by(_i % 2, rows[row].rule, rows[row].whole ? "" : "Range: bytes=4090-5089\r\n");
    ck_assert_msg(a.status == rows[row].status, "%s: %d", rows[row].rule, a.status);
    ck_assert_int_eq(a.end, rows[row].end);
    ck_assert_uint_eq(a.n, rows[row].n);
    ck_assert_int_eq(memcmp(a.body, content + rows[row].first, a.n), 0);
    ck_assert_pstr_eq(raw_field(&a, rows[row].field), rows[row].is);
    raw_free(&a);
    a = get(through(_i % 2), "/file", ""); /* and it is over */
    ck_assert_uint_eq(a.n, FILE_BYTES);
    raw_free(&a);
}

LOOP_TEST(a_status_is_an_answer_of_its_own, 0, 2)
{
    struct raw_answer a = get_by(_i, "do=status=429 retry-after=7", "");
    ck_assert_int_eq(a.status, 429);
    ck_assert_int_eq(a.end, WIRE_COMPLETE);
    ck_assert_str_eq(raw_field(&a, "Retry-After"), "7");
    ck_assert_str_eq(a.body, "scripted answer 429\n");
    raw_free(&a);
    a = get_by(_i, "do=status", "");
    ck_assert_int_eq(a.status, 503);
    ck_assert_ptr_null(raw_field(&a, "Retry-After"));
    raw_free(&a);
    proxy_rules(through(_i), "do=status=500");
    a = raw_ask(through(_i)->port, "PUT", "/new", "", "hello"); /* its body is read, and dropped */
    ck_assert_int_eq(a.status, 500);
    ck_assert_int_eq(proxy_stat(through(_i), "body_bytes_in"), 5);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "new")), -1);
    raw_free(&a);
}

LOOP_TEST(redirects_lead_elsewhere_or_nowhere, 0, 2)
{
    struct raw_answer a = get_by(_i, "do=redirect=http://127.0.0.1:1/x?y", "");
    ck_assert_int_eq(a.status, 302);
    ck_assert_str_eq(raw_field(&a, "Location"), "http://127.0.0.1:1/x?y");
    raw_free(&a);
    a = get_by(_i, "do=redirect-loop", "");
    ck_assert_int_eq(a.status, 302);
    ck_assert_str_eq(raw_field(&a, "Location"), "/file");
    raw_free(&a);
}

LOOP_TEST(one_bit_of_a_body_is_corrupt, 0, 4) /* _i / 2: by its number, or in chunks */
{
    struct raw_answer a = get_by(_i % 2, _i / 2 == 0 ? "do=corrupt" : "do=corrupt=0 do=chunked",
                                 "Range: bytes=10-109\r\n");
    const int at = _i / 2 == 0 ? 50 : 0;
    ck_assert_uint_eq(a.n, 100);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(a.body[i] ^ content[10 + i], i == at ? 1 : 0);
    raw_free(&a);
}

LOOP_TEST(a_changed_object_has_another_etag_and_other_bytes, 0, 2)
{
    char fields[512];
    struct proxy *p = through(_i);
    struct raw_answer a = get(p, "/file", ""), b;
    proxy_rules(p, "do=changed");
    b = get(p, "/file", "Range: bytes=5-9\r\n");
    ck_assert_int_eq(b.status, 206);
    ck_assert_str_ne(raw_field(&a, "ETag"), raw_field(&b, "ETag"));
    for (int i = 0; i < 5; i++)
        ck_assert_int_ne(b.body[i], content[5 + i]);
    static const struct {
        const char *name;
        bool own; /* the changed ETag, not that of before */
        int status;
    } conditions[] = {{"If-Match", false, 412},      {"If-Match", true, 206},
                      {"If-None-Match", false, 206}, {"If-None-Match", true, 304},
                      {"If-Range", false, 200},      {"If-Range", true, 206}};
    for (int i = 0; i < COUNT(conditions); i++) {
        snprintf(fields, sizeof(fields), "Range: bytes=5-9\r\n%s: %s\r\n", conditions[i].name,
                 raw_field(conditions[i].own ? &b : &a, "ETag"));
        struct raw_answer c = get(p, "/file", fields);
        ck_assert_msg(c.status == conditions[i].status, "%s: %d", fields, c.status);
        raw_free(&c);
    }
    raw_free(&a);
    raw_free(&b);
}

LOOP_TEST(heads_hang_and_are_huge, 0, 2)
{
    struct proxy *p = through(_i);
    proxy_rules(p, "do=hang-head");
    const int fd = raw_connect(p->port);
    raw_send(fd, "GET /file HTTP/1.1\r\nHost: t\r\n\r\n");
    struct raw_answer a = raw_read(fd, false, 200);
    ck_assert_int_eq(a.end, WIRE_SILENT);
    ck_assert_int_eq(proxy_stat(p, "in_flight"), 1);
    raw_free(&a);
    close(fd);
    while (proxy_stat(p, "in_flight") != 0)
        ;
    a = get_by(_i, "do=huge-header=300000", "");
    ck_assert_uint_gt(strlen(a.head), 300000);
    ck_assert_uint_eq(a.n, FILE_BYTES);
    raw_free(&a);
}

LOOP_TEST(a_body_stalls_for_a_while_or_for_ever, 0, 2)
{
    struct proxy *p = through(_i);
    const double began = now_s();
    struct raw_answer a = get_by(_i, "do=stall=120", "");
    ck_assert(now_s() - began >= 0.119);
    ck_assert_uint_eq(a.n, FILE_BYTES);
    raw_free(&a);
    proxy_rules(p, "do=stall=-1");
    const int fd = raw_connect(p->port);
    raw_send(fd, "GET /file HTTP/1.1\r\nHost: t\r\n\r\n");
    a = raw_read(fd, false, 500);
    ck_assert_int_eq(a.end, WIRE_SILENT);
    ck_assert_uint_eq(a.n, FILE_BYTES / 2);
    raw_free(&a);
    close(fd);
}

LOOP_TEST(a_slow_body_takes_its_time, 0, 2)
{
    const double began = now_s();
    struct raw_answer a = get_by(_i, "do=slow=1000000", "");
    ck_assert(now_s() - began >= 0.19); /* but for a step of 10 ms */
    ck_assert_uint_eq(a.n, FILE_BYTES);
    ck_assert_int_eq(memcmp(a.body, content, FILE_BYTES), 0);
    raw_free(&a);
}

/* ---- which requests -------------------------------------------------------------------------- */

/* '1' for each of ten requests that the rule acted on. */
static const char *acted(const char *condition)
{
    static char pattern[11];
    char rule[128];
    snprintf(rule, sizeof(rule), "%s do=status=500", condition);
    proxy_rules(origin, rule);
    for (int i = 0; i < 10; i++) {
        struct raw_answer a = raw_ask(origin->port, "HEAD", "/file?q", "", NULL);
        pattern[i] = a.status == 500 ? '1' : '0';
        raw_free(&a);
    }
    return pattern;
}

TEST(conditions_choose_requests_by_number)
{
    static const char *const chosen[][2] = {
        {"", "1111111111"},
        {"match=/file", "1111111111"},
        {"match=file?q", "1111111111"},
        {"match=other", "0000000000"},
        {"method=HEAD", "1111111111"},
        {"method=GET", "0000000000"},
        {"skip=3", "0001111111"},
        {"nth=1", "1000000000"},
        {"nth=4", "0001000000"},
        {"skip=2 nth=4", "0000010000"},
        {"every=3", "0010010010"},
        {"skip=1 every=3 times=2", "0001001000"},
        {"times=2", "1100000000"},
        {"share=0", "0000000000"},
        {"share=1", "1111111111"},
        {"share=1 skip=9", "0000000001"},
    };
    for (int i = 0; i < COUNT(chosen); i++)
        ck_assert_msg(strcmp(acted(chosen[i][0]), chosen[i][1]) == 0, "%s: %s", chosen[i][0],
                      acted(chosen[i][0]));
}

TEST(a_share_is_that_of_its_seed)
{
    char first[11], second[11];
    snprintf(first, sizeof(first), "%s", acted("share=0.5 seed=1"));
    ck_assert_str_eq(acted("share=0.5 seed=1"), first);
    snprintf(second, sizeof(second), "%s", acted("share=0.5 seed=2"));
    ck_assert_str_ne(second, first);
    proxy_rules(origin, "share=0.25 seed=9 do=status=500");
    const int fd = raw_connect(origin->port);
    for (int i = 0; i < 2000; i++) {
        struct raw_answer a = on(fd, "HEAD", "/file", "");
        raw_free(&a);
    }
    close(fd);
    ck_assert_int_gt(proxy_hits(origin, 0), 400);
    ck_assert_int_lt(proxy_hits(origin, 0), 600);
}

TEST(rules_add_up_and_the_later_counts)
{
    proxy_rules(origin, "do=header=A:1\n\n  do=status=500 \r\ndo=status=501 do=header=B:2\n");
    struct raw_answer a = get(origin, "/file", "");
    ck_assert_int_eq(a.status, 501);
    ck_assert_str_eq(raw_field(&a, "A"), "1");
    ck_assert_str_eq(raw_field(&a, "B"), "2");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(proxy_hits(origin, i), 1);
    proxy_reset(origin);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(proxy_hits(origin, i), 0);
    raw_free(&a);
}

TEST(a_rule_that_makes_no_sense_is_refused_and_changes_nothing)
{
    static const char *const texts[] = {
        "do=nothing",  "match=x", "do=short",       "do=short=x", "skip=x do=reset", "arg=1",
        "do=header=x", "do=",     "do=reset\nmuch", "do=delay",   "do=slow= arg",    "x"};
    proxy_rules(origin, "do=status=500");
    for (int i = 0; i < COUNT(texts); i++) {
        struct raw_answer a = raw_ask(origin->port, "POST", "/_proxy/rules", "", texts[i]);
        ck_assert_msg(a.status == 400, "%s: %d", texts[i], a.status);
        raw_free(&a);
        a = get(origin, "/file", "");
        ck_assert_int_eq(a.status, 500);
        raw_free(&a);
    }
}
