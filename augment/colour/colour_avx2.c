/* augment/colour/colour_avx2.c - the colour kernels on AVX2: eight pixels a step, a channel a
 * vector. */
#include "augment/colour/colour.h"
#include "base/simd.h"

#include <float.h>

enum { STEP = 8 };

/* ---- eight pixels in and out -------------------------------------------------------------- */

struct eight {
    __m256i r, g, b; /* int32 */
    __m256i bytes;   /* as they were loaded: a half in each lane */
};

/* Of four pixels in 12 or 16 bytes, one channel as int32. */
INLINE2 __m256i channel_of(__m256i bytes, char c, char channels)
{
    const char d = channels;
    const __m128i pick = _mm_setr_epi8(c, -1, -1, -1, (char)(c + d), -1, -1, -1, (char)(c + 2 * d),
                                       -1, -1, -1, (char)(c + 3 * d), -1, -1, -1);
    return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(pick));
}

/* Three channels: loads, and stores unchanged, 4 bytes more. */
INLINE2 struct eight load8(const uint8_t *px, uint32_t channels)
{
    struct eight e;
    e.bytes = _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)(px + 4 * channels)),
                               _mm_loadu_si128((const __m128i *)(const void *)px));
    e.r = channel_of(e.bytes, 0, (char)channels);
    e.g = channel_of(e.bytes, 1, (char)channels);
    e.b = channel_of(e.bytes, 2, (char)channels);
    return e;
}

INLINE2 void store8(uint8_t *px, const struct eight *e, uint32_t channels)
{
    const __m256i rgb = _mm256_or_si256(
        e->r, _mm256_or_si256(_mm256_slli_epi32(e->g, 8), _mm256_slli_epi32(e->b, 16)));
    const __m128i close = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m256i out, keep;
    if (channels == 3) {
        out = _mm256_shuffle_epi8(rgb, _mm256_broadcastsi128_si256(close));
        keep = _mm256_broadcastsi128_si256(_mm_setr_epi32(0, 0, 0, -1));
    } else {
        out = rgb;
        keep = _mm256_set1_epi32((int)0xff000000u);
    }
    out = _mm256_or_si256(out, _mm256_and_si256(keep, e->bytes));
    _mm_storeu_si128((__m128i *)(void *)px, _mm256_castsi256_si128(out));
    _mm_storeu_si128((__m128i *)(void *)(px + 4 * channels), _mm256_extracti128_si256(out, 1));
}

/* Pixels that can be loaded by eights; the rest is the scalar's. */
INLINE2 uint32_t vectors(uint32_t n, uint32_t channels)
{
    const uint32_t spare = channels == 3 ? 2 : 0;
    return n < STEP + spare ? 0 : (n - spare) / STEP * STEP;
}

/* Each eight are loaded before the ones before them are stored: a load of bytes that are still on
 * their way to the cache would wait for them. */
INLINE2 struct eight first8(const uint8_t *px, uint32_t whole, uint32_t channels)
{
    const struct eight none = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                               _mm256_setzero_si256(), _mm256_setzero_si256()};
    return whole != 0 ? load8(px, channels) : none;
}

INLINE2 struct eight next8(const uint8_t *px, uint32_t i, uint32_t whole, uint32_t channels)
{
    return load8(px + (size_t)(i + STEP < whole ? i + STEP : i) * channels, channels);
}

/* ---- grey --------------------------------------------------------------------------------- */

INLINE2 __m256i grey8(const struct grey_weights *w, const struct eight *e)
{
    const __m256i r = _mm256_mullo_epi32(e->r, _mm256_set1_epi32(w->r));
    const __m256i g = _mm256_mullo_epi32(e->g, _mm256_set1_epi32(w->g));
    const __m256i b = _mm256_mullo_epi32(e->b, _mm256_set1_epi32(w->b));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(r, g),
                                         _mm256_add_epi32(b, _mm256_set1_epi32(1 << w->bits >> 1)));
    return _mm256_srl_epi32(sum, _mm_cvtsi32_si128(w->bits));
}

