/* codec/jpeg/encode/forward_neon.c - colour of 8 pixels, means of 8 samples, a block at a time. */
#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/kernels/idct_factors.h"

#include <string.h>

#if defined(__aarch64__)

/* ---- colour --------------------------------------------------------------------------------- */

enum { STEP = 8 };

INLINE_NEON uint8x8_t rounded(uint32x4_t low, uint32x4_t high)
{
    return vmovn_u16(
        vcombine_u16(vshrn_n_u32(low, COLOUR_FRACTION), vshrn_n_u32(high, COLOUR_FRACTION)));
}

INLINE_NEON uint32x4_t luma(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    const uint32x4_t half = vdupq_n_u32(COLOUR_HALF);
    return vmlal_n_u16(vmlal_n_u16(vmlal_n_u16(half, r, Y_RED), g, Y_GREEN), b, Y_BLUE);
}

/* A half of `own`; what the other two count is taken away. */
INLINE_NEON uint32x4_t chroma(uint16x4_t own, uint16x4_t a, uint16_t less_a, uint16x4_t b,
                              uint16_t less_b)
{
    const uint32x4_t bias = vdupq_n_u32(CHROMA_BIAS);
    return vmlsl_n_u16(vmlsl_n_u16(vmlal_n_u16(bias, own, COLOUR_HALF), a, less_a), b, less_b);
}

INLINE_NEON void colour_of(const uint8_t *rgb, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    const uint8x8x3_t v = vld3_u8(rgb);
    const uint16x8_t r = vmovl_u8(v.val[0]), g = vmovl_u8(v.val[1]), b = vmovl_u8(v.val[2]);
    const uint16x4_t r0 = vget_low_u16(r), g0 = vget_low_u16(g), b0 = vget_low_u16(b);
    const uint16x4_t r1 = vget_high_u16(r), g1 = vget_high_u16(g), b1 = vget_high_u16(b);
    vst1_u8(y, rounded(luma(r0, g0, b0), luma(r1, g1, b1)));
    vst1_u8(cb, rounded(chroma(b0, r0, -CB_RED, g0, -CB_GREEN),
                        chroma(b1, r1, -CB_RED, g1, -CB_GREEN)));
    vst1_u8(cr, rounded(chroma(r0, g0, -CR_GREEN, b0, -CR_BLUE),
                        chroma(r1, g1, -CR_GREEN, b1, -CR_BLUE)));
}

void colour_neon(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    uint8_t last[3 * STEP] = {0};
    uint32_t i = 0;
    for (; i + STEP <= n; i += STEP)
        colour_of(rgb + (size_t)3 * i, y + i, cb + i, cr + i);
    if (i == n)
        return;
    memcpy(last, rgb + (size_t)3 * i, (size_t)3 * (n - i));
    colour_of(last, y + i, cb + i, cr + i);
}

/* ---- means ---------------------------------------------------------------------------------- */

