/* formats/ctf/ctf_values_neon.c - a number and the blank after it out of 16 bytes, as on AVX2. A
 * mask has four bits a byte. */
#include "base/simd.h"
#include "formats/ctf/ctf_fast.h"
#include "formats/ctf/ctf_values.h"

/* Four bits for each byte that is ones. */
INLINE_NEON uint64_t mask_of(uint8x16_t is)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(is), 4)), 0);
}

/* The value of up to 16 digits, the last one in byte 15. */
INLINE_NEON uint64_t value_of(uint8x16_t digits)
{
    static const uint8_t tens[8] = {10, 1, 10, 1, 10, 1, 10, 1};
    static const uint16_t hundreds[4] = {100, 1, 100, 1};
    static const uint32_t myriads[4] = {10000, 1, 10000, 1};
    const uint8x8_t by = vld1_u8(tens);
    const uint16x8_t pairs =
        vpaddq_u16(vmull_u8(vget_low_u8(digits), by), vmull_u8(vget_high_u8(digits), by));
    const uint16x4_t next = vld1_u16(hundreds);
    const uint32x4_t fours =
        vpaddq_u32(vmull_u16(vget_low_u16(pairs), next), vmull_u16(vget_high_u16(pairs), next));
    const uint32x4_t parts = vmulq_u32(fours, vld1q_u32(myriads));
    const uint32x2_t eights = vpadd_u32(vget_low_u32(parts), vget_high_u32(parts));
    return (uint64_t)vget_lane_u32(eights, 0) * 100000000 + vget_lane_u32(eights, 1);
}

/* Which bytes are digits; *digits has their values, others are 0. */
INLINE_NEON uint64_t digits_of(uint8x16_t text, uint8x16_t *digits)
{
    const uint8x16_t v = vsubq_u8(text, vdupq_n_u8('0'));
    const uint8x16_t is = vcleq_u8(v, vdupq_n_u8(9));
    *digits = vandq_u8(v, is);
    return mask_of(is);
}

/* places[n + k]: where byte k of 16 comes from, so that n bytes end in the last one. */
static const int8_t places[32] = {-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6,
                                  -5,  -4,  -3,  -2,  -1,  0,   1,   2,  3,  4,  5,
                                  6,   7,   8,   9,   10,  11,  12,  13, 14, 15};

/* The kind of the n < 16 bytes at p, whose digits are in the mask `is`: -ddd.ddd; *from is how to
 * bring them together. */
INLINE_NEON bool
shape_of(const uint8_t *p, unsigned n, uint64_t is, struct ctf_fast *out, int8x16_t *from)
{
    const uint64_t all = ((uint64_t)1 << 4 * n) - 1;
    out->negative = *p == '-';
    out->places = 0;
    *from = vld1q_s8(places + n);
    const uint64_t others = ~is & all & ~(out->negative ? (uint64_t)15 : 0);
    if (others != 0) { /* a point: what precedes it moves up */
        const unsigned point = (unsigned)__builtin_ctzll(others) / 4;
        if (others != (uint64_t)15 << 4 * point || p[point] != '.')
            return false;
        out->places = n - point - 1;
        const uint8x16_t up = vcgtq_s8(vdupq_n_s8((int8_t)(point + 1)), *from);
        *from = vaddq_s8(*from, vreinterpretq_s8_u8(up));
    }
    return (is & all) != 0;
}

INLINE_NEON const uint8_t *scan(const uint8_t *p, struct ctf_fast *out)
{
    const uint8x16_t text = load16(p);
    const uint64_t blanks = mask_of(vceqq_u8(text, vdupq_n_u8(' ')));
    uint8x16_t digits;
    int8x16_t from;
    const uint64_t is = digits_of(text, &digits);
    if (blanks == 0)
        return ctf_fast_number(p, out);
    const unsigned n = (unsigned)__builtin_ctzll(blanks) / 4;
    if (!shape_of(p, n, is, out, &from))
        return NULL;
    out->digits = value_of(vqtbl1q_u8(digits, vreinterpretq_u8_s8(from)));
    return p + n;
}

INLINE_NEON const uint8_t *pair(const uint8_t *p, uint64_t *index, struct ctf_fast *out)
{
    const unsigned n = ctf_fast_digits(p, index);
    return n - 1 > 6 || p[n] != ':' ? NULL : scan(p + n + 1, out);
}

INLINE_NEON void put_four(uint16x4_t digits, uint8_t *to, size_t element)
{
    const uint32x4_t wide = vmovl_u16(digits);
    if (element == 4) {
        vst1q_f32((float *)(void *)to, vcvtq_f32_u32(wide));
    } else {
        vst1q_f64((double *)(void *)to, vcvtq_f64_u64(vmovl_u32(vget_low_u32(wide))));
        vst1q_f64((double *)(void *)to + 2, vcvtq_f64_u64(vmovl_u32(vget_high_u32(wide))));
    }
}

/* "d d d d d d d d ", or half of it. */
INLINE_NEON uint32_t run_of_digits(const uint8_t *p, uint8_t *to, uint32_t most, size_t element)
{
    const uint64_t even = 0x0f0f0f0f0f0f0f0f, odd = even << 4;
    uint8x16_t digits;
    const uint8x16_t text = load16(p);
    const uint64_t blanks = mask_of(vceqq_u8(text, vdupq_n_u8(' ')));
    const uint64_t is = digits_of(text, &digits);
    if ((uint32_t)blanks != (uint32_t)odd || (uint32_t)is != (uint32_t)even || most < 8)
        return 0;
    const uint16x8_t words = vreinterpretq_u16_u8(digits);
    put_four(vget_low_u16(words), to, element);
    put_four(vget_high_u16(words), to + 4 * element, element);
    return blanks == odd && is == even ? 8 : 4; /* the excess is overwritten */
}

#define LOOP INLINE_NEON
#define SCAN scan
#define PAIR pair
#define RUN  run_of_digits
#include "formats/ctf/ctf_values_loops.h"

#define ENTRY(name) uint32_t ctf_##name##_neon
#include "formats/ctf/ctf_values_entries.h"
