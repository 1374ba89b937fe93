/* augment/colour/colour_neon.c - the colour kernels on NEON: four pixels a step, a channel a
 * vector. */
#include "augment/colour/colour.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

#include <float.h>

enum { STEP = 4 };

typedef float32x4_t reals;
typedef int32x4_t ints;
typedef uint32x4_t truth;

/* ---- four pixels in and out --------------------------------------------------------------- */

struct pixels {
    ints r, g, b;
    uint8x16_t bytes; /* as they were loaded */
};

/* Of four pixels in 12 or 16 bytes, one channel. */
INLINE_NEON ints channel_of(uint8x16_t bytes, int c, int channels)
{
    const int8_t from[16] = {(int8_t)c,
                             -1,
                             -1,
                             -1,
                             (int8_t)(c + channels),
                             -1,
                             -1,
                             -1,
                             (int8_t)(c + 2 * channels),
                             -1,
                             -1,
                             -1,
                             (int8_t)(c + 3 * channels),
                             -1,
                             -1,
                             -1};
    return vreinterpretq_s32_u8(ordered(bytes, from));
}

/* Three channels: loads, and stores unchanged, 4 bytes more. */
INLINE_NEON struct pixels load4(const uint8_t *px, uint32_t channels)
{
    struct pixels e;
    e.bytes = load16(px);
    e.r = channel_of(e.bytes, 0, (int)channels);
    e.g = channel_of(e.bytes, 1, (int)channels);
    e.b = channel_of(e.bytes, 2, (int)channels);
    return e;
}

INLINE_NEON void
put(uint8_t *px, uint32_t i, uint32_t whole, const struct pixels *e, uint32_t channels)
{
    static const uint8_t last[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255};
    const ints rgb = vorrq_s32(e->r, vorrq_s32(vshlq_n_s32(e->g, 8), vshlq_n_s32(e->b, 16)));
    uint8x16_t out = vreinterpretq_u8_s32(rgb);
    uint8x16_t keep = vreinterpretq_u8_u32(vdupq_n_u32(0xff000000u));
    if (channels == 3) {
        out = ordered(out, close_gaps);
        keep = load16(last);
    }
    (void)whole;
    vst1q_u8(px + (size_t)i * channels, vorrq_u8(out, vandq_u8(keep, e->bytes)));
}

/* Pixels that can be loaded by fours. */
INLINE_NEON uint32_t vectors(uint32_t n, uint32_t channels)
{
    const uint32_t spare = channels == 3 ? 2 : 0;
    return n < STEP + spare ? 0 : (n - spare) / STEP * STEP;
}

INLINE_NEON struct pixels first(const uint8_t *px, uint32_t whole, uint32_t channels)
{
    const struct pixels none = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_u8(0)};
    return whole != 0 ? load4(px, channels) : none;
}

INLINE_NEON struct pixels after(const uint8_t *px, uint32_t i, uint32_t whole, uint32_t channels)
{
    return load4(px + (size_t)(i + STEP < whole ? i + STEP : i) * channels, channels);
}

/* ---- kernels of any width ----------------------------------------------------------------- */

INLINE_NEON truth is_odd(ints v)
{
    return vtstq_s32(v, vdupq_n_s32(1));
}

INLINE_NEON truth in_sixths(ints sixth, int bits)
{
    return vtstq_s32(vshlq_s32(vdupq_n_s32(1), sixth), vdupq_n_s32(bits));
}

INLINE_NEON reals only(truth where, reals v)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), where));
}

INLINE_NEON reals unless(truth where, reals v)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v), where));
}

