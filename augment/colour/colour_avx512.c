/* augment/colour/colour_avx512.c - the colour kernels on AVX-512: sixteen pixels a step, a channel
 * a vector; masks take what is left. */
#include "augment/colour/colour.h"
#include "base/simd.h"

#include <float.h>

enum { STEP = 16 };

/* ---- sixteen pixels in and out ------------------------------------------------------------ */

struct sixteen {
    __m512i r, g, b, alpha; /* int32; alpha in its place */
};

/* Bytes 0, 1, 2, none, 3, 4, 5, none, ... and back. */
static const uint8_t spread[64] = {0,  1,  2,  64, 3,  4,  5,  64, 6,  7,  8,  64, 9,  10, 11, 64,
                                   12, 13, 14, 64, 15, 16, 17, 64, 18, 19, 20, 64, 21, 22, 23, 64,
                                   24, 25, 26, 64, 27, 28, 29, 64, 30, 31, 32, 64, 33, 34, 35, 64,
                                   36, 37, 38, 64, 39, 40, 41, 64, 42, 43, 44, 64, 45, 46, 47, 64};
static const uint8_t gather[64] = {0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20,
                                   21, 22, 24, 25, 26, 28, 29, 30, 32, 33, 34, 36, 37, 38, 40, 41,
                                   42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57, 58, 60, 61, 62};

INLINE512 __mmask64 bytes_of(uint32_t pixels, uint32_t channels)
{
    const uint32_t n = pixels * channels;
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

INLINE512 struct sixteen load16(const uint8_t *px, __mmask64 bytes, uint32_t channels)
{
    const __m512i byte = _mm512_set1_epi32(255);
    struct sixteen e;
    __m512i v = _mm512_maskz_loadu_epi8(bytes, px);
    if (channels == 3)
        v = _mm512_maskz_permutexvar_epi8(0x7777777777777777u, _mm512_loadu_si512(spread), v);
    e.r = _mm512_and_si512(v, byte);
    e.g = _mm512_and_si512(_mm512_srli_epi32(v, 8), byte);
    e.b = _mm512_and_si512(_mm512_srli_epi32(v, 16), byte);
    e.alpha = _mm512_and_si512(v, _mm512_set1_epi32((int)0xff000000u));
    return e;
}

/* Pixels i to i + 15 of n, as far as there are any. */
INLINE512 __mmask64 bytes_at(uint32_t i, uint32_t n, uint32_t channels)
{
    return i >= n ? 0 : bytes_of(n - i < STEP ? n - i : STEP, channels);
}

INLINE512 struct sixteen load_at(const uint8_t *px, uint32_t i, uint32_t n, uint32_t channels)
{
    return load16(px + (size_t)i * channels, bytes_at(i, n, channels), channels);
}

INLINE512 void store16(uint8_t *px, const struct sixteen *e, __mmask64 bytes, uint32_t channels)
{
    const __m512i rg = _mm512_or_si512(e->r, _mm512_slli_epi32(e->g, 8));
    __m512i v = _mm512_or_si512(rg, _mm512_or_si512(_mm512_slli_epi32(e->b, 16), e->alpha));
    if (channels == 3)
        v = _mm512_permutexvar_epi8(_mm512_loadu_si512(gather), v);
    _mm512_mask_storeu_epi8(px, bytes, v);
}

INLINE512 void
store_at(uint8_t *px, uint32_t i, uint32_t n, const struct sixteen *e, uint32_t channels)
{
    store16(px + (size_t)i * channels, e, bytes_at(i, n, channels), channels);
}

/* ---- tables ------------------------------------------------------------------------------- */

struct table {
    __m512i part[4];
};

INLINE512 struct table load_table(const uint8_t map[256])
{
    struct table t;
    for (int k = 0; k < 4; k++)
        t.part[k] = _mm512_loadu_si512(map + 64 * k);
    return t;
}

INLINE512 __m512i look_up(const struct table *t, __m512i v)
{
    const __m512i low = _mm512_permutex2var_epi8(t->part[0], v, t->part[1]);
    const __m512i high = _mm512_permutex2var_epi8(t->part[2], v, t->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high);
}

/* 64 bytes of which the first is of channel (phase) % channels; `of`: bytes of each channel. */
INLINE512 __m512i look_up_all(const struct table t[3], __m512i v, const __mmask64 of[3])
{
    __m512i out = v;
    for (int c = 0; c < 3; c++)
        out = _mm512_mask_mov_epi8(out, of[c], look_up(&t[c], v));
    return out;
}

INLINE512 __mmask64 first_bytes(size_t n, uint32_t most)
{
    n = n < most ? n : most;
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/* Here and below, bytes are loaded before those before them are stored: a load that reaches into
 * what is on its way to the cache would wait, even where a mask lets it out. */
AVX512 void colour_map_avx512(uint8_t *px, uint32_t n, uint32_t channels, const uint8_t map[3][256])
{
    const struct table t[3] = {load_table(map[0]), load_table(map[1]), load_table(map[2])};
    const uint32_t step = channels == 3 ? 63 : 64; /* bytes of whole pixels */
    const __mmask64 third = channels == 3   ? 0x9249249249249249u
                            : channels == 4 ? 0x1111111111111111u
                                            : ~(__mmask64)0;
    const __mmask64 of[3] = {third, channels == 1 ? 0 : third << 1, channels == 1 ? 0 : third << 2};
    size_t left = (size_t)n * channels;
    __mmask64 bytes = first_bytes(left, step);
    __m512i v = _mm512_maskz_loadu_epi8(bytes, px);
    while (left > step) {
        const __mmask64 more = first_bytes(left - step, step);
        const __m512i next = _mm512_maskz_loadu_epi8(more, px + step);
        _mm512_mask_storeu_epi8(px, bytes, look_up_all(t, v, of));
        v = next, bytes = more;
        px += step;
        left -= step;
    }
    _mm512_mask_storeu_epi8(px, bytes, look_up_all(t, v, of));
}

/* ---- grey --------------------------------------------------------------------------------- */

INLINE512 __m512i grey16(const struct grey_weights *w, const struct sixteen *e)
{
    const __m512i r = _mm512_mullo_epi32(e->r, _mm512_set1_epi32(w->r));
    const __m512i g = _mm512_mullo_epi32(e->g, _mm512_set1_epi32(w->g));
    const __m512i b = _mm512_mullo_epi32(e->b, _mm512_set1_epi32(w->b));
    const __m512i half = _mm512_set1_epi32(1 << w->bits >> 1);
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(r, g), _mm512_add_epi32(b, half));
    return _mm512_srl_epi32(sum, _mm_cvtsi32_si128(w->bits));
}

INLINE512 uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                               uint32_t channels)
{
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += STEP) {
        const struct sixteen e = load_at(px, i, n, channels);
        const __m512i grey = grey16(w, &e); /* of no pixel: 0, whatever rounding adds */
        sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(grey)));
        sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(grey, 1)));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

