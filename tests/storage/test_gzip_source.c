/* tests/storage/test_gzip_source.c - a file that gzip has packed is read at any place as if it were
 * unpacked; what is wrong with it ends its bytes where it is, with a sentence. */
#include "base/alloc.h"
#include "storage/mem.h"
#include "storage/packed/gzip_source.h"
#include "tests/support/gzips.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#define LARGE ((size_t)24 << 20)

static struct imrec_error err;
static struct buf packed;
static uint8_t *plain;
static size_t plain_n;

static void setup(void)
{
    packed = BUF_INIT((size_t)1 << 27);
    plain = NULL;
}

static void teardown(void)
{
    buf_free(&packed);
    free(plain);
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Parts cannot be packed; others are those of 20000 bytes before, or one byte again and again. */
static void make_plain(size_t n)
{
    uint32_t v = 1;
    plain = malloc(n);
    plain_n = n;
    for (size_t i = 0; i < n; i++) {
        v = v * 1664525u + 1013904223u;
        plain[i] = i / 5000 % 3 == 0   ? (uint8_t)(v >> 24)
                   : i / 5000 % 3 == 1 ? (uint8_t)(i / 300)
                   : i < 20000         ? 0
                                       : plain[i - 20000];
    }
}

static struct source *open_packed(void)
{
    struct source *inner, *s;
    ck_assert_int_eq(mem_put("a.gz", packed.p, packed.n, &err), IMREC_OK);
    ck_assert_int_eq(source_open("mem://a.gz", &inner, &err), IMREC_OK);
    ck_assert_int_eq(gzip_source_open(inner, "a.gz", false, &s, &err), IMREC_OK);
    return s;
}

static void expect_bytes(struct source *s, size_t at, size_t n)
{
    uint8_t *got = malloc(n + 1);
    const enum imrec_status st = source_read(s, at, got, n, &err);
    ck_assert_msg(st == IMREC_OK, "%zu bytes at %zu: %s", n, at, err.message);
    ck_assert_msg(memcmp(got, plain + at, n) == 0, "%zu bytes at %zu are others", n, at);
    free(got);
}

CASE(.timeout = 300, .setup = setup, .teardown = teardown)

LOOP_TEST(bytes_are_read_in_any_order, 0, 2)
{
    static const int levels[] = {0, 6};
    uint32_t v = 7;
    make_plain(LARGE);
    for (size_t at = 0; at < LARGE; at += LARGE / 4) /* members */
        gzip_put(&packed, plain + at, LARGE / 4, levels[_i]);
    static const uint8_t zeros[1000];
    ck_assert_int_eq(buf_append(&packed, zeros, sizeof(zeros), &err), IMREC_OK);
    struct source *s = open_packed();
    for (int i = 0; i < 150; i++) {
        v = v * 1664525u + 1013904223u;
        const size_t at = i % 10 == 0 ? v % LARGE : (v % 2000 + (size_t)i * 250000) % LARGE;
        const size_t n = i % 7 == 0 ? 3000000 : v >> 16;
        expect_bytes(s, at, n < LARGE - at ? n : LARGE - at);
    }
    ck_assert_uint_eq(gzip_source_reach(s, LARGE), LARGE);
    ck_assert_uint_eq(gzip_source_reach(s, UINT64_MAX), LARGE);
    ck_assert_int_eq(gzip_source_damage(s, &err), IMREC_OK);
    expect_bytes(s, 0, LARGE);
    uint8_t one;
    ck_assert_int_eq(source_read(s, LARGE, &one, 1, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "fewer than when it was listed"));
    source_close(s);
}

TEST(a_file_of_any_size_is_held_in_the_same_memory)
{
    static uint8_t zeros[1 << 20];
    for (int i = 0; i < 300; i++) /* more places than are kept */
        gzip_put(&packed, zeros, sizeof(zeros), 9);
    struct source *s = open_packed();
    ck_assert_uint_eq(gzip_source_reach(s, UINT64_MAX), sizeof(zeros) * (uint64_t)300);
    plain = calloc(1, 100);
    for (uint64_t at = 299; at > 13; at -= 13) {
        uint8_t got[100];
        const enum imrec_status st = source_read(s, at << 20, got, sizeof(got), &err);
        ck_assert_msg(st == IMREC_OK, "at %d MiB: %s", (int)at, err.message);

        ck_assert_int_eq(memcmp(got, plain, sizeof(got)), 0);
    }
    source_close(s);
}

static void expect_damage(const char *words, uint64_t least)
{
    struct source *s = open_packed();
    const uint64_t n = gzip_source_reach(s, UINT64_MAX);
    ck_assert_msg(gzip_source_damage(s, &err) == IMREC_ERR_CORRUPT, "it is taken for whole: %s",
                  words);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s: %s", words, err.message);
    ck_assert_uint_eq(err.offset, n);
    ck_assert_msg(n >= least && n <= plain_n, "%d bytes: %s", (int)n, words);
    expect_bytes(s, 0, (size_t)n);
    uint8_t one;
    ck_assert_int_eq(source_read(s, n, &one, 1, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "a.gz: the gzip around the archive") != NULL, "%s",
                  err.message);
    source_close(s);
}

TEST(what_is_wrong_ends_the_bytes_where_it_is)
{
    make_plain(100000);
    gzip_put(&packed, plain, plain_n, 6);
    const size_t whole = packed.n;
    static const size_t cuts[] = {1, 4, 8, 9, 1000, 30000};
    for (size_t i = 0; i < COUNT(cuts); i++) {
        packed.n = whole - cuts[i];
        expect_damage("is cut off: byte", i < 3 ? plain_n : 1000);
    }
    packed.n = 5;
    expect_damage("is cut off: byte 5 of 5", 0);
    packed.n = whole;
    packed.p[whole - 6] ^= 1;
    expect_damage("is damaged before byte", plain_n);
    packed.p[whole - 6] ^= 1;
    ck_assert_int_eq(buf_append(&packed, "x", 1, &err), IMREC_OK);
    expect_damage("is followed by other bytes from byte", plain_n);
    packed.p[whole] = 0;
    ck_assert_int_eq(buf_append(&packed, "\x1f", 1, &err), IMREC_OK);
    expect_damage("is followed by other bytes from byte", plain_n);
    packed.n = whole;
    memset(packed.p + whole / 2, 0xff, 64); /* other bytes may come of it before it is found */
    struct source *s = open_packed();
    (void)gzip_source_reach(s, UINT64_MAX);
    ck_assert_int_eq(gzip_source_damage(s, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "the gzip around the archive is damaged before"));
    source_close(s);
}

TEST(a_member_after_zeros_is_not_read_at_a_second_try)
{
    static const uint8_t zeros[10];
    make_plain(1000);
    gzip_put(&packed, plain, plain_n, 6);
    ck_assert_int_eq(buf_append(&packed, zeros, sizeof(zeros), &err), IMREC_OK);
    gzip_put(&packed, plain, plain_n, 6);
    expect_damage("is followed by other bytes from byte", plain_n);
}

/* Appends a code of 8 bits, whose first bit is the highest one, after `*bits` bits of a block. */
static void put_code(unsigned *bits, unsigned code)
{
    for (int i = 7; i >= 0; i--, ++*bits) {
        if (*bits % 8 == 0)
            ck_assert_int_eq(buf_append(&packed, "", 1, &err), IMREC_OK);
        packed.p[packed.n - 1] |= (uint8_t)((code >> i & 1) << *bits % 8);
    }
}

TEST(all_bytes_before_damage_are_read_however_many_are_asked_for)
{
    enum { LETTERS = 40, LETTER_A = 0x30 + 'a', NO_LENGTH = 0xc6 }; /* of the fixed codes */
    plain_n = LETTERS;
    plain = malloc(plain_n);
    memset(plain, 'a', plain_n);
    ck_assert_int_eq(buf_append(&packed, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03", 11, &err), IMREC_OK);
    unsigned bits = 3; /* the last block, of fixed codes */
    for (int i = 0; i < LETTERS; i++)
        put_code(&bits, LETTER_A);
    put_code(&bits, NO_LENGTH);
    for (size_t n = 1; n <= plain_n; n++) {
        struct source *s = open_packed();
        expect_bytes(s, plain_n - n, n);
        source_close(s);
    }
    expect_damage("is damaged before byte", plain_n);
}

/* zlib has taken in bytes whose run is longer than what is asked for. */
TEST(all_bytes_before_a_cut_are_read_however_many_are_asked_for)
{
    make_plain(30000);
    gzip_put(&packed, plain, plain_n, 9);
    const size_t whole = packed.n;
    for (size_t cut = 20; cut < whole; cut += 7) {
        packed.n = cut;
        struct source *s = open_packed();
        const size_t there = (size_t)gzip_source_reach(s, plain_n);
        source_close(s);
        s = open_packed();
        for (size_t at = 0; at < there; at += 100)
            expect_bytes(s, at, there - at < 100 ? there - at : 100);
        ck_assert_int_ne(source_read(s, there, plain, 1, &err), IMREC_OK);
        ck_assert_msg(strstr(err.message, "is cut off") != NULL, "%s", err.message);
        source_close(s);
    }
}

TEST(lacking_memory_is_an_error_or_a_longer_way)
{
    make_plain((size_t)5 << 20);
    gzip_put(&packed, plain, plain_n, 1);
    ck_assert_int_eq(mem_put("a.gz", packed.p, packed.n, &err), IMREC_OK);
    uint8_t *got = malloc(plain_n);
    STARVING_SOME(x)
    {
        struct source *inner, *s = NULL;
        x.st = source_open("mem://a.gz", &inner, &err);
        if (x.st == IMREC_OK)
            x.st = gzip_source_open(inner, "a.gz", false, &s, &err);
        if (x.st == IMREC_OK)
            x.st = source_read(s, 4000000, got, 1000000, &err);
        if (x.st == IMREC_OK)
            x.st = source_read(s, 0, got, plain_n, &err);
        ck_assert(x.st != IMREC_OK || memcmp(got, plain, plain_n) == 0);
        source_close(s);
    }
    free(got);
}
