/* augment/geometry/warp_avx512.c - affine warps of colours on AVX-512: four pixels of two taps at
 * once, or all taps of four pixels one after another, two rows or four at once. */
#include "augment/geometry/warp_places.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

/* Two neighbours at byte `base` of a register: each value's side by side, in words. */
#define PAIR(base, channels, c) (base) + (c), 0, (base) + (channels) + (c), 0
#define LANE(base, channels)                                                                       \
    PAIR(base, channels, 0), PAIR(base, channels, 1), PAIR(base, channels, 2),                     \
        PAIR(base, channels, 3)
/* Of four rows of 16 bytes, and of two of 32; the first two of four taps, or the last two. */
#define FOUR_ROWS(at, c)                                                                           \
    {                                                                                              \
        LANE((at), c), LANE((at) + 16, c), LANE((at) + 32, c), LANE((at) + 48, c)                  \
    }
#define TWO_ROWS(at, c)                                                                            \
    {                                                                                              \
        LANE((at), c), LANE((at) + 4 * (c), c), LANE((at) + 32, c), LANE((at) + 32 + 4 * (c), c)   \
    }
static const uint8_t four_rows[2][2][64] = {{FOUR_ROWS(0, 3), FOUR_ROWS(6, 3)},
                                            {FOUR_ROWS(0, 4), FOUR_ROWS(8, 4)}};
static const uint8_t two_rows[2][2][64] = {{TWO_ROWS(0, 3), TWO_ROWS(6, 3)},
                                           {TWO_ROWS(0, 4), TWO_ROWS(8, 4)}};