/* The names that colour_lanes.h has for them. */
#define neon_set1_ps       vdupq_n_f32
#define neon_set1_epi32    vdupq_n_s32
#define neon_mullo_epi32   vmulq_s32
#define neon_add_epi32     vaddq_s32
#define neon_min_ps        vminq_f32
#define neon_max_ps        vmaxq_f32
#define neon_min_epi32     vminq_s32
#define neon_max_epi32     vmaxq_s32
#define neon_cvtepi32_ps   vcvtq_f32_s32
#define neon_cvtps_epi32   vcvtnq_s32_f32
#define neon_cvttps_epi32  vcvtq_s32_f32
#define compare__CMP_GT_OQ vcgtq_f32
#define compare__CMP_LT_OQ vcltq_f32
#define compare__CMP_LE_OQ vcleq_f32
#define compare__CMP_GE_OQ vcgeq_f32
#define compare__CMP_EQ_OQ vceqq_f32

#define LOOP                   INLINE_NEON
#define ENTRY(type, name)      type name##_neon
#define V(operation)           neon_##operation
#define SHIFTED(v, bits)       vshlq_s32(v, vdupq_n_s32(-(int32_t)(bits)))
#define COMPARE(a, how, b)     compare_##how(a, b)
#define select(no, where, yes) vbslq_f32(where, yes, no)
#define add_where(a, where, b) ((a) + only(where, b))
#define sub_where(a, where, b) ((a)-only(where, b))
#include "augment/colour/colour_lanes.h"

INLINE_NEON uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                                 uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    uint64x2_t sum = vdupq_n_u64(0);
    for (uint32_t i = 0; i < whole; i += STEP) {
        const struct pixels e = load4(px + (size_t)i * channels, channels);
        sum = vpadalq_u32(sum, vreinterpretq_u32_s32(grey_all(w, &e)));
    }
    return vaddvq_u64(sum) + grey_sum_scalar(w, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- the hue turned ----------------------------------------------------------------------- */

INLINE_NEON ints pick_whole(ints sixth, ints low, ints high, ints between, int lows, int highs)
{
    return vbslq_s32(in_sixths(sixth, highs), high,
                     vbslq_s32(in_sixths(sixth, lows), low, between));
}

/* Of a hue in sixths, which may be below 0 or beyond 6. */
INLINE_NEON reals onto_circle(reals h)
{
    h = add_where(h, vcltq_f32(h, ALL(0)), ALL(6));
    return sub_where(h, vcgeq_f32(h, ALL(6)), ALL(6));
}

INLINE_NEON void turn4(struct pixels *e, reals turn)
{
    const ints high = vmaxq_s32(vmaxq_s32(e->r, e->g), e->b);
    const ints low = vminq_s32(vminq_s32(e->r, e->g), e->b);
    const ints delta = vsubq_s32(high, low);
    const truth is_r = vceqq_s32(high, e->r), is_g = vceqq_s32(high, e->g);
    ints a = vbslq_s32(is_g, vsubq_s32(e->b, e->r), vsubq_s32(e->r, e->g));
    a = vbslq_s32(is_r, vsubq_s32(e->g, e->b), a);
    const reals base = unless(is_r, select(ALL(4), is_g, ALL(2)));
    const ints divisor = vmaxq_s32(delta, vdupq_n_s32(1)); /* not by 0 */
    reals h = onto_circle(vcvtq_f32_s32(a) / vcvtq_f32_s32(divisor) + base + turn);
    const ints sixth = vcvtq_s32_f32(h);
    h = h - vcvtq_f32_s32(sixth);
    h = select(h, is_odd(sixth), ALL(1) - h);
    const ints between = vcvtnq_s32_f32(vcvtq_f32_s32(low) + vcvtq_f32_s32(delta) * h);
    e->r = pick_whole(sixth, low, high, between, 0x0c, 0x21);
    e->g = pick_whole(sixth, low, high, between, 0x30, 0x06);
    e->b = pick_whole(sixth, low, high, between, 0x03, 0x18);
}

INLINE_NEON void hue_of(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    struct pixels e = first(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = after(px, i, whole, channels);
        turn4(&e, ALL(turn));
        put(px, i, whole, &e, channels);
    }
    hue_turn_scalar(turn, px + (size_t)whole * channels, n - whole, channels);
}

void hue_turn_neon(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    if (channels == 3)
        hue_of(turn, px, n, 3);
    else
        hue_of(turn, px, n, 4);
}
