/* A line of the report is read back as it was written, and does nothing to a terminal. */
#include "base/alloc.h"
#include "im2rec/item/skip_report.h"
#include "tests/support/suite.h"

#include <string.h>

static struct buf line;

static void setup(void)
{
    line = BUF_INIT(1 << 20);
}

static void teardown(void)
{
    buf_free(&line);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct imrec_pack_skip there_and_back(struct bytes path, const char *why, uint64_t number)
{
    struct imrec_pack_skip s;
    const struct report_line l = {path, why, REASON_DAMAGED, number, 0};
    line.n = 0;
    ck_assert_int_eq(report_write(&line, &l, NULL), IMREC_OK);
    ck_assert(report_read((struct bytes){line.p, line.n}, &s));
    ck_assert_str_eq(s.code, "damaged");
    ck_assert_uint_eq(s.line, number);
    return s;
}

static const struct {
    const char *path, *why;
    enum reason reason;
    uint64_t number;
    uint32_t warnings;
    const char *line;
} lines[] = {
    {"a/b c.jpg", "is empty", REASON_EMPTY, 0, 0,
     "{\"path\":\"a/b c.jpg\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"is empty\"}"},
    {"", "", REASON_DAMAGED, UINT64_MAX, 7,
     "{\"path\":\"\",\"line\":18446744073709551615,\"result\":\"skipped\",\"code\":\"damaged\","
     "\"reason\":\"\"}"},
    {"\xff\xc3.jpg", "\"\\\n\x7f", REASON_NONE, 3, UINT32_MAX,
     "{\"path\":\"\\udcff\\udcc3.jpg\",\"line\":3,\"result\":\"mended\",\"warnings\":4294967295,"
     "\"reason\":\"\\\"\\\\\\u000a\\u007f\"}"},
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(a_line_has_these_bytes, 0, COUNT(lines))
{
    const struct report_line l = {{(const uint8_t *)lines[_i].path, strlen(lines[_i].path)},
                                  lines[_i].why,
                                  lines[_i].reason,
                                  lines[_i].number,
                                  lines[_i].warnings};
    ck_assert_int_eq(report_write(&line, &l, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&line, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)line.p, lines[_i].line);
}

TEST(any_bytes_of_a_path_are_read_back)
{
    uint8_t path[300];
    for (uint32_t seed = 0; seed < 2000; seed++) {
        uint32_t x = seed * 2654435761u + 1;
        const size_t n = 1 + seed % 299;
        for (size_t i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            path[i] = (uint8_t)(x >> 24);
            path[i] += path[i] == 0;
        }
        const struct imrec_pack_skip s = there_and_back((struct bytes){path, n}, "is empty", seed);
        ck_assert_uint_eq(strlen(s.path), n);
        ck_assert(memcmp(s.path, path, n) == 0);
        ck_assert_str_eq(s.reason, "is empty");
    }
}

TEST(what_reaches_a_terminal_cannot_move_it)
{
    static const char hostile[] = "\x1b[2J\xc2\x9b\x7f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8"
                                  "\xd8\x9c\xef\xbb\xbf\xff\r\n\t\"\\\xc3\xa9\xf0\x9f\x90\x9d";
    const struct bytes b = {(const uint8_t *)hostile, sizeof(hostile) - 1};
    ck_assert_int_eq(report_text(&line, b, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&line, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)line.p,
                     "\\u001b[2J\\u009b\\u007f\\u202e\\u2066\\u2028\\u061c\\ufeff\\udcff"
                     "\\u000d\\u000a\\u0009\\\"\\\\\xc3\xa9\xf0\x9f\x90\x9d");
    const struct imrec_pack_skip s = there_and_back(b, hostile, 0);
    ck_assert_str_eq(s.path, hostile);
    ck_assert_str_eq(s.reason, hostile);
}

TEST(of_a_long_path_the_end_is_kept)
{
    uint8_t path[2000];
    memset(path, 'a', sizeof(path));
    memcpy(path + sizeof(path) - 6, "/b.jpg", 6);
    const size_t room = sizeof(((struct imrec_pack_skip *)0)->path);
    for (size_t n = room - 3; n < room + 3; n++) {
        const uint8_t *begin = path + sizeof(path) - n;
        const struct imrec_pack_skip s = there_and_back((struct bytes){begin, n}, "is empty", 0);
        ck_assert_uint_eq(strlen(s.path), n < room ? n : room - 1);
        ck_assert_int_eq(strncmp(s.path, "...", 3) == 0, n >= room);
        ck_assert_str_eq(s.path + strlen(s.path) - 7, "a/b.jpg");
    }
    for (size_t i = 0; i + 2 < sizeof(path); i += 2) /* a character is never cut */
        memcpy(path + i, "\xc3\xa9", 2);
    const struct imrec_pack_skip s = there_and_back((struct bytes){path, 1501}, "is empty", 0);
    ck_assert(memcmp(s.path, "...\xc3\xa9", 5) == 0);
}

TEST(other_lines_are_none)
{
    static const char *const others[] = {
        "",
        "{}",
        "{\"path\":\"a\"}",
        "{\"path\":\"a\",\"result\":\"mended\",\"warnings\":3,\"reason\":\"b\"}",
        "{\"path\":\"a\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"",
        "{\"path\":\"a\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"}}",
        "{\"path\":\"a\\\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"}",
        "{\"path\":\"\\u00g0\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"}",
        "{\"path\":\"\\x\",\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"}",
        "{\"path\":\"a\",\"line\":x,\"result\":\"skipped\",\"code\":\"empty\",\"reason\":\"b\"}",
    };
    struct imrec_pack_skip s;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct bytes b = {(const uint8_t *)others[i], strlen(others[i])};
        ck_assert_msg(!report_read(b, &s), "%s", others[i]);
        ck_assert_str_eq(s.path, "");
    }
}
