/* augment/normalize/normalize_neon.c - 8 pixels at a time, as on AVX2: two windows of 16 bytes, one
 * table look-up of each, so that a channel's 8 bytes (or, in NHWC, the next 8 values) come
 * together, mirrored as they go. What is left of a row is done by a block that overlaps the last
 * one; rows under 8 pixels are the scalar's. */
#include "augment/normalize/normalize.h"
#include "base/simd.h"

enum { BLOCK = 8 }; /* pixels */

struct lane {
    uint8x8_t first, second;
    float32x4_t mean[2], gain[2];
    int32x4_t shift[2];
};

#define LOOP INLINE_NEON
#include "augment/normalize/normalize_rows.h"

INLINE_NEON struct lane load_lane(const struct normalize_job *j, uint32_t k)
{
    const uint32_t at = j->how.layout == IMREC_NCHW ? 16 * k : BLOCK * k;
    return (struct lane){
        .first = load8(j->picks.first + at),
        .second = load8(j->picks.second + at),
        .mean = {vld1q_f32(j->lane_mean + at), vld1q_f32(j->lane_mean + at + 4)},
        .gain = {vld1q_f32(j->lane_gain + at), vld1q_f32(j->lane_gain + at + 4)},
        .shift = {vld1q_s32(j->lane_shift + at), vld1q_s32(j->lane_shift + at + 4)},
    };
}

INLINE_NEON uint32_t source_column(const struct normalize_job *j, uint32_t x)
{
    return j->how.mirror ? j->width - BLOCK - x : x;
}

INLINE_NEON float32x4_t reversed(float32x4_t v)
{
    const float32x4_t pairs = vrev64q_f32(v);
    return vextq_f32(pairs, pairs, 2);
}

INLINE_NEON void image_mean(const struct row *r, uint32_t x, uint32_t c, float32x4_t mean[2])
{
    const float *from = r->mean + c * r->plane + source_column(r->job, x);
    const float32x4_t low = vld1q_f32(from), high = vld1q_f32(from + 4);
    mean[0] = r->job->how.mirror ? reversed(high) : low;
    mean[1] = r->job->how.mirror ? reversed(low) : high;
}

INLINE_NEON uint16x4_t half_of(float32x4_t value)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(value));
}

INLINE_NEON uint16x4_t upper_half_of(float32x4_t value) /* bfloat16, as the scalar rounds */
{
    const uint32x4_t bits = vreinterpretq_u32_f32(value), top = vshrq_n_u32(bits, 16);
    const uint32x4_t odd = vandq_u32(top, vdupq_n_u32(1));
    const uint32x4_t up = vaddq_u32(vaddq_u32(bits, odd), vdupq_n_u32(0x7fff));
    const uint32x4_t nan = vorrq_u32(top, vdupq_n_u32(0x40));
    return vmovn_u32(vbslq_u32(vceqq_f32(value, value), vshrq_n_u32(up, 16), nan));
}

INLINE_NEON void store_reals(uint8_t *to, float32x4_t low, float32x4_t high, enum imrec_dtype dtype)
{
    if (dtype == IMREC_FLOAT32) {
        vst1q_f32((float *)(void *)to, low);
        vst1q_f32((float *)(void *)(to + 16), high);
    } else if (dtype == IMREC_FLOAT16) {
        vst1q_u16((uint16_t *)(void *)to, vcombine_u16(half_of(low), half_of(high)));
    } else {
        vst1q_u16((uint16_t *)(void *)to, vcombine_u16(upper_half_of(low), upper_half_of(high)));
    }
}

INLINE_NEON float32x4_t normalized(int32x4_t px, float32x4_t mean, float32x4_t gain)
{
    return vmulq_f32(vsubq_f32(vcvtq_f32_s32(px), mean), gain);
}

/* The bytes of eight pixels of the source. */
struct eight {
    uint8x16_t first, second;
};

INLINE_NEON struct eight load_pixels(const struct row *r, uint32_t x, uint32_t channels)
{
    const uint8_t *p = r->src + (size_t)source_column(r->job, x) * channels;
    struct eight e;
    if (channels == 1)
        return e.first = e.second = vcombine_u8(load8(p), vdup_n_u8(0)), e;
    e.first = load16(p);
    e.second = load16(p + normalize_second_window(channels));
    return e;
}

/* Values k of the eight pixels at column x of the slot. */
INLINE_NEON void values(const struct row *r, struct eight e, uint32_t x, uint32_t k,
                        uint32_t channels, enum imrec_dtype dtype, bool image)
{
    const struct lane *l = &r->lane[k];
    uint8_t *to = place_of(r, x, k, channels, dtype);
    uint8x8_t bytes = vqtbl1_u8(e.first, l->first);
    if (channels != 1)
        bytes = vorr_u8(bytes, vqtbl1_u8(e.second, l->second));
    const uint16x8_t words = vmovl_u8(bytes);
    const int32x4_t low = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
    const int32x4_t high = vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(words)));
    if (dtype == IMREC_UINT8) {
        vst1_u8(to, bytes);
    } else if (dtype == IMREC_INT8) {
        const int16x8_t v = vcombine_s16(vqmovn_s32(vsubq_s32(low, l->shift[0])),
                                         vqmovn_s32(vsubq_s32(high, l->shift[1])));
        vst1_s8((int8_t *)to, vqmovn_s16(v));
    } else {
        float32x4_t mean[2] = {l->mean[0], l->mean[1]};
        if (image)
            image_mean(r, x, k, mean);
        store_reals(to, normalized(low, mean[0], l->gain[0]), normalized(high, mean[1], l->gain[1]),
                    dtype);
    }
}

INLINE_NEON void
block(const struct row *r, uint32_t x, uint32_t channels, enum imrec_dtype dtype, bool image)
{
    const struct eight e = load_pixels(r, x, channels);
    for (uint32_t k = 0; k < channels; k++)
        values(r, e, x, k, channels, dtype, image);
}

INLINE_NEON void whole_row(const struct normalize_job *j, const uint8_t *src, uint32_t y,
                           uint32_t channels, enum imrec_dtype dtype, bool image)
{
    struct row r;
    begin(&r, j, src, y, channels);
    uint32_t x = 0;
    for (; x + BLOCK <= j->width; x += BLOCK)
        block(&r, x, channels, dtype, image);
    if (x < j->width)
        block(&r, j->width - BLOCK, channels, dtype, image);
}

/* Stores pass the caches by themselves here, where that pays. */
INLINE_NEON void
streamed_row(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels)
{
    whole_row(j, src, y, channels, IMREC_FLOAT32, false);
}

void normalize_row_neon(const struct normalize_job *job, const uint8_t *src, uint32_t y)
{
    if (job->width < BLOCK || (job->how.mean_image != NULL && !normalize_image_is_fast(job)))
        normalize_row_scalar(job, src, y);
    else
        by_channels(job, src, y);
}
