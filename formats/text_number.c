/*
 * formats/text_number.c - numbers in text formats, the same in every locale.
 *
 * A decimal is digits times a power of ten. Up to 15 digits and small powers are exact in
 * double arithmetic; everything else is left to the C library, as digits and an exponent without a
 * point, which read the same in every locale.
 */
#include "formats/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double text_powers[23] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

bool text_to_u64(struct bytes b, uint64_t *out)
{
    uint64_t v = 0;
    if (b.n == 0)
        return false;
    for (size_t i = 0; i < b.n; i++) {
        const unsigned digit = (unsigned)b.p[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    *out = v;
    return true;
}

size_t text_from_u64(uint64_t v, char out[20])
{
    char digits[20];
    size_t n = sizeof(digits);
    do
        digits[--n] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    memcpy(out, digits + n, sizeof(digits) - n);
    return sizeof(digits) - n;
}

/* ---- text to float ---------------------------------------------------------------------- */

/* A float's midpoint has at most 113 digits: more are remembered as "and something". */
enum { MAX_DIGITS = 120, TEXT_ROOM = MAX_DIGITS + 32 };

struct decimal {
    uint8_t digit[MAX_DIGITS + 1]; /* values 0..9, no leading zero */
    int count;
    int exponent; /* value = digits, as an integer, times 10^exponent */
    bool negative;
};

/* Few digits and a small power: each is a double, and their product is rounded once.
 * Rounding that again to float is wrong only where the double is a midpoint. */
static bool decimal_quickly(const struct decimal *d, float *out)
{
    if (d->count > 15 || d->exponent < -22 || d->exponent > 22)
        return false;
    uint64_t digits = 0, bits;
    for (int i = 0; i < d->count; i++)
        digits = 10 * digits + d->digit[i];
    const double v = d->exponent < 0 ? (double)digits / text_powers[-d->exponent]
                                     : (double)digits * text_powers[d->exponent];
    memcpy(&bits, &v, sizeof(bits));
    if ((bits & 0x1fffffff) == 0x10000000 || v < 0x1p-126) /* midpoint; or fewer bits than 24 */
        return false;
    *out = (float)v;
    return true;
}

static bool begins_with_digit(struct bytes b)
{
    return b.n > 0 && text_is_digit(b.p[0]);
}

static void drop(struct bytes *b)
{
    *b = (struct bytes){b->p + 1, b->n - 1};
}

static void add_digit(struct decimal *d, uint8_t digit, bool fraction)
{
    if (d->count == 0 && digit == 0) { /* a leading zero */
        d->exponent -= fraction;
    } else if (d->count < MAX_DIGITS) {
        d->digit[d->count++] = digit;
        d->exponent -= fraction;
    } else { /* beyond what can matter, but for its not being zero */
        d->digit[MAX_DIGITS] |= digit != 0;
        d->exponent += !fraction;
    }
}

static bool read_exponent(struct bytes *b, struct decimal *d)
{
    bool negative = false;
    int v = 0;
    drop(b);
    if (b->n > 0 && (b->p[0] == '+' || b->p[0] == '-')) {
        negative = b->p[0] == '-';
        drop(b);
    }
    if (!begins_with_digit(*b))
        return false;
    for (; begins_with_digit(*b); drop(b))
        v = v < 100000000 ? 10 * v + (b->p[0] - '0') : v;
    d->exponent += negative ? -v : v;
    return true;
}

static bool read_decimal(struct bytes b, struct decimal *d)
{
    bool any = begins_with_digit(b);
    for (; begins_with_digit(b); drop(&b))
        add_digit(d, b.p[0] - '0', false);
    if (b.n > 0 && b.p[0] == '.') {
        drop(&b);
        any = any || begins_with_digit(b);
        for (; begins_with_digit(b); drop(&b))
            add_digit(d, b.p[0] - '0', true);
    }
    if (any && b.n > 0 && (b.p[0] == 'e' || b.p[0] == 'E') && !read_exponent(&b, d))
        return false;
    return any && b.n == 0;
}

static bool is_word(struct bytes b, const char *word)
{
    for (; b.n > 0 && *word != '\0'; drop(&b), word++)
        if ((b.p[0] | 0x20) != *word)
            return false;
    return b.n == 0 && *word == '\0';
}

enum word { WORD_NUMBER, WORD_INFINITE, WORD_NAN, WORD_MALFORMED };

/* Sign, and the decimal after it, or inf, infinity, nan. */
static enum word read_word(struct bytes b, struct decimal *d)
{
    *d = (struct decimal){.negative = b.n > 0 && b.p[0] == '-'};
    if (b.n > 0 && (b.p[0] == '-' || b.p[0] == '+'))
        drop(&b);
    if (is_word(b, "nan"))
        return WORD_NAN;
    if (is_word(b, "inf") || is_word(b, "infinity"))
        return WORD_INFINITE;
    /* A file of gigabytes of digits would overflow the exponent's count. */
    if (b.n > 1u << 20 || !read_decimal(b, d))
        return WORD_MALFORMED;
    if (d->digit[MAX_DIGITS] != 0) { /* "and something", as one more digit */
        d->count++;
        d->exponent--;
    }
    return WORD_NUMBER;
}

static const char *spell(const struct decimal *d, char text[TEXT_ROOM])
{
    int n = 0;
    for (; n < d->count; n++)
        text[n] = (char)('0' + d->digit[n]);
    (void)snprintf(text + n, TEXT_ROOM - (size_t)n, "%se%d", n == 0 ? "0" : "", d->exponent);
    return text;
}

enum text_float text_to_float(struct bytes b, float *out)
{
    struct decimal d;
    char text[TEXT_ROOM];
    float v = 0;
    const enum word what = read_word(b, &d);
    if (what == WORD_MALFORMED)
        return TEXT_FLOAT_MALFORMED;
    if (what == WORD_NUMBER && d.count != 0 && !decimal_quickly(&d, &v))
        v = strtof(spell(&d, text), NULL);
    if (isinf(v))
        return TEXT_FLOAT_TOO_LARGE;
    if (what == WORD_INFINITE)
        v = INFINITY;
    *out = what == WORD_NAN ? NAN : d.negative ? -v : v;
    return TEXT_FLOAT_OK;
}

enum text_float text_to_double(struct bytes b, double *out)
{
    struct decimal d;
    char text[TEXT_ROOM];
    const enum word what = read_word(b, &d);
    if (what == WORD_MALFORMED)
        return TEXT_FLOAT_MALFORMED;
    const double v = what == WORD_NUMBER ? strtod(spell(&d, text), NULL)
                     : what == WORD_NAN  ? NAN
                                         : INFINITY;
    if (what == WORD_NUMBER && isinf(v))
        return TEXT_FLOAT_TOO_LARGE;
    *out = d.negative ? -v : v;
    return TEXT_FLOAT_OK;
}

/* Whether it is a whole number; then its digits end in no zero that the exponent could hold. */
static bool is_whole(struct decimal *d)
{
    while (d->count > 0 && d->digit[d->count - 1] == 0) {
        d->count--;
        d->exponent++;
    }
    return d->count == 0 || d->exponent >= 0;
}

/* The last 64 bits of a whole number. */
static uint64_t whole_of(const struct decimal *d)
{
    uint64_t v = 0;
    for (int i = 0; d->count != 0 && i < d->count + d->exponent; i++)
        v = 10 * v + (i < d->count ? d->digit[i] : 0);
    return v;
}

bool text_keeps_whole(struct bytes b, double v)
{
    enum { LARGEST = 20 }; /* digits of a number of 64 bits: more are a measure, not an id */
    struct decimal d;
    if (fabs(v) < 0x1p24 || read_word(b, &d) != WORD_NUMBER || !is_whole(&d) ||
        d.count + d.exponent > LARGEST)
        return true;
    return whole_of(&d) == (uint64_t)fmod(fabs(v), 0x1p64); /* they are nearer than 2^64 */
}

bool text_to_i64(struct bytes b, int64_t *out)
{
    struct decimal d;
    if (read_word(b, &d) != WORD_NUMBER || !is_whole(&d) || d.count + d.exponent > 19)
        return false;
    const uint64_t v = whole_of(&d); /* 19 digits fit 64 bits */
    if (v > (uint64_t)INT64_MAX + d.negative)
        return false;
    *out = d.negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* ---- float to text ---------------------------------------------------------------------- */

static bool reads_back(const char *s, size_t n, float v)
{
    float again;
    return text_to_float((struct bytes){(const uint8_t *)s, n}, &again) == TEXT_FLOAT_OK &&
           memcmp(&again, &v, sizeof(v)) == 0;
}

/* Sign, whole digits, whatever the locale takes for a point, then `decimals` digits and what
 * follows them: the same with '.'. Returns the length. */
static size_t plain_point(const char *s, int decimals, char *out)
{
    size_t whole = 0;
    while (s[whole] == '-' || (s[whole] >= '0' && s[whole] <= '9'))
        whole++;
    size_t tail = whole;
    while (decimals > 0 && (s[tail] < '0' || s[tail] > '9'))
        tail++;
    memcpy(out, s, whole);
    size_t n = whole;
    if (decimals > 0)
        out[n++] = '.';
    const size_t rest = strlen(s + tail);
    memcpy(out + n, s + tail, rest);
    return n + rest;
}

size_t text_from_float(float v, char out[TEXT_FLOAT_BYTES])
{
    char s[TEXT_FLOAT_BYTES + 16]; /* a locale's point may have several bytes */
    size_t n;
    if (isnan(v) || isinf(v)) {
        const char *word = isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
        memcpy(out, word, strlen(word));
        return strlen(word);
    }
    if (v >= 0 && v < 0x1p24f && v == (float)(uint32_t)v && !signbit(v)) { /* class numbers */
        n = text_from_u64((uint64_t)v, out);
        memcpy(out + n, ".000000", 7);
        return n + 7;
    }
    (void)snprintf(s, sizeof(s), "%.6f", (double)v);
    n = plain_point(s, 6, out);
    for (int decimals = 0; !reads_back(out, n, v) && decimals <= 8; decimals++) {
        (void)snprintf(s, sizeof(s), "%.*e", decimals, (double)v);
        n = plain_point(s, decimals, out);
    }
    return n;
}
