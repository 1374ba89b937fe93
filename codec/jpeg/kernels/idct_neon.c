/* codec/jpeg/kernels/idct_neon.c - the scalar truth's transform on NEON, eight lines (columns, then
 * rows) at once: its sums of 16 bits wrap in the lanes as they do there, so no block needs the
 * scalar code. */
#include "base/simd.h"
#include "codec/jpeg/kernels/idct_factors.h"
#include "codec/jpeg/kernels/variants.h"

/* ---- a pass --------------------------------------------------------------------------------- */

/* Four lines: values in[0] to in[7] -> out[8], 13 bits of fraction more. */
INLINE_NEON void transform(const int16x4_t in[8], bool corner, int32x4_t out[8])
{
    const int16x4_t zero = vdup_n_s16(0);
    const int16x4_t i4 = corner ? zero : in[4], i5 = corner ? zero : in[5];
    const int16x4_t i6 = corner ? zero : in[6], i7 = corner ? zero : in[7];
    const int32x4_t sum = vshll_n_s16(vadd_s16(in[0], i4), IDCT_FRACTION);
    const int32x4_t difference = vshll_n_s16(vsub_s16(in[0], i4), IDCT_FRACTION);
    const int32x4_t e2 = vmlal_n_s16(vmull_n_s16(in[2], IDCT_0_541), i6, IDCT_0_541 - IDCT_1_847);
    const int32x4_t e3 = vmlal_n_s16(vmull_n_s16(in[2], IDCT_0_541 + IDCT_0_765), i6, IDCT_0_541);
    const int32x4_t even[4] = {vaddq_s32(sum, e3), vaddq_s32(difference, e2),
                               vsubq_s32(difference, e2), vsubq_s32(sum, e3)};
    const int16x4_t s37 = vadd_s16(in[3], i7), s15 = vadd_s16(in[1], i5);
    const int32x4_t z3 = vmlal_n_s16(vmull_n_s16(s37, IDCT_1_175 - IDCT_1_961), s15, IDCT_1_175);
    const int32x4_t z4 = vmlal_n_s16(vmull_n_s16(s37, IDCT_1_175), s15, IDCT_1_175 - IDCT_0_390);
    const int32x4_t odd[4] = {
        vmlal_n_s16(vmlal_n_s16(z4, in[1], IDCT_1_501 - IDCT_0_899), i7, -IDCT_0_899),
        vmlal_n_s16(vmlal_n_s16(z3, in[3], IDCT_3_072 - IDCT_2_562), i5, -IDCT_2_562),
        vmlal_n_s16(vmlal_n_s16(z4, i5, IDCT_2_053 - IDCT_2_562), in[3], -IDCT_2_562),
        vmlal_n_s16(vmlal_n_s16(z3, i7, IDCT_0_298 - IDCT_0_899), in[1], -IDCT_0_899)};
    for (int k = 0; k < 4; k++) {
        out[k] = vaddq_s32(even[k], odd[k]);
        out[7 - k] = vsubq_s32(even[k], odd[k]);
    }
}

INLINE_NEON void low_of(const int16x8_t in[8], int16x4_t half[8])
{
    for (int k = 0; k < 8; k++)
        half[k] = vget_low_s16(in[k]);
}

INLINE_NEON void high_of(const int16x8_t in[8], int16x4_t half[8])
{
    for (int k = 0; k < 8; k++)
        half[k] = vget_high_s16(in[k]);
}

/* Columns: rounded, saturated to 16 bits. Of a corner the right ones are zeros. */
INLINE_NEON void first_pass(int16x8_t v[8], bool corner)
{
    int16x4_t half[8], left[8];
    int32x4_t out[8];
    low_of(v, half);
    transform(half, corner, out);
    for (int k = 0; k < 8; k++)
        left[k] = vqrshrn_n_s32(out[k], IDCT_SHIFT_1);
    if (!corner) {
        high_of(v, half);
        transform(half, false, out);
    }
    for (int k = 0; k < 8; k++)
        v[k] = vcombine_s16(left[k], corner ? vdup_n_s16(0) : vqrshrn_n_s32(out[k], IDCT_SHIFT_1));
}

