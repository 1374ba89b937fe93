/* codec/jpeg/entropy.c - entropy-coded data without their stuffing, a restart interval at a
 * time. */
#include "codec/jpeg/entropy.h"

#include <string.h>

/* Copies data up to the next marker to `out`; NULL: nowhere. Returns the marker, *used the bytes
 * with it; 0: there is none, or it is preceded by fill bytes. */
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
            *used = (size_t)(p - from.p);
            return ff[1] == 0xFF ? 0 : ff[1];
        }
    }
    return 0;
}

uint8_t entropy_unstuff(struct bytes from, uint8_t *out, size_t *n, size_t *used)
{
    const uint8_t marker = to_marker(from, out, n, used);
    if (marker != 0)
        memset(out + *n, 0, ENTROPY_PADDING);
    return marker;
}

uint32_t intervals_mcus(const struct intervals *v)
{
    return v->restart == 0 || v->restart > v->mcus_left ? v->mcus_left : v->restart;
}

static bool pass(struct intervals *v, uint8_t *out, size_t *n)
{
    size_t used;
    const uint32_t mcus = intervals_mcus(v);
    const uint8_t marker = to_marker(v->left, out, n, &used);
    if (marker != (mcus == v->mcus_left ? ENTROPY_END : ENTROPY_RESTART + v->number % 8))
        return false;
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
