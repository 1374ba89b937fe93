/* Which records are what was packed, by their checksums: equal lengths, repetitions, disorder. */
#include "base/alloc.h"
#include "dataset/repair_match.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <string.h>

/* Checksums of records that are called by letters: all of 16 bytes, capitals of 24. */
struct made {
    struct buf file;
    struct checksums sums;
};

static uint32_t length_of(char c)
{
    return c < 'a' ? 24 : 16;
}

static struct made make(const char *letters)
{
    struct made m = {.file = BUF_INIT(1 << 16)};
    struct checksums_writer w;
    ck_assert_int_eq(checksums_begin(&w, &m.file, NULL), IMREC_OK);
    for (; *letters != '\0'; letters++)
        ck_assert_int_eq(checksums_add(&w, length_of(*letters), (uint32_t)*letters, &m.file, NULL),
                         IMREC_OK);
    ck_assert_int_eq(checksums_finish(&w, &m.file, NULL), IMREC_OK);
    ck_assert_int_eq(checksums_open("x", (struct bytes){m.file.p, m.file.n}, &m.sums, NULL),
                     IMREC_OK);
    return m;
}

static enum imrec_status
match(const char *packed, const char *found, bool unsure, char *answers, uint64_t *missing)
{
    static const char words[] = {
        [MATCH_SAME] = '=', [MATCH_DIFFERS] = '/', [MATCH_NONE] = '?', [MATCH_CHANGED] = '!'};
    struct made m = make(packed);
    struct repair_match r;
    uint64_t at = 0;
    enum imrec_status st = match_begin(&m.sums, unsure, &r, NULL);
    for (const char *c = found; st == IMREC_OK && *c != '\0'; at += length_of(*c++))
        st = match_look(&r, at, length_of(*c), (uint32_t)*c, NULL);
    if (st == IMREC_OK)
        st = match_end(&r, NULL);
    at = 0;
    for (const char *c = found; st == IMREC_OK && *c != '\0'; at += length_of(*c++))
        *answers++ = words[match_of(&r, at, length_of(*c), (uint32_t)*c)];
    *answers = '\0';
    *missing = r.missing;
    match_free(&r);
    buf_free(&m.file);
    return st;
}

static const struct {
    const char *packed, *found, *answers;
    uint64_t missing;
} cases[] = {
    {"abcd", "abcd", "====", 0},
    {"", "", "", 0},
    {"", "ab", "??", 0},
    {"abcd", "", "", 4},
    {"abcd", "axcd", "=/==", 1},   /* in the place of b: another one of its length */
    {"abcd", "axbcd", "=?===", 0}, /* between a and b nothing is wanted */
    {"abcd", "aXbcd", "=?===", 0}, /* likewise of another length */
    {"abcd", "aXcd", "=?==", 1},   /* in the place of b, but no b: its length is another one */
    {"abcd", "acd", "===", 1},     /* c and d stand where b and c stood */
    {"abcd", "acxd", "==?=", 1},   /* b is wanted before c, not behind it */
    {"aBcd", "aXcd", "=/==", 1},   /* lengths tell b from c */
    {"abcde", "xybcde", "//====", 1},
    {"aaab", "aab", "===", 1},      /* one of three equal ones */
    {"aaab", "aaaab", "===?=", 0},  /* one more than there were */
    {"abab", "baba", "====", 0},    /* all are there, in another order */
    {"abcd", "dxcba", "=?===", 0},  /* none is left, order or not */
    {"abcde", "exdcb", "=/===", 1}, /* a is left, and without an order it may be meant */
    {"abcd", "xxxx", "////", 4},
    {"abcd", "xxxxxx", "//////", 4}, /* nobody knows which of them */
    {"abcdefgh", "xabcdefgh", "?========", 0},
    {"abcdefgh", "abcdefghx", "========?", 0},
    {"abcdefgh", "abcxefgh", "===/====", 1},
    {"abcdefgh", "xabcyefgh", "?===/====", 1},
};

CASE(.timeout = 60)

LOOP_TEST(records_are_told_by_length_checksum_and_order, 0, COUNT(cases))
{
    char answers[32];
    uint64_t missing;
    ck_assert_int_eq(match(cases[_i].packed, cases[_i].found, false, answers, &missing), IMREC_OK);
    ck_assert_str_eq(answers, cases[_i].answers);
    ck_assert_uint_eq(missing, cases[_i].missing);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

TEST(damaged_checksums_accuse_nobody)
{
    char answers[32];
    uint64_t missing;
    ck_assert_int_eq(match("abcd", "axcd", true, answers, &missing), IMREC_OK);
    ck_assert_str_eq(answers, "=?==");
    ck_assert_uint_eq(missing, 0);
}

TEST(a_record_that_reads_otherwise_the_second_time_is_told)
{
    struct made m = make("abcd");
    struct repair_match r;
    ck_assert_int_eq(match_begin(&m.sums, false, &r, NULL), IMREC_OK);
    ck_assert_int_eq(match_look(&r, 0, 16, 'a', NULL), IMREC_OK);
    ck_assert_int_eq(match_look(&r, 16, 16, 'x', NULL), IMREC_OK);
    ck_assert_int_eq(match_end(&r, NULL), IMREC_OK);
    ck_assert_int_eq(match_of(&r, 0, 16, 'b'), MATCH_CHANGED);
    ck_assert_int_eq(match_of(&r, 16, 16, 'b'), MATCH_CHANGED);
    ck_assert_int_eq(match_of(&r, 32, 24, 'c'), MATCH_CHANGED);
    match_free(&r);
    buf_free(&m.file);
}

TEST(a_million_equal_records_are_matched_at_once)
{
    enum { MANY = 1000000 };
    struct made m = {.file = BUF_INIT(1 << 24)};
    struct checksums_writer w;
    struct repair_match r;
    ck_assert_int_eq(checksums_begin(&w, &m.file, NULL), IMREC_OK);
    for (int i = 0; i < MANY; i++)
        ck_assert(checksums_add(&w, 16, i % 3 == 0, &m.file, NULL) == IMREC_OK);
    ck_assert_int_eq(checksums_finish(&w, &m.file, NULL), IMREC_OK);
    ck_assert_int_eq(checksums_open("x", (struct bytes){m.file.p, m.file.n}, &m.sums, NULL),
                     IMREC_OK);
    ck_assert_int_eq(match_begin(&m.sums, false, &r, NULL), IMREC_OK);
    for (int i = 0; i < MANY; i++) /* one byte came in at the begin; some are others */
        if (match_look(&r, 1 + 16 * (uint64_t)i, 16, i % 100 == 0 ? 7 : i % 3 == 0, NULL) !=
            IMREC_OK)
            ck_abort();
    ck_assert_int_eq(match_end(&r, NULL), IMREC_OK);
    ck_assert_uint_eq(r.missing, MANY / 100);
    match_free(&r);
    buf_free(&m.file);
}

TEST(no_allocation_that_fails_leaks)
{
    struct made m = make("abcd");
    char answers[32];
    uint64_t missing;
    STARVING(memory)
    {
        struct repair_match r = {0};
        memory.st = match_begin(&m.sums, false, &r, NULL);
        if (memory.st == IMREC_OK)
            memory.st = match_look(&r, 4, 16, 'a', NULL);
        if (memory.st == IMREC_OK)
            memory.st = match_end(&r, NULL);
        match_free(&r);
    }
    buf_free(&m.file);
    ck_assert_int_eq(match("a", "a", false, answers, &missing), IMREC_OK);
}