/* Rows: rounded, saturated to samples. */
INLINE_NEON void second_pass(const int16x8_t v[8], bool corner, uint8x8_t samples[8])
{
    int16x4_t half[8];
    int32x4_t upper[8], lower[8];
    low_of(v, half);
    transform(half, corner, upper);
    high_of(v, half);
    transform(half, corner, lower);
    for (int k = 0; k < 8; k++) {
        const int16x4_t u = vqmovn_s32(vrshrq_n_s32(upper[k], IDCT_SHIFT_2));
        const int16x4_t l = vqmovn_s32(vrshrq_n_s32(lower[k], IDCT_SHIFT_2));
        const int8x8_t s = vqmovn_s16(vcombine_s16(u, l));
        samples[k] = veor_u8(vreinterpret_u8_s8(s), vdup_n_u8(0x80));
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

INLINE_NEON void turn_pairs(int16x8_t *a, int16x8_t *b)
{
    const int16x8x2_t t = vtrnq_s16(*a, *b);
    *a = t.val[0];
    *b = t.val[1];
}

INLINE_NEON void turn_fours(int16x8_t *a, int16x8_t *b)
{
    const int32x4x2_t t = vtrnq_s32(vreinterpretq_s32_s16(*a), vreinterpretq_s32_s16(*b));
    *a = vreinterpretq_s16_s32(t.val[0]);
    *b = vreinterpretq_s16_s32(t.val[1]);
}

INLINE_NEON void turn_halves(int16x8_t *a, int16x8_t *b)
{
    const int16x8_t low = vcombine_s16(vget_low_s16(*a), vget_low_s16(*b));
    *b = vcombine_s16(vget_high_s16(*a), vget_high_s16(*b));
    *a = low;
}

INLINE_NEON void transpose(int16x8_t v[8])
{
    for (int k = 0; k < 8; k += 2)
        turn_pairs(&v[k], &v[k + 1]);
    for (int k = 0; k < 8; k += 4) {
        turn_fours(&v[k], &v[k + 2]);
        turn_fours(&v[k + 1], &v[k + 3]);
    }
    for (int k = 0; k < 4; k++)
        turn_halves(&v[k], &v[k + 4]);
}

/* Columns of samples to rows. */
INLINE_NEON void store(const uint8x8_t column[8], uint8_t *out, size_t stride)
{
    uint8x8_t v[8];
    for (int k = 0; k < 8; k += 2) {
        const uint8x8x2_t t = vtrn_u8(column[k], column[k + 1]);
        v[k] = t.val[0];
        v[k + 1] = t.val[1];
    }
    for (int k = 0; k < 8; k += k % 4 == 0 ? 1 : 3) {
        const uint16x4x2_t t = vtrn_u16(vreinterpret_u16_u8(v[k]), vreinterpret_u16_u8(v[k + 2]));
        v[k] = vreinterpret_u8_u16(t.val[0]);
        v[k + 2] = vreinterpret_u8_u16(t.val[1]);
    }
    for (size_t k = 0; k < 4; k++) {
        const uint32x2x2_t t = vtrn_u32(vreinterpret_u32_u8(v[k]), vreinterpret_u32_u8(v[k + 4]));
        vst1_u8(out + k * stride, vreinterpret_u8_u32(t.val[0]));
        vst1_u8(out + (k + 4) * stride, vreinterpret_u8_u32(t.val[1]));
    }
}

INLINE_NEON int16x8_t dequantized(int16x8_t coef, const uint16_t *quant)
{
    return vmulq_s16(coef, vreinterpretq_s16_u16(vld1q_u16(quant)));
}

/* Nothing below the first row: what is between the passes wraps, as in the scalar truth. */
INLINE_NEON void one_row(int16x8_t first, const uint16_t *quant, uint8_t *out, size_t stride)
{
    uint8x8_t samples[8];
    const int16x8_t row = vshlq_n_s16(dequantized(first, quant), IDCT_KEPT);
    const int16x8_t v[8] = {vdupq_laneq_s16(row, 0), vdupq_laneq_s16(row, 1),
                            vdupq_laneq_s16(row, 2), vdupq_laneq_s16(row, 3),
                            vdupq_laneq_s16(row, 4), vdupq_laneq_s16(row, 5),
                            vdupq_laneq_s16(row, 6), vdupq_laneq_s16(row, 7)};
    second_pass(v, false, samples);
    store(samples, out, stride);
}

INLINE_NEON void
block(const int16_t *coef, const uint16_t *quant, bool corner, uint8_t *out, size_t stride)
{
    const int rows = corner ? 4 : 8;
    int16x8_t v[8], below = vdupq_n_s16(0);
    uint8x8_t samples[8];
    for (int k = 0; k < 8; k++)
        v[k] = k < rows ? vld1q_s16(coef + 8 * k) : vdupq_n_s16(0);
    for (int k = 1; k < rows; k++)
        below = vorrq_s16(below, v[k]);
    if (vmaxvq_u16(vreinterpretq_u16_s16(below)) == 0) {
        one_row(v[0], quant, out, stride);
        return;
    }
    for (int k = 0; k < rows; k++)
        v[k] = dequantized(v[k], quant + 8 * k);
    first_pass(v, corner);
    transpose(v);
    second_pass(v, corner, samples);
    store(samples, out, stride);
}

void idct_neon(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
               size_t stride)
{
    if (last == 0)
        idct_flat(coef[0], quant[0], out, stride);
    else if (last <= IDCT_CORNER)
        block(coef, quant, true, out, stride);
    else
        block(coef, quant, false, out, stride);
}
