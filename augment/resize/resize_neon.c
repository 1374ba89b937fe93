/* augment/resize/resize_neon.c - the inner loops of all resizes on NEON: a pixel's channels in a
 * vector along the rows, eight values at once across them. What no vector fills, and one channel
 * along the rows, goes to the scalar loops. */
#include "augment/resize/pillow.h"
#include "augment/resize/resample_passes.h"
#include "augment/resize/resize_passes.h"
#include "augment/resize/resize_taps.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

#include <string.h>

INLINE_NEON int32x4_t four_bytes(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    const uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(v)));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
}

/* ---- bilinear ----------------------------------------------------------------------------- */

INLINE_NEON int16x8_t wide(uint8x8_t v)
{
    return vreinterpretq_s16_u16(vmovl_u8(v));
}

/* With three channels each store writes a value over the next ones. */
INLINE_NEON uint32_t linear_x_pixels(const struct linear_table *t, const uint8_t *row, int16_t *out,
                                     uint32_t channels)
{
    for (uint32_t i = 0; i < t->vector; i++, out += channels) {
        const uint8x8_t px = load8(row + t->first[i]);
        const int16_t w0 = (int16_t)t->weights[i], w1 = (int16_t)(t->weights[i] >> 16);
        const int16x4_t a = vget_low_s16(wide(px));
        const int16x4_t b =
            channels == 3 ? vget_low_s16(wide(vext_u8(px, px, 3))) : vget_high_s16(wide(px));
        vst1_s16(out, vshrn_n_s32(vmlal_n_s16(vmull_n_s16(a, w0), b, w1), 4));
    }
    return t->vector;
}

void linear_x_neon(const struct linear_table *t, const uint8_t *row, int16_t *out)
{
    uint32_t done = 0;
    if (t->channels == 3)
        done = linear_x_pixels(t, row, out, 3);
    else if (t->channels == 4)
        done = linear_x_pixels(t, row, out, 4);
    const struct linear_table rest = {
        t->first + done, t->second + done, t->weights + done, t->count - done, 0, t->channels, {0}};
    linear_x_scalar(&rest, row, out + (size_t)done * t->channels);
}

INLINE_NEON int16x8_t high_product(int16x8_t v, int16_t by) /* >> 16 */
{
    const int32x4_t low = vmull_n_s16(vget_low_s16(v), by),
                    high = vmull_n_s16(vget_high_s16(v), by);
    return vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
}

void linear_y_neon(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1, uint8_t *out,
                   size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16x8_t sum =
            vaddq_s16(high_product(vld1q_s16(t0 + i), b0), high_product(vld1q_s16(t1 + i), b1));
        vst1_u8(out + i, vqshrun_n_s16(vaddq_s16(sum, vdupq_n_s16(2)), 2));
    }
    linear_y_scalar(t0 + i, t1 + i, b0, b1, out + i, n - i);
}

/* ---- area --------------------------------------------------------------------------------- */

/* All channels of a pixel in one vector; with three, the fourth lane is the next pixel's and is
 * written over. Lanes do not mix, so every sum has the scalar's order. */
INLINE_NEON uint32_t area_x_pixels(const struct area_table *t, const uint8_t *row, float *out,
                                   uint32_t channels)
{
    for (uint32_t i = 0; i < t->vector; i++, out += channels) {
        const uint8_t *px = row + t->first[i];
        float32x4_t sum = vdupq_n_f32(0);
        for (uint32_t k = t->begin[i]; k < t->begin[i + 1]; k++, px += channels)
            sum = vaddq_f32(sum, vmulq_n_f32(vcvtq_f32_s32(four_bytes(px)), t->weights[k]));
        vst1q_f32(out, sum);
    }
    return t->vector;
}

void area_x_neon(const struct area_table *t, const uint8_t *row, float *out)
{
    uint32_t done = 0;
    if (t->channels == 3)
        done = area_x_pixels(t, row, out, 3);
    else if (t->channels == 4)
        done = area_x_pixels(t, row, out, 4);
    const struct area_table rest = {
        t->first + done, t->begin + done, t->weights, t->count - done, 0, t->channels, {0}};
    area_x_scalar(&rest, row, out + (size_t)done * t->channels);
}

void area_y_neon(float *sum, const float *row, float weight, bool add, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = vmulq_n_f32(vld1q_f32(row + i), weight);
        if (add)
            v = vaddq_f32(vld1q_f32(sum + i), v);
        vst1q_f32(sum + i, v);
    }
}