/* ---- saturation --------------------------------------------------------------------------- */

INLINE512 __m512i saturated(__m512 v) /* rounded to even, 0..255 */
{
    const __m512 in = _mm512_min_ps(_mm512_max_ps(v, _mm512_setzero_ps()), _mm512_set1_ps(255));
    return _mm512_cvtps_epi32(in);
}

INLINE512 __m512i blend16(__m512i value, __m512 factor, __m512 grey)
{
    return saturated(_mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(value), factor), grey));
}

INLINE512 void saturation_of(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n,
                             uint32_t channels)
{
    const __m512 f = _mm512_set1_ps(factor), rest = _mm512_set1_ps(1 - factor);
    struct sixteen e = load_at(px, 0, n, channels), next;
    for (uint32_t i = 0; i < n; i += STEP, e = next) {
        next = load_at(px, i + STEP, n, channels);
        const __m512 grey = _mm512_mul_ps(_mm512_cvtepi32_ps(grey16(w, &e)), rest);
        e.r = blend16(e.r, f, grey);
        e.g = blend16(e.g, f, grey);
        e.b = blend16(e.b, f, grey);
        store_at(px, i, n, &e, channels);
    }
}

/* ---- HLS ---------------------------------------------------------------------------------- */

INLINE512 __m512 unit(__m512i v)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(v), _mm512_set1_ps(1.0f / 255));
}

struct hls16 {
    __m512i h, l, s;
};

