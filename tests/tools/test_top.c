/* tests/tools/test_top.c - Prometheus' text is read with mistrust, and rates are right. */
#include "tools/top/top_fetch.h"
#include "tools/top/top_rates.h"

#include "tests/support/suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CASE()

TEST(numbers_of_each_loader_are_found_by_its_labels)
{
    struct top_sample s[TOP_LOADERS];
    const char *text =
        "# HELP imrec_images_total Samples.\n# TYPE imrec_images_total counter\n"
        "imrec_images_total{rank=\"0\",ranks=\"2\",set=\"a \\\"b\\\"\\\\.rec\"} 17\n"
        "imrec_images_total{rank=\"1\",ranks=\"2\",set=\"c.rec\"} 18\n"
        "imrec_decode_seconds_total{rank=\"0\",ranks=\"2\",set=\"a \\\"b\\\"\\\\.rec\"}"
        " 2.500000000\n"
        "imrec_images_total_{rank=\"0\"} 99\nnode_load1 0.5\n";
    ck_assert_uint_eq(top_parse(text, 5, s, TOP_LOADERS), 2);
    ck_assert_str_eq(s[0].set, "a \"b\"\\.rec");
    ck_assert_str_eq(s[1].rank, "1");
    ck_assert_uint_eq(s[1].at_ns, 5);
    ck_assert_double_eq(s[0].is[TOP_IMAGES], 17);
    ck_assert_double_eq(s[0].is[TOP_DECODE], 2.5);
    ck_assert_double_eq(s[1].is[TOP_IMAGES], 18);
    ck_assert_double_eq(s[1].is[TOP_DECODE], 0);
}

TEST(what_is_no_number_or_no_label_is_passed_over)
{
    static const char *const texts[] = {
        "imrec_images_total 5\n",
        "imrec_images_total{ 5\n",
        "imrec_images_total{rank=\"0\n",
        "imrec_images_total{rank=\"0\\",
        "imrec_images_total{rank=0} 5\n",
        "imrec_images_total{rank=\"0\"}5\n",
        "imrec_images_total{rank=\"0\"",
        "imrec_",
        "\n\n{",
        "",
    };
    struct top_sample s[2];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_msg(top_parse(texts[i], 1, s, 2) == 0, "%s", texts[i]);
    ck_assert_uint_eq(top_parse("imrec_epoch{rank=\"0\"} nan\nimrec_sweep{x=\"1\"} 7\n"
                                "imrec_workers{rank=\"0\"} -3\n",
                                1, s, 2),
                      1);
    ck_assert(s[0].is[TOP_EPOCH] == 0 && s[0].is[TOP_WORKERS] == 0);
}

TEST(labels_and_loaders_are_bounded)
{
    struct top_sample s[TOP_LOADERS];
    static char text[20000];
    int n = snprintf(text, sizeof(text), "imrec_epoch{rank=\"%0300d\",set=\"", 7);
    memset(text + n, 'x', 5000);
    snprintf(text + n + 5000, 20, "\"} 3\n");
    ck_assert_uint_eq(top_parse(text, 1, s, TOP_LOADERS), 1);
    ck_assert_uint_eq(strlen(s[0].rank), sizeof(s[0].rank) - 1);
    ck_assert_uint_eq(strlen(s[0].set), sizeof(s[0].set) - 1);
    n = 0;
    for (int i = 0; i < 40; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "imrec_epoch{rank=\"%d\"} %d\n", i, i);
    ck_assert_uint_eq(top_parse(text, 1, s, TOP_LOADERS), TOP_LOADERS);
    ck_assert_double_eq(s[TOP_LOADERS - 1].is[TOP_EPOCH], TOP_LOADERS - 1);
}

static struct top_sample sample(double seconds, double images, double wait, double io)
{
    struct top_sample s = {.at_ns = (uint64_t)(seconds * 1e9)};
    s.is[TOP_IMAGES] = images;
    s.is[TOP_BATCHES] = images / 10;
    s.is[TOP_READ_BYTES] = 1e6 * images;
    s.is[TOP_CONSUMER_WAIT] = wait;
    s.is[TOP_IO_WAIT] = io;
    s.is[TOP_DECODE] = images / 100;
    s.is[TOP_WORKERS] = 4;
    return s;
}

TEST(rates_are_of_the_time_between)
{
    const struct top_sample a = sample(10, 100, 1, 0), b = sample(12, 300, 2, 0.6);
    struct top_rates r;
    top_compare(&a, &b, &r);
    ck_assert(r.known && r.limit == TOP_STORAGE); /* 0.25 of the workers' time is decoding */
    ck_assert_double_eq_tol(r.images_per_s, 100, 1e-9);
    ck_assert_double_eq_tol(r.read_mb_per_s, 100, 1e-9);
    ck_assert_double_eq_tol(r.loop_waits, 0.5, 1e-9);
    ck_assert_double_eq_tol(r.io_waits, 0.3, 1e-9);
    ck_assert_double_eq_tol(r.decode, 0.25, 1e-9);
}

TEST(the_limit_is_who_is_waited_for)
{
    static const struct {
        double images, wait, io;
        enum top_limit limit;
    } rows[] = {{200, 0.01, 0, TOP_LOOP},
                {200, 0.01, 1.9, TOP_LOOP}, /* the disk is slow, but fast enough */
                {200, 1, 0, TOP_CPUS},
                {200, 1, 1.9, TOP_STORAGE},
                {0, 0, 0, TOP_STOPPED}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct top_sample a = sample(10, 100, 1, 1);
        const struct top_sample b =
            sample(12, 100 + rows[i].images, 1 + rows[i].wait, 1 + rows[i].io);
        struct top_rates r;
        top_compare(&a, &b, &r);
        ck_assert_msg(r.limit == rows[i].limit, "row %zu: %s", i, top_limit_name(r.limit));
    }
}

TEST(a_loader_that_began_again_has_no_rates_yet)
{
    const struct top_sample a = sample(10, 100, 1, 0), b = sample(12, 50, 0, 0);
    struct top_rates r;
    top_compare(&a, &b, &r);
    ck_assert(!r.known);
    top_compare(&a, &a, &r);
    ck_assert(!r.known);
    top_compare(NULL, &a, &r);
    ck_assert(!r.known);
}

TEST(what_is_no_metrics_is_refused)
{
    static const char *const bad[] = {"/no/such",    "/tmp", "unix:/no/such",
                                      "127.0.0.1:1", ":9",   "unix:"};
    struct buf text = BUF_INIT(TOP_TEXT_BYTES + 1);
    struct imrec_error err;
    uint64_t at = 0;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(top_fetch(bad[i], &text, &at, &err) == IMREC_ERR_IO, "%s", bad[i]);
    char path[] = "/tmp/imrec-top-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)TOP_TEXT_BYTES + 1), 0);
    ck_assert_int_eq(top_fetch(path, &text, &at, &err), IMREC_ERR_LIMIT);
    ck_assert_int_eq(ftruncate(fd, (off_t)TOP_TEXT_BYTES), 0);
    ck_assert_int_eq(top_fetch(path, &text, &at, &err), IMREC_OK);
    ck_assert_uint_eq(text.n, TOP_TEXT_BYTES + 1);
    ck_assert(top_is_file(path) && !top_is_file("node1:9400") && top_is_file("./a:1"));
    close(fd);
    unlink(path);
    buf_free(&text);
}
