/* augment/colour/colour_avx2.c - the colour kernels on AVX2: eight pixels a step, a channel a
 * vector. */
#include "augment/colour/colour.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

#include <float.h>

enum { STEP = 8 };

/* ---- eight pixels in and out -------------------------------------------------------------- */

struct pixels {
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
INLINE2 struct pixels load8(const uint8_t *px, uint32_t channels)
{
    struct pixels e;
    e.bytes = load_halves(px, px + 4 * channels);
    e.r = channel_of(e.bytes, 0, (char)channels);
    e.g = channel_of(e.bytes, 1, (char)channels);
    e.b = channel_of(e.bytes, 2, (char)channels);
    return e;
}

INLINE2 void put(uint8_t *px, uint32_t i, uint32_t whole, const struct pixels *e, uint32_t channels)
{
    const __m256i rgb = _mm256_or_si256(
        e->r, _mm256_or_si256(_mm256_slli_epi32(e->g, 8), _mm256_slli_epi32(e->b, 16)));
    __m256i out = rgb, keep = _mm256_set1_epi32((int)0xff000000u);
    if (channels == 3) {
        out = _mm256_shuffle_epi8(rgb, load_twice(close_gaps));
        keep = _mm256_broadcastsi128_si256(_mm_setr_epi32(0, 0, 0, -1));
    }
    (void)whole;
    px += (size_t)i * channels;
    store_halves(px, px + 4 * channels, _mm256_or_si256(out, _mm256_and_si256(keep, e->bytes)));
}

/* Pixels that can be loaded by eights. */
INLINE2 uint32_t vectors(uint32_t n, uint32_t channels)
{
    const uint32_t spare = channels == 3 ? 2 : 0;
    return n < STEP + spare ? 0 : (n - spare) / STEP * STEP;
}

INLINE2 struct pixels first(const uint8_t *px, uint32_t whole, uint32_t channels)
{
    const struct pixels none = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                _mm256_setzero_si256(), _mm256_setzero_si256()};
    return whole != 0 ? load8(px, channels) : none;
}

INLINE2 struct pixels after(const uint8_t *px, uint32_t i, uint32_t whole, uint32_t channels)
{
    return load8(px + (size_t)(i + STEP < whole ? i + STEP : i) * channels, channels);
}

/* ---- kernels of any width ----------------------------------------------------------------- */

typedef __m256 reals, truth; /* a truth's sign decides */
typedef __m256i ints;

INLINE2 truth is_odd(ints v)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 31));
}

INLINE2 truth in_sixths(ints sixth, int bits)
{
    const ints of = _mm256_setr_epi32(-(bits & 1), -(bits >> 1 & 1), -(bits >> 2 & 1),
                                      -(bits >> 3 & 1), -(bits >> 4 & 1), -(bits >> 5 & 1), 0, 0);
    return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(of, sixth));
}

#define LOOP                   INLINE2
#define ENTRY(type, name)      AVX2 type name##_avx2
#define V(operation)           _mm256_##operation
#define SHIFTED(v, bits)       _mm256_srl_epi32(v, _mm_cvtsi32_si128(bits))
#define COMPARE(a, how, b)     _mm256_cmp_ps(a, b, how)
#define select(no, where, yes) _mm256_blendv_ps(no, yes, where)
#define only(where, v)         _mm256_and_ps(v, where)
#define unless(where, v)       _mm256_andnot_ps(where, v)
#define add_where(a, where, b) ((a) + only(where, b))
#define sub_where(a, where, b) ((a)-only(where, b))
#include "augment/colour/colour_lanes.h"

INLINE2 uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                             uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < whole;) {
        __m256i part = _mm256_setzero_si256(); /* 32 bits hold 65536 * 255 */
        const uint32_t end = whole - i < 65536 ? whole : i + 65536;
        for (; i < end; i += STEP) {
            const struct pixels e = load8(px + (size_t)i * channels, channels);
            part = _mm256_add_epi32(part, grey_all(w, &e));
        }
        uint32_t lanes[STEP];
        store256(lanes, part);
        for (int k = 0; k < STEP; k++)
            sum += lanes[k];
    }
    return sum + grey_sum_scalar(w, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- the hue turned ----------------------------------------------------------------------- */

INLINE2 __m256i pick_whole(__m256i sixth, __m256i low, __m256i high, __m256i between, int lows,
                           int highs)
{
    const __m256i is_low = _mm256_castps_si256(in_sixths(sixth, lows));
    const __m256i is_high = _mm256_castps_si256(in_sixths(sixth, highs));
    return _mm256_blendv_epi8(_mm256_blendv_epi8(between, low, is_low), high, is_high);
}

/* Of a hue in sixths, which may be below 0 or beyond 6. */
INLINE2 __m256 onto_circle(__m256 h)
{
    h = add_where(h, COMPARE(h, _CMP_LT_OQ, ALL(0)), ALL(6));
    return sub_where(h, COMPARE(h, _CMP_GE_OQ, ALL(6)), ALL(6));
}

INLINE2 void turn8(struct pixels *e, __m256 turn)
{
    const __m256i high = _mm256_max_epi32(_mm256_max_epi32(e->r, e->g), e->b);
    const __m256i low = _mm256_min_epi32(_mm256_min_epi32(e->r, e->g), e->b);
    const __m256i delta = _mm256_sub_epi32(high, low);
    const __m256i is_r = _mm256_cmpeq_epi32(high, e->r), is_g = _mm256_cmpeq_epi32(high, e->g);
    __m256i a =
        _mm256_blendv_epi8(_mm256_sub_epi32(e->r, e->g), _mm256_sub_epi32(e->b, e->r), is_g);
    a = _mm256_blendv_epi8(a, _mm256_sub_epi32(e->g, e->b), is_r);
    const __m256 base =
        unless(_mm256_castsi256_ps(is_r), select(ALL(4), _mm256_castsi256_ps(is_g), ALL(2)));
    const __m256i none = _mm256_cmpeq_epi32(delta, _mm256_setzero_si256());
    const __m256 share = /* not by 0 */
        _mm256_cvtepi32_ps(a) / _mm256_cvtepi32_ps(_mm256_sub_epi32(delta, none));
    __m256 h = onto_circle(share + base + turn);
    const __m256i sixth = _mm256_cvttps_epi32(h);
    h = h - _mm256_cvtepi32_ps(sixth);
    h = select(h, is_odd(sixth), ALL(1) - h);
    const __m256i between =
        _mm256_cvtps_epi32(_mm256_cvtepi32_ps(low) + _mm256_cvtepi32_ps(delta) * h);
    e->r = pick_whole(sixth, low, high, between, 0x0c, 0x21);
    e->g = pick_whole(sixth, low, high, between, 0x30, 0x06);
    e->b = pick_whole(sixth, low, high, between, 0x03, 0x18);
}

INLINE2 void hue_of(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    struct pixels e = first(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = after(px, i, whole, channels);
        turn8(&e, _mm256_set1_ps(turn));
        put(px, i, whole, &e, channels);
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