INLINE2 uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                             uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < whole;) {
        __m256i part = _mm256_setzero_si256(); /* 32 bits hold 65536 * 255 */
        const uint32_t end = whole - i < 65536 ? whole : i + 65536;
        for (; i < end; i += STEP) {
            const struct eight e = load8(px + (size_t)i * channels, channels);
            part = _mm256_add_epi32(part, grey8(w, &e));
        }
        uint32_t lanes[STEP];
        _mm256_storeu_si256((__m256i *)(void *)lanes, part);
        for (int k = 0; k < STEP; k++)
            sum += lanes[k];
    }
    return sum + grey_sum_scalar(w, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- saturation --------------------------------------------------------------------------- */

INLINE2 __m256i saturated(__m256 v) /* rounded to even, 0..255 */
{
    const __m256 in = _mm256_min_ps(_mm256_max_ps(v, _mm256_setzero_ps()), _mm256_set1_ps(255));
    return _mm256_cvtps_epi32(in);
}

INLINE2 __m256i blend8(__m256i value, __m256 factor, __m256 grey)
{
    return saturated(_mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(value), factor), grey));
}

INLINE2 void saturation_of(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n,
                           uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    const __m256 f = _mm256_set1_ps(factor), rest = _mm256_set1_ps(1 - factor);
    struct eight e = first8(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = next8(px, i, whole, channels);
        const __m256 grey = _mm256_mul_ps(_mm256_cvtepi32_ps(grey8(w, &e)), rest);
        e.r = blend8(e.r, f, grey);
        e.g = blend8(e.g, f, grey);
        e.b = blend8(e.b, f, grey);
        store8(px + (size_t)i * channels, &e, channels);
    }
    saturation_scalar(w, factor, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- HLS ---------------------------------------------------------------------------------- */

INLINE2 __m256 unit(__m256i v)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(1.0f / 255));
}

struct hls8 {
    __m256i h, l, s;
};

INLINE2 struct hls8 to_hls(const struct eight *e)
{
    const __m256 r = unit(e->r), g = unit(e->g), b = unit(e->b);
    const __m256 hi = _mm256_max_ps(_mm256_max_ps(r, g), b);
    const __m256 lo = _mm256_min_ps(_mm256_min_ps(r, g), b);
    const __m256 delta = _mm256_sub_ps(hi, lo), sum = _mm256_add_ps(hi, lo);
    const __m256 half = _mm256_set1_ps(0.5f), l = _mm256_mul_ps(sum, half);
    const __m256 colour = _mm256_cmp_ps(delta, _mm256_set1_ps(FLT_EPSILON), _CMP_GT_OQ);
    const __m256 below = _mm256_blendv_ps(_mm256_sub_ps(_mm256_set1_ps(2), sum), sum,
                                          _mm256_cmp_ps(l, half, _CMP_LT_OQ));
    const __m256 s = _mm256_and_ps(_mm256_div_ps(delta, below), colour);
    const __m256 k = _mm256_div_ps(_mm256_set1_ps(60), delta);
    const __m256 is_r = _mm256_cmp_ps(hi, r, _CMP_EQ_OQ), is_g = _mm256_cmp_ps(hi, g, _CMP_EQ_OQ);
    __m256 a = _mm256_blendv_ps(_mm256_sub_ps(r, g), _mm256_sub_ps(b, r), is_g);
    a = _mm256_blendv_ps(a, _mm256_sub_ps(g, b), is_r);
    const __m256 base =
        _mm256_andnot_ps(is_r, _mm256_blendv_ps(_mm256_set1_ps(240), _mm256_set1_ps(120), is_g));
    __m256 h = _mm256_add_ps(_mm256_mul_ps(a, k), base);
    const __m256 less = _mm256_cmp_ps(h, _mm256_setzero_ps(), _CMP_LT_OQ);
    h = _mm256_add_ps(h, _mm256_and_ps(less, _mm256_set1_ps(360)));
    h = _mm256_and_ps(_mm256_mul_ps(h, half), colour);
    const __m256 whole = _mm256_set1_ps(255);
    return (struct hls8){saturated(h), saturated(_mm256_mul_ps(l, whole)),
                         saturated(_mm256_mul_ps(s, whole))};
}