/* Each of four, for all values of its lane: of the even ones, the pairs before last. */
static const int32_t each[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
static const int32_t even[16] = {0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6};

INLINE512 __m512i pairs(__m512i bytes, const uint8_t which[64])
{
    return _mm512_maskz_permutexvar_epi8(0x5555555555555555u, _mm512_loadu_si512(which), bytes);
}

/* ---- storing ------------------------------------------------------------------------------ */

/* Values from 0 to 255, or beyond; 4 bytes are written past the end of three channels. */
INLINE512 void store4(uint8_t *to, __m512i s, uint32_t channels)
{
    __m128i px = _mm512_cvtusepi32_epi8(_mm512_max_epi32(s, _mm512_setzero_si512()));
    if (channels == 3)
        px = _mm_shuffle_epi8(px, load128(close_gaps));
    store128(to, px);
}

/* ---- bilinear ----------------------------------------------------------------------------- */

INLINE512 __m512i linear4(const struct warp_row *r, const int32_t *at, __m512i upper, __m512i lower,
                          uint32_t channels)
{
    const uint8_t *f = r->from, *g = r->from + r->stride, *which = four_rows[channels - 3][0];
    const __m512i top = load_quarters(f + at[0], f + at[1], f + at[2], f + at[3]);
    const __m512i bottom = load_quarters(g + at[0], g + at[1], g + at[2], g + at[3]);
    __m512i sum = _mm512_set1_epi32(1 << 9);
    sum = _mm512_dpwssd_epi32(sum, pairs(top, which), upper);
    sum = _mm512_dpwssd_epi32(sum, pairs(bottom, which), lower);
    return _mm512_srli_epi32(sum, 10);
}

INLINE512 void
linear8(const struct warp_row *r, const struct places *p, uint32_t channels, uint8_t *to)
{
    __m256i upper, lower;
    bilinear_weights(p, &upper, &lower);
    const __m512i u = _mm512_castsi256_si512(upper), l = _mm512_castsi256_si512(lower);
    const __m512i first = _mm512_loadu_si512(each),
                  last = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    store4(to,
           linear4(r, p->at, _mm512_permutexvar_epi32(first, u), _mm512_permutexvar_epi32(first, l),
                   channels),
           channels);
    store4(to + 4 * (size_t)channels,
           linear4(r, p->at + 4, _mm512_permutexvar_epi32(last, u),
                   _mm512_permutexvar_epi32(last, l), channels),
           channels);
}

/* ---- cubic, Lanczos ----------------------------------------------------------------------- */

/* Four taps in each lane, by the weights' pairs: two in each lane's turn. */
INLINE512 __m512i add_taps(__m512i sum, __m512i px, const uint8_t which[2][64],
                           const int16_t *weights)
{
    const __m512i w = _mm512_castsi256_si512(load256(weights));
    const __m512i first = _mm512_loadu_si512(even),
                  next = _mm512_add_epi32(first, _mm512_set1_epi32(1));
    sum = _mm512_dpwssd_epi32(sum, pairs(px, which[0]), _mm512_permutexvar_epi32(first, w));
    return _mm512_dpwssd_epi32(sum, pairs(px, which[1]), _mm512_permutexvar_epi32(next, w));
}

/* The lanes add up to the pixel. */
INLINE512 __m512i many_taps(const uint8_t *px, size_t stride, const int16_t *weights, int taps,
                            uint32_t channels)
{
    const __m512i none = _mm512_setzero_si512();
    if (taps == 4)
        return add_taps(none, load_quarters(px, px + stride, px + 2 * stride, px + 3 * stride),
                        four_rows[channels - 3], weights);
    __m512i sum = none;
    for (int j = 0; j < 4; j++, px += 2 * stride) {
        const __m256i above = load256(px);
        const __m256i below = load256(px + stride);
        const __m512i rows = _mm512_inserti64x4(_mm512_castsi256_si512(above), below, 1);
        sum = add_taps(sum, rows, two_rows[channels - 3], weights + (size_t)j * 16);
    }
    return sum;
}

/* Lane k is the sum of s[k]'s. */
INLINE512 __m512i add_lanes(const __m512i s[4])
{
    const __m512i a = _mm512_add_epi32(_mm512_shuffle_i32x4(s[0], s[1], 0x44),
                                       _mm512_shuffle_i32x4(s[0], s[1], 0xee));
    const __m512i b = _mm512_add_epi32(_mm512_shuffle_i32x4(s[2], s[3], 0x44),
                                       _mm512_shuffle_i32x4(s[2], s[3], 0xee));
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

INLINE512 void
taps8(const struct warp_row *r, const struct places *p, int taps, uint32_t channels, uint8_t *to)
{
    int32_t block[STEP];
    const __m256i at = _mm256_add_epi32(_mm256_slli_epi32(p->v, WARP_FRACTION_BITS), p->u);
    store256(block, at);
    for (int k = 0; k < STEP; k += 4, to += 4 * (size_t)channels) {
        __m512i one[4];
        for (int i = 0; i < 4; i++)
            one[i] = many_taps(r->from + p->at[k + i], r->stride,
                               r->weights + (size_t)block[k + i] * (size_t)(taps * taps), taps,
                               channels);
        const __m512i sum = _mm512_add_epi32(add_lanes(one), _mm512_set1_epi32(1 << 14));
        store4(to, _mm512_srai_epi32(sum, 15), channels);
    }
}

/* ---- a row -------------------------------------------------------------------------------- */

INLINE512 void row_of(const struct warp_row *r, uint8_t *out, int taps, uint32_t channels)
{
    /* Pixels past its taps that a load of 16 bytes reaches, or of 8 taps: 32. */
    const int32_t beyond = taps == 2       ? (channels == 4 ? 2 : 4)
                           : channels == 4 ? 0
                           : taps == 4     ? 2
                                           : 3;
    struct places p;
    uint32_t x = 0;
    for (; x + STEP <= r->width; x += STEP, out += STEP * channels) {
        uint8_t copy[4 * STEP];
        const bool last = x + STEP + 2 > r->width; /* 4 bytes are less than two pixels */
        uint8_t *to = last ? copy : out;
        find(r, x, taps, beyond, &p);
        if (!p.all_inside) {
            warp_pixels(r, x, x + STEP, out, p.all_outside);
            continue;
        }
        if (taps == 2)
            linear8(r, &p, channels, to);
        else
            taps8(r, &p, taps, channels, to);
        if (last)
            memcpy(out, copy, STEP * channels);
    }
    warp_pixels(r, x, r->width, out, false);
}

#define LOOP INLINE512
#include "augment/geometry/warp_taps.h"

AVX512 void warp_row_avx512(const struct warp_row *r, uint8_t *out)
{
    if (!warp_fits_32_bits(r) || r->channels == 1 || r->taps == 1)
        warp_row_avx2(r, out);
    else if (r->channels == 3)
        by_taps(r, out, 3);
    else
        by_taps(r, out, 4);
}
