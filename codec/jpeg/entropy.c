/* codec/jpeg/entropy.c - entropy-coded data without their stuffing, a restart interval at a
 * time. */
#include "codec/jpeg/entropy.h"

#include <string.h>

uint8_t entropy_unstuff(struct bytes from, uint8_t *out, size_t *n, size_t *used)
{
    const uint8_t *p = from.p, *const end = from.p + from.n;
    uint8_t *to = out;
    const uint8_t *ff;
    while (p < end && (ff = memchr(p, 0xFF, (size_t)(end - p))) != NULL && end - ff >= 2) {
        const size_t length = (size_t)(ff - p) + (ff[1] == 0); /* a stuffed 0xFF is one of them */
        memcpy(to, p, length);
        to += length;
        p = ff + 2;
        if (ff[1] != 0) {
            memset(to, 0, ENTROPY_PADDING);
            *n = (size_t)(to - out);
            *used = (size_t)(p - from.p);
            return ff[1] == 0xFF ? 0 : ff[1];
        }
    }
    return 0;
}

uint8_t entropy_pass(struct bytes from, size_t *used)
{
    const uint8_t *p = from.p, *const end = from.p + from.n, *ff;
    while (p < end && (ff = memchr(p, 0xFF, (size_t)(end - p))) != NULL && end - ff >= 2) {
        p = ff + 2;
        if (ff[1] != 0) {
            *used = (size_t)(p - from.p);
            return ff[1] == 0xFF ? 0 : ff[1];
        }
    }
    return 0;
}
