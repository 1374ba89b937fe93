/*
 * formats/ctf/ctf_number.c - decimal numbers in text to float and double, correctly rounded.
 *
 * Few digits and a small power of ten are exact in floating point, so that one multiplication or
 * division rounds once (Clinger, "How to Read Floating Point Numbers Accurately", 1990). A float
 * out of a double that was rounded right is right, too, unless the double lies in the middle
 * between two floats, where what was rounded away decides. The same goes for the 64 bits of the
 * x87's registers, which hold 19 digits. The rest is left to the C library.
 */
#include "formats/ctf/ctf_number.h"

#include "formats/ctf/ctf_fast.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "a product is rounded to its own type");

enum { MOST_DIGITS = 19, EXACT_DOUBLE = 22, EXACT_FLOAT = 10, LONG_TEXT = 1024, KEPT_DIGITS = 800 };

/* ---- scanning ---------------------------------------------------------------------------- */

/* Digits at p; *used counts those in n->digits, leading zeros not among them. */
static const uint8_t *scan_digits(const uint8_t *p, struct ctf_number *n, int *used, bool fraction)
{
    for (; text_is_digit(*p); p++) {
        if (*used < MOST_DIGITS) {
            n->digits = 10 * n->digits + (uint64_t)(*p - '0');
            *used += n->digits != 0;
            n->power -= fraction;
        } else {
            n->cut |= *p != '0';
            n->power += !fraction;
        }
    }
    return p;
}

static const uint8_t *scan_exponent(const uint8_t *p, struct ctf_number *n)
{
    int64_t e = 0;
    const bool negative = p[1] == '-';
    p += 1 + (negative || p[1] == '+');
    if (!text_is_digit(*p))
        return NULL;
    for (; text_is_digit(*p); p++)
        e = e < 100000000 ? 10 * e + (*p - '0') : e; /* larger than any text is long */
    n->power += negative ? -e : e;
    return p;
}

const uint8_t *ctf_number_scan(const uint8_t *p, struct ctf_number *out)
{
    int used = 0;
    *out = (struct ctf_number){.negative = *p == '-'};
    p += *p == '-' || *p == '+';
    const uint8_t *begin = p;
    p = scan_digits(p, out, &used, false);
    bool any = p > begin;
    if (*p == '.') {
        begin = ++p;
        p = scan_digits(p, out, &used, true);
        any |= p > begin;
    }
    if (!any)
        return NULL;
    return *p == 'e' || *p == 'E' ? scan_exponent(p, out) : p;
}

/* ---- what the fast ways leave ------------------------------------------------------------ */

/* The number as digits and an exponent, which read the same in every locale. Digits after the
 * first 800 only matter as zero or not: no middle between two doubles has as many. */
static const char *
shorten(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, char out[LONG_TEXT])
{
    size_t used = 0;
    int64_t digits = 0, power = 0;
    bool fraction = false, more = false, begun = false;
    if (n->negative)
        out[used++] = '-';
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        fraction |= *p == '.';
        if (!text_is_digit(*p))
            continue;
        begun |= *p != '0';
        power -= fraction;
        if (!begun)
            continue;
        if (digits++ < KEPT_DIGITS)
            out[used++] = (char)*p;
        else {
            more |= *p != '0';
            power++;
        }
    }
    if (more) {
        out[used++] = '1';
        power--;
    }
    struct ctf_number exponent = {0};
    if (p < end)
        (void)scan_exponent(p, &exponent);
    power += exponent.power;
    out[used++] = 'e';
    if (power < 0)
        out[used++] = '-';
    used += text_from_u64(power < 0 ? (uint64_t)-power : (uint64_t)power, out + used);
    out[used] = '\0';
    return out;
}

/* ---- 64 bits of mantissa ------------------------------------------------------------------- */

#if LDBL_MANT_DIG == 64
enum { EXACT_LONG = 27 };
static const long double long_powers[EXACT_LONG + 1] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
    1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
    1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L,
};

