/* base/fnv.h - FNV-1a of 64 bits (Fowler, Noll, Vo): a short hash of bytes that nobody forges. */
#ifndef IMREC_BASE_FNV_H
#define IMREC_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START 0xcbf29ce484222325u

/* Continues a hash: `from` is that of the bytes before p[0..n), FNV_START if there are none. */
static inline uint64_t fnv1a(uint64_t from, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        from = (from ^ b[i]) * 0x100000001b3u;
    return from;
}
#endif
