/* augment/geometry/warp_neon.c - affine warps on NEON: four pixels a step where all their taps lie
 * in the image or none does; those at its border go one by one through the scalar. */
#include "augment/geometry/warp.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

#include <string.h>

enum { STEP = 4 };

/* ---- where pixels come from --------------------------------------------------------------- */

struct places {
    int32_t u[STEP], v[STEP];     /* fractions, 0..31 */
    int32_t at[STEP];             /* bytes of the source: the first tap */
    bool all_inside, all_outside; /* with all that is loaded */
};

INLINE_NEON uint32x4_t outside(int32x4_t at, int32_t first, int32_t last)
{
    return vorrq_u32(vcltq_s32(at, vdupq_n_s32(first)), vcgtq_s32(at, vdupq_n_s32(last)));
}

/* Loads reach `beyond` pixels past the last tap. */
INLINE_NEON void
find(const struct warp_row *r, uint32_t i, int32_t taps, int32_t beyond, struct places *p)
{
    const int32_t round = warp_rounding((uint32_t)taps);
    const int32x4_t u = vaddq_s32(vdupq_n_s32(r->u0 + round), vld1q_s32(r->u + i));
    const int32x4_t v = vaddq_s32(vdupq_n_s32(r->v0 + round), vld1q_s32(r->v + i));
    const int32x4_t mask = vdupq_n_s32(WARP_FRACTIONS - 1);
    const int32x4_t less = vdupq_n_s32(taps > 1 ? taps / 2 - 1 : 0);
    const int32x4_t x = vsubq_s32(vshrq_n_s32(u, WARP_BITS), less);
    const int32x4_t y = vsubq_s32(vshrq_n_s32(v, WARP_BITS), less);
    vst1q_s32(p->u, vandq_s32(vshrq_n_s32(u, WARP_BITS - WARP_FRACTION_BITS), mask));
    vst1q_s32(p->v, vandq_s32(vshrq_n_s32(v, WARP_BITS - WARP_FRACTION_BITS), mask));
    const int32x4_t down = vmulq_n_s32(vsubq_s32(y, vdupq_n_s32(r->y0)), (int32_t)r->stride);
    const int32x4_t right = vmulq_n_s32(vsubq_s32(x, vdupq_n_s32(r->x0)), (int32_t)r->channels);
    vst1q_s32(p->at, vaddq_s32(down, right));
    const uint32x4_t loads =
        vorrq_u32(outside(x, r->x0, r->x1 - taps - beyond), outside(y, r->y0, r->y1 - taps));
    p->all_inside = vmaxvq_u32(loads) == 0;
    const uint32x4_t none =
        vorrq_u32(outside(x, r->x0 - taps + 1, r->x1 - 1), outside(y, r->y0 - taps + 1, r->y1 - 1));
    p->all_outside = vminvq_u32(none) == UINT32_MAX;
}

/* ---- storing ------------------------------------------------------------------------------ */

/* s[k]: values of pixel k. */
INLINE_NEON void store4(uint8_t *out, const int32x4_t s[STEP], uint32_t channels)
{
    uint8x16_t px = vcombine_u8(bytes_of(s[0], s[1]), bytes_of(s[2], s[3]));
    if (channels == 4) {
        vst1q_u8(out, px);
        return;
    }
    px = ordered(px, close_gaps);
    vst1_u8(out, vget_low_u8(px));
    vst1q_lane_u32((uint32_t *)(void *)(out + 8), vreinterpretq_u32_u8(px), 2);
}

/* ---- bilinear ----------------------------------------------------------------------------- */

/* A row's two taps, by their weights. Of 8 bytes 6 or 8 count. */
INLINE_NEON uint32x4_t add_two(uint32x4_t sum, const uint8_t *px, uint16_t left, uint16_t right,
                               uint32_t channels)
{
    const uint8x8_t v = load8(px);
    const uint16x4_t a = vget_low_u16(vmovl_u8(v));
    const uint16x4_t b =
        channels == 3 ? vget_low_u16(vmovl_u8(vext_u8(v, v, 3))) : vget_high_u16(vmovl_u8(v));
    return vmlal_n_u16(vmlal_n_u16(sum, a, left), b, right);
}

INLINE_NEON void
linear4(const struct warp_row *r, const struct places *p, uint32_t channels, uint8_t *out)
{
    int32x4_t s[STEP];
    for (int k = 0; k < STEP; k++) {
        const uint16_t u = (uint16_t)p->u[k], v = (uint16_t)p->v[k];
        const uint16_t nu = (uint16_t)(WARP_FRACTIONS - u), nv = (uint16_t)(WARP_FRACTIONS - v);
        const uint8_t *px = r->from + p->at[k];
        uint32x4_t sum = vdupq_n_u32(1 << 9);
        sum = add_two(sum, px, (uint16_t)(nu * nv), (uint16_t)(u * nv), channels);
        sum = add_two(sum, px + r->stride, (uint16_t)(nu * v), (uint16_t)(u * v), channels);
        s[k] = vreinterpretq_s32_u32(vshrq_n_u32(sum, 10));
    }
    store4(out, s, channels);
}

/* ---- cubic, Lanczos ----------------------------------------------------------------------- */

INLINE_NEON void
taps4(const struct warp_row *r, const struct places *p, int taps, uint32_t channels, uint8_t *out)
{
    int32x4_t s[STEP];
    for (int k = 0; k < STEP; k++) {
        const int32_t block = p->v[k] * WARP_FRACTIONS + p->u[k];
        const int16_t *w = r->weights + (size_t)block * (size_t)(taps * taps);
        const uint8_t *px = r->from + p->at[k];
        int32x4_t sum = vdupq_n_s32(1 << 14);
        for (int j = 0; j < taps; j++, px += r->stride)
            for (int i = 0; i < taps; i += 4, w += 4)
                sum = add_four(sum, px + (size_t)i * channels, w, channels);
        s[k] = vshrq_n_s32(sum, 15);
    }
    store4(out, s, channels);
}

/* ---- a row -------------------------------------------------------------------------------- */

INLINE_NEON void row_of(const struct warp_row *r, uint8_t *out, int taps, uint32_t channels)
{
    /* A load of 8 bytes for two taps, of 16 for four, is that many pixels past them. */
    const int32_t beyond = channels == 4 ? 0 : taps == 2 ? 1 : 2;
    struct places p;
    uint32_t x = 0;
    for (; x + STEP <= r->width; x += STEP, out += STEP * channels) {
        find(r, x, taps, beyond, &p);
        if (!p.all_inside)
            warp_pixels(r, x, x + STEP, out, p.all_outside);
        else if (taps == 2)
            linear4(r, &p, channels, out);
        else
            taps4(r, &p, taps, channels, out);
    }
    warp_pixels(r, x, r->width, out, false);
}

#define LOOP INLINE_NEON
#include "augment/geometry/warp_taps.h"

/* One channel and one tap gain nothing: no load has more than a pixel of use. */
void warp_row_neon(const struct warp_row *r, uint8_t *out)
{
    if (!warp_fits_32_bits(r) || r->channels == 1 || r->taps == 1)
        warp_row_scalar(r, out);
    else if (r->channels == 3)
        by_taps(r, out, 3);
    else
        by_taps(r, out, 4);
}
