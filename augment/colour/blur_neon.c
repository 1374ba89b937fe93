/* augment/colour/blur_neon.c - neighbours weighed on NEON. */
#include "augment/colour/blur.h"
#include "base/simd.h"

/* ---- blur --------------------------------------------------------------------------------- */

void blur_neon(const int16_t *const *rows, const int16_t *weights, uint32_t pairs, uint32_t shift,
               int16_t *out, size_t n)
{
    const int32x4_t half = vdupq_n_s32(1 << (shift - 1)), by = vdupq_n_s32(-(int32_t)shift);
    const int16_t *rest[64];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int32x4_t low = half, high = half;
        for (uint32_t k = 0; k < 2 * pairs; k++) {
            const int16x8_t v = vld1q_s16(rows[k] + i);
            low = vmlal_n_s16(low, vget_low_s16(v), weights[k]);
            high = vmlal_n_s16(high, vget_high_s16(v), weights[k]);
        }
        const int16x4_t a = vqmovn_s32(vshlq_s32(low, by)), b = vqmovn_s32(vshlq_s32(high, by));
        vst1q_s16(out + i, vcombine_s16(a, b));
    }
    for (uint32_t k = 0; k < 2 * pairs; k++)
        rest[k] = rows[k] + i;
    blur_scalar(rest, weights, pairs, shift, out + i, n - i);
}

void widen_neon(const uint8_t *from, int16_t *to, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        vst1q_s16(to + i, vreinterpretq_s16_u16(vshll_n_u8(load8(from + i), BLUR_BITS)));
    widen_scalar(from + i, to + i, n - i);
}

void narrow_neon(const int16_t *from, uint8_t *to, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16x8_t v = vaddq_s16(vld1q_s16(from + i), vdupq_n_s16(1 << (BLUR_BITS - 1)));
        vst1_u8(to + i, vqshrun_n_s16(v, BLUR_BITS));
    }
    narrow_scalar(from + i, to + i, n - i);
}

/* ---- 3 x 3 -------------------------------------------------------------------------------- */

INLINE_NEON uint16x8_t add_three(uint16x8_t sum, const uint8_t *p, size_t step)
{
    return vaddw_u8(vaddw_u8(vaddw_u8(sum, load8(p - step)), load8(p)), load8(p + step));
}

void smooth_neon(const uint8_t *const rows[3], uint32_t step, uint8_t *out, size_t n)
{
    /* (sum * 5042) >> 16 is sum / 13 for sums up to 13 * 255 + 6. */
    const uint16x4_t thirteenth = vdup_n_u16(5042);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint16x8_t sum = vaddq_u16(vshll_n_u8(load8(rows[1] + i), 2), vdupq_n_u16(6));
        for (int k = 0; k < 3; k++)
            sum = add_three(sum, rows[k] + i, step);
        const uint16x4_t low = vshrn_n_u32(vmull_u16(vget_low_u16(sum), thirteenth), 16);
        const uint16x4_t high = vshrn_n_u32(vmull_u16(vget_high_u16(sum), thirteenth), 16);
        vst1_u8(out + i, vmovn_u16(vcombine_u16(low, high)));
    }
    const uint8_t *const rest[3] = {rows[0] + i, rows[1] + i, rows[2] + i};
    smooth_scalar(rest, step, out + i, n - i);
}

/* ---- mixing ------------------------------------------------------------------------------- */

INLINE_NEON int32x4_t mix4(uint16x4_t a, uint16x4_t b, float32x4_t factor)
{
    const float32x4_t fa = vcvtq_f32_u32(vmovl_u16(a)), fb = vcvtq_f32_u32(vmovl_u16(b));
    const float32x4_t v = vaddq_f32(fb, vmulq_f32(factor, vsubq_f32(fa, fb)));
    return vcvtq_s32_f32(vminq_f32(vmaxq_f32(v, vdupq_n_f32(0)), vdupq_n_f32(255)));
}

void mix_neon(float factor, uint8_t *a, const uint8_t *b, size_t n)
{
    const float32x4_t f = vdupq_n_f32(factor);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint16x8_t va = vmovl_u8(load8(a + i)), vb = vmovl_u8(load8(b + i));
        vst1_u8(a + i, bytes_of(mix4(vget_low_u16(va), vget_low_u16(vb), f),
                                mix4(vget_high_u16(va), vget_high_u16(vb), f)));
    }
    mix_scalar(factor, a + i, b + i, n - i);
}
