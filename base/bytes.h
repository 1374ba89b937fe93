/* base/bytes.h - views of bytes, endian loads, checked sums. */
#ifndef IMREC_BASE_BYTES_H
#define IMREC_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes { /* a borrowed view */
    const uint8_t *p;
    size_t n;
};

static inline uint32_t load_le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t load_be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return load_be16(p) << 16 | load_be16(p + 2);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    return (uint64_t)load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v; /* written out, compilers make one store of it */
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline float load_le_float(const uint8_t *p)
{
    const uint32_t bits = load_le32(p);
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline void store_le_float(uint8_t *p, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    store_le32(p, bits);
}

static inline void store_le64(uint8_t *p, uint64_t v)
{
    store_le32(p, (uint32_t)v);
    store_le32(p + 4, (uint32_t)(v >> 32));
}

static inline bool sum_fits(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* *out = a * b; false when it does not fit. */
static inline bool mul_fits(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
#endif
