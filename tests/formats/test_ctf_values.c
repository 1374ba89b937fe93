/* tests/formats/test_ctf_values.c - every variant's values against the careful way's, to the last
 * bit, on tokens of every shape; the text ends at a page that cannot be read. */
#include "base/rng.h"
#include "formats/ctf/ctf_number.h"
#include "formats/ctf/ctf_values.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdio.h>

enum { TOKENS = 400, ROUNDS = 400, DIM = 123457 };

static uint64_t draw(uint64_t i, uint32_t k)
{
    return rng_block((struct rng_key){23, 5}, i, k, 0, RNG_AUGMENT).v[0];
}

static int put_digits(char *to, uint64_t r, int n)
{
    for (int i = 0; i < n; i++, r = r / 10 ^ r << 7)
        to[i] = (char)('0' + r % 10);
    to[n] = '\0';
    return n;
}

/* One of the shapes that a number, or what is none, can have. */
static void make_token(char *to, uint64_t r, uint64_t shape, uint64_t round)
{
    static const char *const odd[] = {"-",
                                      "+1",
                                      ".5",
                                      "5.",
                                      "-.5",
                                      "-5.",
                                      "1.2.3",
                                      "--1",
                                      "1-2",
                                      "1e5",
                                      "1e",
                                      "nan",
                                      "0x10",
                                      "1:2",
                                      ".",
                                      "-.",
                                      "1,5",
                                      "1.5e-3",
                                      "00000",
                                      "-0",
                                      "-0.0",
                                      "1/2",
                                      "1:",
                                      "9;9",
                                      "16777217",
                                      "16777219",
                                      "1.5.",
                                      "0.50000002980232238",
                                      "0.5000000298023223876953125",
                                      "9007199254740993",
                                      "900719925474099.3",
                                      "\x80",
                                      "1\xb5"};
    const unsigned kind = (unsigned)(shape % 16);
    int n = 0;
    if (kind == 0) {
        strcpy(to, odd[r % (sizeof(odd) / sizeof(odd[0]))]);
        return;
    }
    if (kind == 15) { /* the middle of two floats, or next to it */
        const int places = 1 + (int)(r >> 20 & 0xffff) % 10;
        const double middle = (double)(1 << 24 | (r >> 40) | 1) / (1 << places);
        (void)sprintf(to, "%.*f%s", places, middle, r % 3 == 0 ? "" : r % 3 == 1 ? "0" : "1");
        return;
    }
    if (kind == 14) { /* more digits than 64 bits hold */
        n = put_digits(to, r, 7);
        to[n++] = '.';
        (void)put_digits(to + n, r >> 3, 15);
        return;
    }
    if (kind < 6) { /* digits alone, often one */
        if (kind == 5 && r % 2 == 0)
            to[n++] = '-';
        (void)put_digits(to + n, r, kind < 4 ? 1 : 1 + (int)(r >> 50) % (round % 8 == 4 ? 6 : 18));
        return;
    }
    if (kind % 2 == 0)
        to[n++] = '-';
    n += put_digits(to + n, r, kind < 13 ? 1 + (int)(r >> 50) % 3 : 1 + (int)(r >> 50) % 17);
    to[n++] = '.';
    (void)put_digits(to + n, r >> 3, kind == 7 ? 6 : 1 + (int)(r >> 40) % 17);
}

struct line {
    char text[TOKENS * 64];
    size_t n;
    size_t begin[TOKENS]; /* of each token's number */
    uint64_t index[TOKENS];
};

/* "17:", now and then one that is out of bounds or no index. */
static int make_index(char *to, uint64_t r, uint64_t *index)
{
    static const uint64_t large[] = {DIM, DIM + 1, 99999999, 100000000005, 1u << 31};
    static const char *const odd[] = {"1-2:", ":", "-1:", "1.5:", "+7:", "1 :", "x:", "a1:"};
    *index = r % DIM;
    if (r >> 32 & 15)
        return sprintf(to, "%llu:", (unsigned long long)*index);
    *index = UINT64_MAX;
    if (r >> 36 & 1)
        return sprintf(to, "%s", odd[r >> 37 & 7]);
    return sprintf(to, "%llu:", (unsigned long long)large[(r >> 37) % 5]);
}

static void make_line(struct line *l, uint64_t round, bool sparse)
{
    static const char *const blanks[] = {" ", " ", " ", " ", " ", " ", "  ", "\t", " \t ", "    "};
    l->n = 0;
    for (unsigned i = 0; i < TOKENS; i++) {
        const uint64_t r = draw(round, 2 * i), shape = draw(round / 2, 2 * i + 1);
        char token[80];
        if (sparse)
            l->n += (size_t)make_index(l->text + l->n, r, &l->index[i]);
        l->begin[i] = l->n;
        make_token(token, r, shape, round);
        if (round % 4 == 0) /* all of a kind, as in most texts */
            make_token(token, r, round / 4 % 16, round);
        l->n += (size_t)sprintf(l->text + l->n, "%s", token);
        l->n +=
            (size_t)sprintf(l->text + l->n, "%s",
                            i + 1 < TOKENS ? blanks[round % 3 == 0 ? 0 : shape >> 8 & 7] : "\n");
    }
}

