/* formats/ctf/ctf_fast.h - the most common numbers, eight bytes at a time: up to 7 digits, a point,
 * up to 15 more, no exponent. 40 bytes must be readable from the number's first on. Other numbers
 * are left to ctf_number.h; both agree to the bit.
 *
 * Digits in a word: Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 4. */
#ifndef IMREC_FORMATS_CTF_CTF_FAST_H
#define IMREC_FORMATS_CTF_CTF_FAST_H

#include "formats/ctf/ctf_line.h"

#define CTF_INLINE static inline __attribute__((always_inline)) /* a call costs as much */

/* The digits at p: how many (at most 8), and their value. */
CTF_INLINE unsigned ctf_fast_digits(const uint8_t *p, uint64_t *value)
{
    const uint64_t w = load_le64(p) ^ 0x3030303030303030u;
    const uint64_t other = ((w + 0x7676767676767676u) | w) & 0x8080808080808080u;
    const unsigned n = other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
    uint64_t v = w << 8 * ((8 - n) & 7); /* zeros go before them */
    v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    *value = (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
    return n;
}

struct ctf_fast {
    uint64_t digits; /* +-digits / 10^places */
    unsigned places; /* at most 18 */
    bool negative;
};

/* The end of the number at p, or NULL: not of this kind. */
CTF_INLINE const uint8_t *ctf_fast_scan(const uint8_t *p, struct ctf_fast *out)
{
    static const uint64_t tens[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t more;
    out->negative = *p == '-';
    p += out->negative;
    const unsigned n = ctf_fast_digits(p, &out->digits);
    out->places = 0;
    if (n - 1 > 6)
        return NULL;
    p += n;
    if (*p != '.')
        return p;
    const unsigned m = ctf_fast_digits(++p, &more);
    out->places = m;
    if (m < 8) {
        out->digits = out->digits * tens[m] + (m == 0 ? 0 : more);
        return p + m;
    }
    out->digits = out->digits * 100000000 + more;
    unsigned k = ctf_fast_digits(p += 8, &more);
    if (k == 8) { /* n + 16 digits so far */
        out->digits = out->digits * 100000000 + more;
        out->places = 16;
        k = ctf_fast_digits(p += 8, &more);
    }
    out->places += k;
    if (n + out->places > 19 || k == 8)
        return NULL;
    out->digits = out->digits * tens[k] + (k == 0 ? 0 : more);
    return p + k;
}

/* The same where the end of a number follows it; a line end that has a CR is left to the careful
 * way. */
CTF_INLINE const uint8_t *ctf_fast_number(const uint8_t *p, struct ctf_fast *out)
{
    p = ctf_fast_scan(p, out);
    return p != NULL && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '|') ? p : NULL;
}

/* The same after an index below 10^7 and a colon. */
CTF_INLINE const uint8_t *ctf_fast_pair(const uint8_t *p, uint64_t *index, struct ctf_fast *out)
{
    const unsigned n = ctf_fast_digits(p, index);
    return n - 1 > 6 || p[n] != ':' ? NULL : ctf_fast_number(p + n + 1, out);
}

/* ctf_number.c: what has too many digits for doubles. false: not decided. */
bool ctf_long_double(const struct ctf_fast *n, double *out);
bool ctf_long_float(const struct ctf_fast *n, float *out);

/* false: not decided. */
CTF_INLINE bool ctf_fast_double(const struct ctf_fast *n, double *out)
{
    uint64_t bits;
    if (n->digits > (uint64_t)1 << 53)
        return ctf_long_double(n, out);
    const double v = (double)(int64_t)n->digits / text_powers[n->places]; /* of exact values */
    memcpy(&bits, &v, sizeof(bits));
    bits ^= (uint64_t)n->negative << 63; /* no branch: signs come as they like */
    memcpy(out, &bits, sizeof(bits));
    return true;
}

/* The same. A product with a rounded 10^-n is at most two units off, and many times faster than a
 * division: it gives the nearest float unless it is that near to the middle of two. */
CTF_INLINE bool ctf_fast_float(const struct ctf_fast *n, float *out)
{
    static const double tenths[19] = {1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,
                                      1e-7,  1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13,
                                      1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
    uint64_t bits;
    if (n->digits > (uint64_t)1 << 53)
        return ctf_long_float(n, out);
    const double v = (double)(int64_t)n->digits * tenths[n->places];
    memcpy(&bits, &v, sizeof(bits));
    const float f = (float)v;
    uint32_t b;
    memcpy(&b, &f, sizeof(b));
    b ^= (uint32_t)n->negative << 31; /* no branch: signs come as they like */
    memcpy(out, &b, sizeof(b));
    return ((bits - 0x0ffffffc) & 0x1fffffff) > 8;
}

/* Whether "d d d d " is at p: four digits with a blank after each; *digits has them in bytes
 * 0, 2, 4 and 6. */
CTF_INLINE bool ctf_fast_four(const uint8_t *p, uint64_t *digits)
{
    const uint64_t w = load_le64(p) ^ 0x2030203020302030u;
    *digits = w;
    return (((w + 0x0076007600760076u) | w) & 0xff80ff80ff80ff80u) == 0;
}

/* The number as an element of 4 or 8 bytes; false: it is not decided, and *to is 0. */
CTF_INLINE bool ctf_fast_put(const struct ctf_fast *n, uint8_t *to, size_t element)
{
    float f = 0;
    double d = 0;
    const bool decided = element == 4 ? ctf_fast_float(n, &f) : ctf_fast_double(n, &d);
    memcpy(to, element == 4 ? (const void *)&f : (const void *)&d, element);
    return decided;
}

#endif