/* All 19 digits are exact, and so is the power: rounded once to 64 bits. What these are rounded to
 * is the nearest value, too, unless they are the middle of two: the bits that go are 100...0. */
static bool exact_long(const struct ctf_number *n, unsigned bits_kept, long double *out)
{
    uint64_t mantissa;
    if (n->cut || n->digits == 0 || n->power < -EXACT_LONG || n->power > EXACT_LONG)
        return false;
    const long double v = (long double)n->digits;
    const long double r = n->power < 0 ? v / long_powers[-n->power] : v * long_powers[n->power];
    memcpy(&mantissa, &r, sizeof(mantissa));
    *out = n->negative ? -r : r;
    return mantissa << bits_kept != (uint64_t)1 << 63;
}
#else
static bool exact_long(const struct ctf_number *n, unsigned bits_kept, long double *out)
{
    (void)n, (void)bits_kept, (void)out;
    return false;
}
#endif

static struct ctf_number number_of(const struct ctf_fast *n)
{
    return (struct ctf_number){
        .digits = n->digits, .power = -(int64_t)n->places, .negative = n->negative};
}

bool ctf_long_double(const struct ctf_fast *n, double *out)
{
    const struct ctf_number number = number_of(n);
    long double v;
    const bool decided = exact_long(&number, DBL_MANT_DIG, &v);
    *out = decided ? (double)v : 0;
    return decided;
}

bool ctf_long_float(const struct ctf_fast *n, float *out)
{
    const struct ctf_number number = number_of(n);
    long double v;
    const bool decided = exact_long(&number, FLT_MANT_DIG, &v);
    *out = decided ? (float)v : 0;
    return decided;
}

/* ---- to double --------------------------------------------------------------------------- */

static bool exact_double(const struct ctf_number *n, double *out)
{
    if (n->cut || n->digits > (uint64_t)1 << 53)
        return false;
    if (n->digits == 0) {
        *out = n->negative ? -0.0 : 0.0;
        return true;
    }
    if (n->power < -EXACT_DOUBLE || n->power > EXACT_DOUBLE)
        return false;
    const double v = (double)n->digits;
    const double r = n->power < 0 ? v / text_powers[-n->power] : v * text_powers[n->power];
    *out = n->negative ? -r : r;
    return true;
}

enum ctf_rounding
ctf_number_double(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, double *out)
{
    char text[LONG_TEXT];
    long double v;
    if (exact_double(n, out))
        return CTF_ROUNDED;
    if (exact_long(n, DBL_MANT_DIG, &v))
        *out = (double)v;
    else
        *out = strtod(shorten(n, p, end, text), NULL);
    return isinf(*out) ? CTF_TOO_LARGE : CTF_ROUNDED;
}

/* ---- to float ---------------------------------------------------------------------------- */

static bool exact_float(const struct ctf_number *n, float *out)
{
    if (n->cut || n->digits > 1u << 24 || n->power < -EXACT_FLOAT || n->power > EXACT_FLOAT)
        return false;
    const float v = (float)n->digits;
    const float r =
        n->power < 0 ? v / (float)text_powers[-n->power] : v * (float)text_powers[n->power];
    *out = n->negative ? -r : r;
    return true;
}

/* Whether a rounded double says nothing about the nearest float: it is the middle of two, or so
 * small that floats are further apart than usual. */
static bool undecided(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return (bits & 0x1fffffff) == 0x10000000 || fabs(v) < (double)FLT_MIN;
}

enum ctf_rounding
ctf_number_float(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, float *out)
{
    char text[LONG_TEXT];
    double v;
    long double w;
    if (exact_float(n, out))
        return CTF_ROUNDED;
    if (exact_double(n, &v) && (v == 0 || !undecided(v)))
        *out = (float)v;
    else if (exact_long(n, FLT_MANT_DIG, &w)) /* from 1e-27 on: floats are as dense as usual */
        *out = (float)w;
    else
        *out = strtof(shorten(n, p, end, text), NULL);
    return isinf(*out) ? CTF_TOO_LARGE : CTF_ROUNDED;
}
