/* tests/formats/test_record_index.c - lines as both originals read them, and lines that lie. */
#include "base/alloc.h"
#include "formats/recordio/record_index.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdio.h>

struct entry {
    uint64_t key, offset;
};

static enum imrec_status
read_all(const char *text, struct entry *out, size_t *n, uint64_t *line, struct imrec_error *err)
{
    struct guarded g = guarded_copy(text, strlen(text));
    struct index_cursor c;
    enum imrec_status st;
    record_index_begin(&c, "a.idx", (struct bytes){g.p, strlen(text)});
    for (*n = 0; (st = record_index_next(&c, &out[*n].key, &out[*n].offset, err)) == IMREC_OK;)
        ++*n;
    *line = c.line;
    guarded_free(g);
    return st;
}

static const char *const same[] = {
    "5\t0\n3\t16\n5\t8\n",
    "5\t0\r\n3\t16\r\n5\t8\r\n",
    "5\t0\r3\t16\r5\t8",
    "\n\n5\t0\n \t\n3\t16\r\n\r\n5\t8",
    "\357\273\2775\t0\n3\t16\n5\t8\n",
    " 5  0 \n\t3 \t 16\n5 8\t",
    "05\t00000000000000000000000\n3\t0000000000000000000000000000016\n5\t8\n\r\n\n\r",
};

LOOP_TEST(reads_keys_in_their_order_with_duplicates, 0, COUNT(same))
{
    struct entry e[8];
    size_t n;
    uint64_t line;
    ck_assert_int_eq(read_all(same[_i], e, &n, &line, NULL), IMREC_END);
    ck_assert_uint_eq(n, 3);
    ck_assert(e[0].key == 5 && e[0].offset == 0 && e[1].key == 3 && e[1].offset == 16);
    ck_assert(e[2].key == 5 && e[2].offset == 8);
}

TEST(an_empty_index_has_no_entries)
{
    struct entry e[1];
    size_t n;
    uint64_t line;
    ck_assert_int_eq(read_all("", e, &n, &line, NULL), IMREC_END);
    static const char *const blank[] = {"\n \r\n", " ", "\n \t", "\r", "\357\273\277"};
    for (size_t i = 0; i < sizeof(blank) / sizeof(blank[0]); i++)
        ck_assert_int_eq(read_all(blank[i], e, &n, &line, NULL), IMREC_END);
    struct index_cursor c;
    record_index_begin(&c, "a.idx", (struct bytes){NULL, 0});
    ck_assert_int_eq(record_index_next(&c, &e[0].key, &e[0].offset, NULL), IMREC_END);
}

TEST(numbers_have_all_64_bits)
{
    struct entry e[2];
    size_t n;
    uint64_t line;
    ck_assert_int_eq(read_all("18446744073709551615\t18446744073709551612\n"
                              "9999999999999999999\t9223372036854775808\n",
                              e, &n, &line, NULL),
                     IMREC_END);
    ck_assert(e[0].key == UINT64_MAX && e[0].offset == UINT64_MAX - 3);
    ck_assert(e[1].key == 9999999999999999999u && e[1].offset == 1ull << 63);
}

static const struct {
    const char *text, *says;
    uint64_t line, offset;
} bad[] = {
    {"1\t0\ncat\t8\n", "'cat' is not a key", 2, 4},
    {"1\t0\n\n-1\t8\n", "'-1' is not a key", 3, 5},
    {"18446744073709551616\t0\n", "is not a key", 1, 0},
    {"1\t0\n2\n", "'2' lacks an offset", 2, 4},
    {"1\t18446744073709551616\n", "is not an offset", 1, 0},
    {"1\t18446744073709551615\n", "not a multiple of 4", 1, 0},
    {"1\t-4\n", "'-4' is not an offset", 1, 0},
    {"1\t0x10\n", "'0x10' is not an offset", 1, 0},
    {"1\t4.0\n", "'4.0' is not an offset", 1, 0},
    {"1\t0\r2\t6\n", "offset 6 is not a multiple of 4", 2, 4},
    {"1\t0\t3\n", "'3' follows the offset", 1, 0},
    {"1\t0\x01\n", "is not an offset", 1, 0},
};

LOOP_TEST(a_bad_line_is_named_with_file_line_and_field, 0, COUNT(bad))
{
    struct entry e[8];
    size_t n;
    uint64_t line;
    struct imrec_error err = {0};
    ck_assert_int_eq(read_all(bad[_i].text, e, &n, &line, &err), IMREC_ERR_CORRUPT);
    ck_assert_uint_eq(line, bad[_i].line);
    ck_assert_uint_eq(err.offset, bad[_i].offset);
    ck_assert_msg(strstr(err.message, bad[_i].says) != NULL, "%s", err.message);
    char head[32];
    snprintf(head, sizeof(head), "a.idx line %d: ", (int)bad[_i].line);
    ck_assert_msg(strncmp(err.message, head, strlen(head)) == 0, "%s", err.message);
}

TEST(what_is_written_reads_back)
{
    static const struct entry all[] = {{0, 0}, {7, 4}, {UINT64_MAX, UINT64_MAX - 3}, {7, 1000}};
    struct buf out = BUF_INIT(1 << 12);
    struct entry e[8];
    size_t n;
    uint64_t line;
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(record_index_write(&out, all[i].key, all[i].offset, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&out, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)out.p,
                     "0\t0\n7\t4\n18446744073709551615\t18446744073709551612\n7\t1000\n");
    ck_assert_int_eq(read_all((const char *)out.p, e, &n, &line, NULL), IMREC_END);
    ck_assert_uint_eq(n, 4);
    ck_assert_mem_eq(e, all, sizeof(all));
    buf_free(&out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