INLINE2 __m256i shifted(__m256i v, int32_t shift, int32_t most)
{
    const __m256i sum = _mm256_add_epi32(v, _mm256_set1_epi32(shift));
    return _mm256_min_epi32(_mm256_max_epi32(sum, _mm256_setzero_si256()), _mm256_set1_epi32(most));
}

/* p2 in the sixths where `twos` has ones, p1 where `ones` has, between elsewhere; as a byte. */
INLINE2 __m256i pick(__m256i sixth, __m256 p1, __m256 p2, __m256 between, __m256i ones,
                     __m256i twos)
{
    __m256 v = _mm256_blendv_ps(between, p1,
                                _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(ones, sixth)));
    v = _mm256_blendv_ps(v, p2, _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(twos, sixth)));
    return saturated(_mm256_mul_ps(v, _mm256_set1_ps(255)));
}

INLINE2 void from_hls(const struct hls8 *x, struct eight *e)
{
    const __m256 one = _mm256_set1_ps(1), six = _mm256_set1_ps(6);
    const __m256 l = unit(x->l), s = unit(x->s);
    __m256 h = _mm256_mul_ps(_mm256_cvtepi32_ps(x->h), _mm256_set1_ps(6.0f / 180));
    const __m256 dark = _mm256_mul_ps(l, _mm256_add_ps(one, s));
    const __m256 bright = _mm256_sub_ps(_mm256_add_ps(l, s), _mm256_mul_ps(l, s));
    const __m256 p2 =
        _mm256_blendv_ps(bright, dark, _mm256_cmp_ps(l, _mm256_set1_ps(0.5f), _CMP_LE_OQ));
    const __m256 p1 = _mm256_sub_ps(_mm256_mul_ps(_mm256_set1_ps(2), l), p2);
    h = _mm256_sub_ps(h, _mm256_and_ps(six, _mm256_cmp_ps(h, six, _CMP_GE_OQ)));
    const __m256i sixth = _mm256_cvttps_epi32(h);
    h = _mm256_sub_ps(h, _mm256_cvtepi32_ps(sixth));
    const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(sixth, 31)); /* the sign decides */
    h = _mm256_blendv_ps(h, _mm256_sub_ps(one, h), odd);
    const __m256 between = _mm256_add_ps(p1, _mm256_mul_ps(_mm256_sub_ps(p2, p1), h));
    e->r = pick(sixth, p1, p2, between, _mm256_setr_epi32(0, 0, -1, -1, 0, 0, 0, 0),
                _mm256_setr_epi32(-1, 0, 0, 0, 0, -1, 0, 0));
    e->g = pick(sixth, p1, p2, between, _mm256_setr_epi32(0, 0, 0, 0, -1, -1, 0, 0),
                _mm256_setr_epi32(0, -1, -1, 0, 0, 0, 0, 0));
    e->b = pick(sixth, p1, p2, between, _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, 0, 0),
                _mm256_setr_epi32(0, 0, 0, -1, -1, 0, 0, 0));
}

