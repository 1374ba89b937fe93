/* codec/jpeg/kernels/rows_neon.c - 16 pixels at a time. The last ones may be written up to 45 bytes
 * beyond the row, which has KERNEL_SLACK of them. */
#include "base/simd.h"
#include "codec/jpeg/kernels/variants.h"

enum { STEP = 16 };

/* ---- chroma of eight pixels, as 2 (chroma - 128) --------------------------------------------- */

INLINE_NEON int16x8_t centred(uint8x8_t v)
{
    return vreinterpretq_s16_u16(vsubq_u16(vshll_n_u8(v, 1), vdupq_n_u16(256)));
}

struct chroma {
    int16x8_t low, high; /* of 16 pixels */
};

INLINE_NEON struct chroma full(const uint8_t *p)
{
    const uint8x16_t v = load16(p);
    return (struct chroma){centred(vget_low_u8(v)), centred(vget_high_u8(v))};
}

/* Eight sums of the nearer row's samples, or of both rows' by 3 and 1. */
INLINE_NEON uint16x8_t across(const uint8_t *near, const uint8_t *far)
{
    const uint8x8_t v = load8(near);
    return far == NULL ? vmovl_u8(v) : vaddw_u8(vmull_u8(v, vdup_n_u8(3)), load8(far));
}

INLINE_NEON struct chroma zipped(uint8x8_t even, uint8x8_t odd)
{
    const uint8x8x2_t v = vzip_u8(even, odd);
    return (struct chroma){centred(v.val[0]), centred(v.val[1])};
}

/* p: the sample of the first two pixels. */
INLINE_NEON struct chroma half(const uint8_t *near, const uint8_t *far)
{
    const uint16x8_t here = vmulq_n_u16(across(near, far), 3);
    const uint16x8_t left = across(near - 1, far == NULL ? NULL : far - 1);
    const uint16x8_t right = across(near + 1, far == NULL ? NULL : far + 1);
    const uint16x8_t even = vaddq_u16(here, left), odd = vaddq_u16(here, right);
    if (far == NULL)
        return zipped(vshrn_n_u16(vaddq_u16(even, vdupq_n_u16(1)), 2), vrshrn_n_u16(odd, 2));
    return zipped(vrshrn_n_u16(even, 4), vshrn_n_u16(vaddq_u16(odd, vdupq_n_u16(7)), 4));
}

INLINE_NEON struct chroma
chroma(const uint8_t *near, const uint8_t *far, uint32_t i, enum sampling sampling)
{
    if (sampling == FULL)
        return full(near + i);
    return half(near + i / 2, sampling == HALF_BOTH ? far + i / 2 : NULL);
}

/* ---- colour --------------------------------------------------------------------------------- */

/* The factors give for every value what 16 bits of fraction would. */
INLINE_NEON uint8x8_t blue(int16x8_t y, int16x8_t cb)
{
    return vqmovun_s16(vaddq_s16(y, vqrdmulhq_n_s16(cb, 29033)));
}

INLINE_NEON uint8x8_t red(int16x8_t y, int16x8_t cr)
{
    return vqmovun_s16(vaddq_s16(y, vqrdmulhq_n_s16(cr, 22971)));
}

INLINE_NEON int16x4_t green_part(int16x4_t cb, int16x4_t cr)
{
    return vrshrn_n_s32(vmlal_n_s16(vmull_n_s16(cb, GREEN_CB / 2), cr, GREEN_CR / 2), 16);
}

INLINE_NEON uint8x8_t green(int16x8_t y, int16x8_t cb, int16x8_t cr)
{
    const int16x4_t low = green_part(vget_low_s16(cb), vget_low_s16(cr));
    const int16x4_t high = green_part(vget_high_s16(cb), vget_high_s16(cr));
    return vqmovun_s16(vaddq_s16(y, vcombine_s16(low, high)));
}

INLINE_NEON int16x8_t wide(uint8x8_t v)
{
    return vreinterpretq_s16_u16(vmovl_u8(v));
}

INLINE_NEON void row(const struct kernel_row *r, enum sampling sampling)
{
    for (uint32_t i = 0; i < r->n; i += STEP) {
        const uint8x16_t luma = load16(r->y + i);
        const struct chroma cb = chroma(r->cb, r->cb_far, i, sampling);
        const struct chroma cr = chroma(r->cr, r->cr_far, i, sampling);
        const int16x8_t low = wide(vget_low_u8(luma)), high = wide(vget_high_u8(luma));
        const uint8x16x3_t rgb = {
            {vcombine_u8(red(low, cr.low), red(high, cr.high)),
             vcombine_u8(green(low, cb.low, cr.low), green(high, cb.high, cr.high)),
             vcombine_u8(blue(low, cb.low), blue(high, cb.high))}};
        vst3q_u8(r->rgb + 3 * (size_t)i, rgb);
    }
}

#define ENTRY(name) void name##_neon
#include "codec/jpeg/kernels/rows_entries.h"

void row_grey_neon(const struct kernel_row *r)
{
    for (uint32_t i = 0; i < r->n; i += STEP) {
        const uint8x16_t y = load16(r->y + i);
        const uint8x16x3_t rgb = {{y, y, y}};
        vst3q_u8(r->rgb + 3 * (size_t)i, rgb);
    }
}