/* The bits of the number at p; false: there is none that the careful way takes. */
static bool careful(const uint8_t *p, size_t element, uint64_t *bits)
{
    struct ctf_number n;
    float f;
    double d;
    uint32_t low;
    const uint8_t *end = ctf_number_scan(p, &n);
    if (end == NULL || (*end != ' ' && *end != '\t' && *end != '\n'))
        return false;
    if (element == 4) {
        if (ctf_number_float(&n, p, end, &f) != CTF_ROUNDED)
            return false;
        memcpy(&low, &f, sizeof(low));
        *bits = low;
        return true;
    }
    if (ctf_number_double(&n, p, end, &d) != CTF_ROUNDED)
        return false;
    memcpy(bits, &d, sizeof(d));
    return true;
}

/* Whether the value decided is that of token i. */
static bool is_right(const struct line *l, const uint8_t *text, unsigned i, const uint8_t *value,
                     size_t element)
{
    uint64_t bits;
    return careful(text + l->begin[i], element, &bits) &&
           (element == 4 ? load_le32(value) : load_le64(value)) == bits;
}

static const uint8_t *next_token(const uint8_t *p)
{
    while (*p != ' ' && *p != '\t' && *p != '\n')
        p++;
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Lets a variant decide what it will, and passes what it does not; how many it decided. */
static unsigned check_line(const struct ctf_values *v, const struct line *l, const uint8_t *text,
                           bool sparse, unsigned kind)
{
    static uint8_t values[TOKENS * 8], indices[TOKENS * 4];
    const size_t element = kind == 0 ? 4 : 8;
    const uint8_t *at = text, *const safe = text + l->n - CTF_SAFE_BYTES;
    unsigned decided = 0;
    for (unsigned i = 0; i < TOKENS; at = next_token(at), i++) {
        const uint32_t n = sparse ? v->sparse[kind](&at, safe, values, indices, DIM)
                                  : v->dense[kind](&at, safe, values, TOKENS - i);
        ck_assert_uint_le(n, TOKENS - i);
        for (uint32_t k = 0; k < n; k++, i++)
            if (!is_right(l, text, i, values + k * element, element) ||
                (sparse && (load_le32(indices + 4 * k) != l->index[i] || l->index[i] >= DIM)))
                ck_abort_msg("%s: %.20s", v->name, (const char *)text + l->begin[i]);
        decided += n;
        if (i == TOKENS)
            break;
        if (sparse) /* "1 :" has a blank in it */
            at = text + l->begin[i];
        if (!sparse && at != text + l->begin[i])
            ck_abort_msg("%s: stopped beside %.20s", v->name, (const char *)text + l->begin[i]);
    }
    return decided;
}

CASE(.timeout = 60)

LOOP_TEST(all_that_a_variant_decides_is_what_the_careful_way_says, 0, 2) /* _i: dense, sparse */
{
    static struct line l;
    unsigned decided = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        make_line(&l, round, _i == 1);
        struct guarded g = guarded_copy(l.text, l.n);
        for (size_t k = 0; k < ctf_values_variant_count; k++)
            for (unsigned kind = 0; kind < 2 && cpu_has(ctf_values_variants[k].level); kind++)
                decided += check_line(&ctf_values_variants[k], &l, g.p, _i == 1, kind);
        guarded_free(g);
    }
    ck_assert_uint_gt(decided, ROUNDS * TOKENS); /* of twice to four times as many */
}

LOOP_TEST(a_loop_stops_where_it_is_told, 0, 36) /* _i: how many values are wanted */
{
    const char text[] =
        "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 "
        "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9\n";
    for (size_t k = 0; k < ctf_values_variant_count; k++) {
        float to[40];
        const uint8_t *at = (const uint8_t *)text;
        if (!cpu_has(ctf_values_variants[k].level))
            continue;
        for (int i = 0; i < 40; i++)
            to[i] = -1;
        const uint32_t n = ctf_values_variants[k].dense[0](
            &at, at + sizeof(text) - 1 - CTF_SAFE_BYTES, (uint8_t *)to, (uint32_t)_i);
        ck_assert_uint_eq(n, _i);
        ck_assert_ptr_eq(at, text + 2 * _i);
        for (int i = 0; i < _i; i++)
            ck_assert(to[i] == (float)(text[2 * i] - '0'));
        ck_assert(to[_i] == -1);
    }
}

/* One byte of digits and blanks is another one: what is decided ends before it, or at a
 * pipe, which ends a number. */
LOOP_TEST(a_loop_decides_nothing_behind_a_byte_that_is_none_of_a_number, 0, 32) /* _i: the byte */
{
    static const char others[] = ",|x-:\x00\x80";
    for (size_t k = 0; k < ctf_values_variant_count; k++)
        for (size_t other = 0; cpu_has(ctf_values_variants[k].level) && other < 7; other++) {
            char text[] = "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 "
                          "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6\n";
            float to[80];
            const uint8_t *at = (const uint8_t *)text;
            text[_i] = others[other];
            const uint32_t n = ctf_values_variants[k].dense[0](
                &at, at + sizeof(text) - 1 - CTF_SAFE_BYTES, (uint8_t *)to, 70);
            ck_assert_uint_le(n, (uint32_t)_i / 2 + (others[other] == '|' && _i % 2 == 1));
            for (uint32_t i = 0; i < n && 2 * i < (uint32_t)_i; i++)
                ck_assert(to[i] == (float)(text[2 * i] - '0'));
        }
}
