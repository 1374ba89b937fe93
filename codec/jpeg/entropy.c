/* codec/jpeg/entropy.c - entropy-coded data without their stuffing, a restart interval at a
 * time. */
#include "codec/jpeg/entropy.h"

#include <string.h>

/* The code after fill bytes, of which *p is one, and moves past it; 0: there is none. Data after
 * them, that is 0, libjpeg-turbo may decode with coefficients of a first attempt. */
static uint8_t after_fill(const uint8_t **p, const uint8_t *end)
{
    while (*p < end && **p == 0xFF)
        ++*p;
    return *p < end ? *(*p)++ : 0;
}

/* Copies data up to the next marker to `out`; NULL: nowhere. Returns the marker, *used the bytes
 * with it; 0: there is none. */
static uint8_t to_marker(struct bytes from, uint8_t *out, size_t *n, size_t *used)
{
    const uint8_t *p = from.p, *const end = from.p + from.n;
    const uint8_t *ff;
    *n = 0;
    while (p < end && (ff = memchr(p, 0xFF, (size_t)(end - p))) != NULL && end - ff >= 2) {
        const size_t length = (size_t)(ff - p) + (ff[1] == 0); /* a stuffed 0xFF is one of them */
        if (out != NULL)
            memcpy(out + *n, p, length);
        *n += length;
        p = ff + 2;
        if (ff[1] != 0) {
            const uint8_t marker = ff[1] == 0xFF ? after_fill(&p, end) : ff[1];
            *used = (size_t)(p - from.p);
            return marker;
        }
    }
    return 0;
}

uint32_t intervals_mcus(const struct intervals *v)
{
    return v->restart == 0 || v->restart > v->mcus_left ? v->mcus_left : v->restart;
}

/* Whether a marker may follow the next interval. */
static bool is_expected(const struct intervals *v, uint8_t marker, bool is_last)
{
    if (!is_last)
        return marker == ENTROPY_RESTART + v->number % 8;
    if (!v->to_segment)
        return marker == ENTROPY_END;
    return marker != 0 && (marker < ENTROPY_RESTART || marker >= ENTROPY_RESTART + 8);
}

static bool pass(struct intervals *v, uint8_t *out, size_t *n)
{
    size_t used = 0;
    const uint32_t mcus = intervals_mcus(v);
    const bool is_last = mcus == v->mcus_left;
    if (!is_expected(v, to_marker(v->left, out, n, &used), is_last))
        return false;
    if (is_last && v->to_segment)
        used -= 2;
    v->number++;
    v->mcus_left -= mcus;
    v->left = (struct bytes){v->left.p + used, v->left.n - used};
    return true;
}

bool intervals_unstuff(struct intervals *v, uint8_t *out, size_t *n, size_t padding)
{
    if (!pass(v, out, n))
        return false;
    memset(out + *n, 0, padding);
    return true;
}

bool intervals_pass(struct intervals *v)
{
    size_t n;
    return pass(v, NULL, &n);
}