void area_round_neon(const float *sum, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        vst1_u8(out + i, bytes_of(vcvtnq_s32_f32(vld1q_f32(sum + i)),
                                  vcvtnq_s32_f32(vld1q_f32(sum + i + 4))));
    area_round_scalar(sum + i, out + i, n - i);
}

/* ---- 2 x 2 -------------------------------------------------------------------------------- */

/* Bytes of two neighbours side by side, for two pixels of the result; of one channel for eight. */
static const int8_t half3[16] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1};
static const int8_t half4[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
static const int8_t half1[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

void half_neon(const uint8_t *row0, const uint8_t *row1, uint8_t *out, uint32_t width,
               uint32_t channels)
{
    const int8_t *pairs = channels == 3 ? half3 : channels == 4 ? half4 : half1;
    const uint32_t step = channels == 1 ? 8 : 2; /* pixels of the result */
    uint32_t x = 0;
    /* 16 bytes are loaded and 8 stored, of which three channels use 12 and 6. */
    for (; x + step + (channels == 3) <= width; x += step) {
        const size_t at = (size_t)x * channels;
        const uint16x8_t upper = vpaddlq_u8(ordered(load16(row0 + 2 * at), pairs));
        vst1_u8(out + at,
                vrshrn_n_u16(vpadalq_u8(upper, ordered(load16(row1 + 2 * at), pairs)), 2));
    }
    const size_t at = (size_t)x * channels;
    half_scalar(row0 + 2 * at, row1 + 2 * at, out + at, width - x, channels);
}

/* ---- cubic, Lanczos ----------------------------------------------------------------------- */

/* With three channels the fourth sum is written over. */
INLINE_NEON uint32_t pixels(const struct taps_table *t, const uint8_t *row, int32_t *out,
                            uint32_t channels, uint32_t taps)
{
    for (uint32_t i = 0; i < t->count; i++, out += channels) {
        const int16_t *w = t->weights + (size_t)i * taps;
        int32x4_t sum = vdupq_n_s32(0);
        for (uint32_t k = 0; k < taps; k += 4)
            sum = add_four(sum, row + t->first[i] + (size_t)k * channels, w + k, channels);
        vst1q_s32(out, sum);
    }
    return t->count;
}

#define LOOP        INLINE_NEON
#define ENTRY(name) void name##_neon
#include "augment/resize/resize_taps_rows.h"

INLINE_NEON int32x4_t four_floats(const int32_t *const rows[4], const float w[4], size_t i)
{
    float32x4_t v = vmulq_n_f32(vcvtq_f32_s32(vld1q_s32(rows[0] + i)), w[0]);
    for (int k = 1; k < 4; k++)
        v = vaddq_f32(v, vmulq_n_f32(vcvtq_f32_s32(vld1q_s32(rows[k] + i)), w[k]));
    return vcvtnq_s32_f32(v);
}

void cubic_y_neon(const int32_t *const rows[4], const int16_t *weights, uint8_t *out, size_t n)
{
    float w[4];
    size_t i = 0;
    for (int k = 0; k < 4; k++)
        w[k] = (float)weights[k] * (1.0f / (1 << 22));
    for (; i + 8 <= n; i += 8)
        vst1_u8(out + i, bytes_of(four_floats(rows, w, i), four_floats(rows, w, i + 4)));
    const int32_t *const rest[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
    cubic_y_scalar(rest, weights, out + i, n - i);
}

INLINE_NEON int32x4_t four_sums(const int32_t *const *rows, const int16_t *weights, uint32_t taps,
                                size_t i)
{
    int32x4_t sum = vdupq_n_s32(1 << 21);
    for (uint32_t k = 0; k < taps; k++)
        sum = vmlaq_n_s32(sum, vld1q_s32(rows[k] + i), weights[k]);
    return vshrq_n_s32(sum, 22);
}

void taps_y_neon(const int32_t *const *rows, const int16_t *weights, uint32_t taps, uint8_t *out,
                 size_t n)
{
    const int32_t *rest[TAPS_MOST];
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        vst1_u8(out + i,
                bytes_of(four_sums(rows, weights, taps, i), four_sums(rows, weights, taps, i + 4)));
    for (uint32_t k = 0; k < taps; k++)
        rest[k] = rows[k] + i;
    taps_y_scalar(rest, weights, taps, out + i, n - i);
}

/* ---- the packer's resampling -------------------------------------------------------------- */

/* A pixel of both rows a step; with three channels the last values are written over. */
INLINE_NEON void resample_pixels(const struct resample_axis *a, const uint8_t *const rows[2],
                                 int16_t *out, uint32_t channels)
{
    for (uint32_t at = 0; at < a->to; at++, out += 2 * channels) {
        const size_t byte = (size_t)a->first[at] * channels;
        const int16_t *w = a->weights + (size_t)at * a->taps;
        int32x4_t sum[2] = {vdupq_n_s32(1 << (RESAMPLE_X_SHIFT - 1)),
                            vdupq_n_s32(1 << (RESAMPLE_X_SHIFT - 1))};
        for (uint32_t k = 0; k < a->taps; k += RESAMPLE_GROUP)
            for (int r = 0; r < 2; r++)
                sum[r] = add_four(sum[r], rows[r] + byte + (size_t)k * channels, w + k, channels);
        const int16x4x2_t both =
            vzip_s16(vshrn_n_s32(sum[0], RESAMPLE_X_SHIFT), vshrn_n_s32(sum[1], RESAMPLE_X_SHIFT));
        vst1q_s16(out, vcombine_s16(both.val[0], both.val[1]));
    }
}

void resample_x_neon(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out)
{
    if (a->channels == 3)
        resample_pixels(a, rows, out, 3);
    else if (a->channels == 4)
        resample_pixels(a, rows, out, 4);
    else
        resample_x_scalar(a, rows, out);
}

INLINE_NEON uint8x8_t eight_values(const int16_t *const *rows, const int16_t *weights,
                                   uint32_t pairs, size_t x)
{
    int32x4_t low = vdupq_n_s32(0), high = low;
    for (uint32_t p = 0; p < pairs; p++) {
        const int16x8x2_t v = vld2q_s16(rows[p] + 2 * x);
        for (int r = 0; r < 2; r++) {
            low = vmlal_n_s16(low, vget_low_s16(v.val[r]), weights[2 * p + (uint32_t)r]);
            high = vmlal_n_s16(high, vget_high_s16(v.val[r]), weights[2 * p + (uint32_t)r]);
        }
    }
    return bytes_of(vrshrq_n_s32(low, RESAMPLE_Y_SHIFT), vrshrq_n_s32(high, RESAMPLE_Y_SHIFT));
}

void resample_y_neon(const int16_t *const *rows, const int16_t *weights, uint32_t pairs, size_t n,
                     uint8_t *out)
{
    size_t x = 0;
    for (; x + 8 <= n; x += 8)
        vst1_u8(out + x, eight_values(rows, weights, pairs, x));
    if (x < n) { /* as if there were as many */
        const uint8x8_t last = eight_values(rows, weights, pairs, x);
        memcpy(out + x, &last, n - x);
    }
}

/* ---- Pillow's ----------------------------------------------------------------------------- */

void pillow_x_neon(const struct pillow_axis *a, const uint8_t *row, uint32_t channels, uint8_t *out)
{
    if (channels == 1) {
        pillow_x_scalar(a, row, channels, out);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t *w = a->weights + (size_t)i * a->taps;
        const uint8_t *px = row + (size_t)(a->first[i] - a->first[0]) * channels;
        int32x4_t sum = vdupq_n_s32(1 << (PILLOW_BITS - 1));
        for (int32_t k = 0; k < a->used[i]; k++, px += channels)
            sum = vmlaq_n_s32(sum, four_bytes(px), w[k]);
        sum = vshrq_n_s32(sum, PILLOW_BITS);
        const uint8x8_t bytes = bytes_of(sum, sum);
        memcpy(out, &bytes, 4);
        out += channels;
    }
}

void pillow_y_neon(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                   size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int32x4_t low = vdupq_n_s32(1 << (PILLOW_BITS - 1)), high = low;
        for (uint32_t k = 0; k < used; k++) {
            const int16x8_t px = vreinterpretq_s16_u16(vmovl_u8(load8(rows + k * stride + i)));
            low = vmlaq_n_s32(low, vmovl_s16(vget_low_s16(px)), weights[k]);
            high = vmlaq_n_s32(high, vmovl_s16(vget_high_s16(px)), weights[k]);
        }
        vst1_u8(out + i, bytes_of(vshrq_n_s32(low, PILLOW_BITS), vshrq_n_s32(high, PILLOW_BITS)));
    }
    pillow_y_scalar(rows + i, stride, weights, used, n - i, out + i);
}