void halve_neon(const uint8_t *above, const uint8_t *below, uint32_t n, uint8_t *out)
{
    const uint16x8_t bias = vreinterpretq_u16_u32(vdupq_n_u32((uint32_t)PAIR(1, 2)));
    for (uint32_t i = 0; i < n; i += 8) {
        const uint16x8_t sum =
            vpadalq_u8(vpaddlq_u8(load16(above + (size_t)2 * i)), load16(below + (size_t)2 * i));
        vst1_u8(out + i, vshrn_n_u16(vaddq_u16(sum, bias), 2));
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

INLINE_NEON void transpose(int16x8_t r[8])
{
    int32x4_t a[8];
    int64x2_t b[8];
    for (int k = 0; k < 4; k++) {
        a[2 * k] = vreinterpretq_s32_s16(vtrn1q_s16(r[2 * k], r[2 * k + 1]));
        a[2 * k + 1] = vreinterpretq_s32_s16(vtrn2q_s16(r[2 * k], r[2 * k + 1]));
    }
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++) {
            b[4 * k + j] = vreinterpretq_s64_s32(vtrn1q_s32(a[4 * k + j], a[4 * k + 2 + j]));
            b[4 * k + 2 + j] = vreinterpretq_s64_s32(vtrn2q_s32(a[4 * k + j], a[4 * k + 2 + j]));
        }
    for (int k = 0; k < 4; k++) {
        r[k] = vreinterpretq_s16_s64(vtrn1q_s64(b[k], b[k + 4]));
        r[k + 4] = vreinterpretq_s16_s64(vtrn2q_s64(b[k], b[k + 4]));
    }
}

struct sums {
    int32x4_t low, high;
};

INLINE_NEON struct sums product(int16x8_t v, int16_t factor)
{
    return (struct sums){vmull_n_s16(vget_low_s16(v), factor),
                         vmull_n_s16(vget_high_s16(v), factor)};
}

INLINE_NEON struct sums plus(struct sums s, int16x8_t v, int16_t factor)
{
    return (struct sums){vmlal_n_s16(s.low, vget_low_s16(v), factor),
                         vmlal_n_s16(s.high, vget_high_s16(v), factor)};
}

INLINE_NEON int16x8_t descaled(struct sums s, bool first)
{
    enum { SECOND = IDCT_SHIFT_2 - 3 };
    return first
               ? vcombine_s16(vrshrn_n_s32(s.low, IDCT_SHIFT_1), vrshrn_n_s32(s.high, IDCT_SHIFT_1))
               : vcombine_s16(vrshrn_n_s32(s.low, SECOND), vrshrn_n_s32(s.high, SECOND));
}

INLINE_NEON int16x8_t of_four(const int16x8_t d[4], int16_t a, int16_t b, int16_t c, int16_t e,
                              bool first)
{
    return descaled(plus(plus(plus(product(d[0], a), d[1], b), d[2], c), d[3], e), first);
}

INLINE_NEON int16x8_t kept(int16x8_t v, bool first)
{
    return first ? vshlq_n_s16(v, IDCT_KEPT) : vrshrq_n_s16(v, IDCT_KEPT);
}

INLINE_NEON void transform(int16x8_t r[8], bool first)
{
    int16x8_t sum[4], d[4];
    for (int k = 0; k < 4; k++) {
        sum[k] = vaddq_s16(r[k], r[7 - k]);
        d[3 - k] = vsubq_s16(r[k], r[7 - k]);
    }
    const int16x8_t s0 = vaddq_s16(sum[0], sum[3]), s3 = vsubq_s16(sum[0], sum[3]);
    const int16x8_t s1 = vaddq_s16(sum[1], sum[2]), s2 = vsubq_s16(sum[1], sum[2]);
    r[0] = kept(vaddq_s16(s0, s1), first);
    r[4] = kept(vsubq_s16(s0, s1), first);
    r[2] = descaled(plus(product(s3, F_E0_2), s2, F_E0_6), first);
    r[6] = descaled(plus(product(s3, F_E1_2), s2, F_E1_6), first);
    r[1] = of_four(d, F_O0_7, F_O0_5, F_O0_3, F_O0_1, first);
    r[3] = of_four(d, F_O1_7, F_O1_5, F_O1_3, F_O1_1, first);
    r[5] = of_four(d, F_O2_7, F_O2_5, F_O2_3, F_O2_1, first);
    r[7] = of_four(d, F_O3_7, F_O3_5, F_O3_3, F_O3_1, first);
}

INLINE_NEON uint16x8_t high_product(uint16x8_t v, const uint16_t *factor)
{
    const uint16x8_t f = vld1q_u16(factor);
    return vcombine_u16(vshrn_n_u32(vmull_u16(vget_low_u16(v), vget_low_u16(f)), 16),
                        vshrn_n_u32(vmull_u16(vget_high_u16(v), vget_high_u16(f)), 16));
}

INLINE_NEON int16x8_t quantize(int16x8_t v, const struct quantizer *q, int k)
{
    const uint16x8_t n = vaddq_u16(vreinterpretq_u16_s16(vabsq_s16(v)), vld1q_u16(q->half + 8 * k));
    const int16x8_t level =
        vreinterpretq_s16_u16(high_product(high_product(n, q->factor + 8 * k), q->scale + 8 * k));
    return vbslq_s16(vcltzq_s16(v), vnegq_s16(level), level);
}

void blocks_neon(const struct forward_blocks *b, const struct quantizer *q)
{
    for (uint32_t i = 0; i < b->n; i++) {
        int16_t natural[64], *coef = b->coef + (size_t)64 * i;
        int16x8_t r[8];
        for (size_t y = 0; y < 8; y++)
            r[y] = vsubq_s16(
                vreinterpretq_s16_u16(vmovl_u8(load8(b->samples + (size_t)8 * i + y * b->stride))),
                vdupq_n_s16(128));
        transpose(r);
        transform(r, true);
        transpose(r);
        transform(r, false);
        for (int k = 0; k < 8; k++)
            vst1q_s16(natural + 8 * k, quantize(r[k], q, k));
        block_order(natural, coef);
        b->occupied[i] = block_occupied(coef);
    }
}
#endif