INLINE512 __m512 hue(__m512 r, __m512 g, __m512 b, __m512 hi, __m512 delta)
{
    const __m512 k = _mm512_div_ps(_mm512_set1_ps(60), delta);
    const __mmask16 is_r = _mm512_cmp_ps_mask(hi, r, _CMP_EQ_OQ);
    const __mmask16 is_g = _mm512_cmp_ps_mask(hi, g, _CMP_EQ_OQ) & (__mmask16)~is_r;
    __m512 a = _mm512_sub_ps(r, g), base = _mm512_set1_ps(240);
    a = _mm512_mask_sub_ps(a, is_g, b, r);
    a = _mm512_mask_sub_ps(a, is_r, g, b);
    base = _mm512_mask_mov_ps(base, is_g, _mm512_set1_ps(120));
    base = _mm512_mask_mov_ps(base, is_r, _mm512_setzero_ps());
    const __m512 h = _mm512_add_ps(_mm512_mul_ps(a, k), base);
    const __mmask16 less = _mm512_cmp_ps_mask(h, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mul_ps(_mm512_mask_add_ps(h, less, h, _mm512_set1_ps(360)), _mm512_set1_ps(0.5f));
}

INLINE512 struct hls16 to_hls(const struct sixteen *e)
{
    const __m512 r = unit(e->r), g = unit(e->g), b = unit(e->b);
    const __m512 hi = _mm512_max_ps(_mm512_max_ps(r, g), b);
    const __m512 lo = _mm512_min_ps(_mm512_min_ps(r, g), b);
    const __m512 delta = _mm512_sub_ps(hi, lo), sum = _mm512_add_ps(hi, lo);
    const __m512 half = _mm512_set1_ps(0.5f), l = _mm512_mul_ps(sum, half);
    const __mmask16 colour = _mm512_cmp_ps_mask(delta, _mm512_set1_ps(FLT_EPSILON), _CMP_GT_OQ);
    const __m512 below = _mm512_mask_mov_ps(_mm512_sub_ps(_mm512_set1_ps(2), sum),
                                            _mm512_cmp_ps_mask(l, half, _CMP_LT_OQ), sum);
    const __m512 s = _mm512_maskz_div_ps(colour, delta, below);
    const __m512 h = _mm512_maskz_mov_ps(colour, hue(r, g, b, hi, delta));
    const __m512 whole = _mm512_set1_ps(255);
    return (struct hls16){saturated(h), saturated(_mm512_mul_ps(l, whole)),
                          saturated(_mm512_mul_ps(s, whole))};
}

INLINE512 __m512i shifted(__m512i v, int32_t shift, int32_t most)
{
    const __m512i sum = _mm512_add_epi32(v, _mm512_set1_epi32(shift));
    return _mm512_min_epi32(_mm512_max_epi32(sum, _mm512_setzero_si512()), _mm512_set1_epi32(most));
}

/* p1 in the sixths whose bits are in `ones`, p2 in those of `twos`, between elsewhere; a byte. */
INLINE512 __m512i pick(__m512i bit, __m512 p1, __m512 p2, __m512 between, int ones, int twos)
{
    __m512 v =
        _mm512_mask_mov_ps(between, _mm512_test_epi32_mask(bit, _mm512_set1_epi32(ones)), p1);
    v = _mm512_mask_mov_ps(v, _mm512_test_epi32_mask(bit, _mm512_set1_epi32(twos)), p2);
    return saturated(_mm512_mul_ps(v, _mm512_set1_ps(255)));
}

INLINE512 void from_hls(const struct hls16 *x, struct sixteen *e)
{
    const __m512 one = _mm512_set1_ps(1), six = _mm512_set1_ps(6);
    const __m512 l = unit(x->l), s = unit(x->s);
    __m512 h = _mm512_mul_ps(_mm512_cvtepi32_ps(x->h), _mm512_set1_ps(6.0f / 180));
    const __m512 dark = _mm512_mul_ps(l, _mm512_add_ps(one, s));
    const __m512 bright = _mm512_sub_ps(_mm512_add_ps(l, s), _mm512_mul_ps(l, s));
    const __mmask16 is_dark = _mm512_cmp_ps_mask(l, _mm512_set1_ps(0.5f), _CMP_LE_OQ);
    const __m512 p2 = _mm512_mask_mov_ps(bright, is_dark, dark);
    const __m512 p1 = _mm512_sub_ps(_mm512_mul_ps(_mm512_set1_ps(2), l), p2);
    h = _mm512_mask_sub_ps(h, _mm512_cmp_ps_mask(h, six, _CMP_GE_OQ), h, six);
    const __m512i sixth = _mm512_cvttps_epi32(h);
    h = _mm512_sub_ps(h, _mm512_cvtepi32_ps(sixth));
    const __mmask16 odd = _mm512_test_epi32_mask(sixth, _mm512_set1_epi32(1));
    h = _mm512_mask_sub_ps(h, odd, one, h);
    const __m512 between = _mm512_add_ps(p1, _mm512_mul_ps(_mm512_sub_ps(p2, p1), h));
    const __m512i bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), sixth);
    e->r = pick(bit, p1, p2, between, 0x0c, 0x21);
    e->g = pick(bit, p1, p2, between, 0x30, 0x06);
    e->b = pick(bit, p1, p2, between, 0x03, 0x18);
}

INLINE512 void hls_of(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels)
{
    struct sixteen e = load_at(px, 0, n, channels), next;
    for (uint32_t i = 0; i < n; i += STEP, e = next) {
        next = load_at(px, i + STEP, n, channels);
        struct hls16 x = to_hls(&e);
        x.h = shifted(x.h, shift[0], 180);
        x.l = shifted(x.l, shift[1], 255);
        x.s = shifted(x.s, shift[2], 255);
        from_hls(&x, &e);
        store_at(px, i, n, &e, channels);
    }
}

#define ENTRY(type, name) AVX512 type name##_avx512
#include "augment/colour/colour_entries.h"