INLINE2 void hls_of(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    struct eight e = first8(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = next8(px, i, whole, channels);
        struct hls8 x = to_hls(&e);
        x.h = shifted(x.h, shift[0], 180);
        x.l = shifted(x.l, shift[1], 255);
        x.s = shifted(x.s, shift[2], 255);
        from_hls(&x, &e);
        store8(px + (size_t)i * channels, &e, channels);
    }
    hls_shift_scalar(shift, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- the hue turned ----------------------------------------------------------------------- */

INLINE2 __m256i pick_whole(__m256i sixth, __m256i low, __m256i high, __m256i between, __m256i lows,
                           __m256i highs)
{
    const __m256i v = _mm256_blendv_epi8(between, low, _mm256_permutevar8x32_epi32(lows, sixth));
    return _mm256_blendv_epi8(v, high, _mm256_permutevar8x32_epi32(highs, sixth));
}

/* Of a hue in sixths, which may be below 0 or beyond 6. */
INLINE2 __m256 onto_circle(__m256 h)
{
    const __m256 six = _mm256_set1_ps(6);
    const __m256 below = _mm256_cmp_ps(h, _mm256_setzero_ps(), _CMP_LT_OQ);
    h = _mm256_add_ps(h, _mm256_and_ps(below, six));
    return _mm256_sub_ps(h, _mm256_and_ps(_mm256_cmp_ps(h, six, _CMP_GE_OQ), six));
}

INLINE2 void turn8(struct eight *e, __m256 turn)
{
    const __m256i high = _mm256_max_epi32(_mm256_max_epi32(e->r, e->g), e->b);
    const __m256i low = _mm256_min_epi32(_mm256_min_epi32(e->r, e->g), e->b);
    const __m256i delta = _mm256_sub_epi32(high, low);
    const __m256i is_r = _mm256_cmpeq_epi32(high, e->r), is_g = _mm256_cmpeq_epi32(high, e->g);
    __m256i a =
        _mm256_blendv_epi8(_mm256_sub_epi32(e->r, e->g), _mm256_sub_epi32(e->b, e->r), is_g);
    a = _mm256_blendv_epi8(a, _mm256_sub_epi32(e->g, e->b), is_r);
    const __m256 base = _mm256_andnot_ps(
        _mm256_castsi256_ps(is_r),
        _mm256_blendv_ps(_mm256_set1_ps(4), _mm256_set1_ps(2), _mm256_castsi256_ps(is_g)));
    const __m256i none = _mm256_cmpeq_epi32(delta, _mm256_setzero_si256());
    const __m256 d = _mm256_cvtepi32_ps(delta);
    const __m256 share = _mm256_div_ps(
        _mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(_mm256_sub_epi32(delta, none))); /* not by 0 */
    __m256 h = onto_circle(_mm256_add_ps(_mm256_add_ps(share, base), turn));
    const __m256i sixth = _mm256_cvttps_epi32(h);
    h = _mm256_sub_ps(h, _mm256_cvtepi32_ps(sixth));
    const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(sixth, 31)); /* the sign decides */
    h = _mm256_blendv_ps(h, _mm256_sub_ps(_mm256_set1_ps(1), h), odd);
    const __m256i between =
        _mm256_cvtps_epi32(_mm256_add_ps(_mm256_cvtepi32_ps(low), _mm256_mul_ps(d, h)));
    e->r = pick_whole(sixth, low, high, between, _mm256_setr_epi32(0, 0, -1, -1, 0, 0, 0, 0),
                      _mm256_setr_epi32(-1, 0, 0, 0, 0, -1, 0, 0));
    e->g = pick_whole(sixth, low, high, between, _mm256_setr_epi32(0, 0, 0, 0, -1, -1, 0, 0),
                      _mm256_setr_epi32(0, -1, -1, 0, 0, 0, 0, 0));
    e->b = pick_whole(sixth, low, high, between, _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, 0, 0),
                      _mm256_setr_epi32(0, 0, 0, -1, -1, 0, 0, 0));
}

INLINE2 void hue_of(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    struct eight e = first8(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = next8(px, i, whole, channels);
        turn8(&e, _mm256_set1_ps(turn));
        store8(px + (size_t)i * channels, &e, channels);
    }
    hue_turn_scalar(turn, px + (size_t)whole * channels, n - whole, channels);
}

AVX2 void hue_turn_avx2(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    if (channels == 3)
        hue_of(turn, px, n, 3);
    else
        hue_of(turn, px, n, 4);
}

#define ENTRY(type, name) AVX2 type name##_avx2
#include "augment/colour/colour_entries.h"
