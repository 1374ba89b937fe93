/* augment/resize/resize_taps_avx512.c - cubic and Lanczos on AVX-512: four pixels along the rows,
 * sixteen values across them. */
#include "augment/resize/resize_taps.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

/* ---- along the rows ----------------------------------------------------------------------- */

INLINE512 __m512i four_of(const uint8_t *row, const uint32_t *first, size_t at)
{
    return load_quarters(row + first[0] + at, row + first[1] + at, row + first[2] + at,
                         row + first[3] + at);
}

/* The pair of weights at place `which` of each lane, again and again: w holds, for four pixels,
 * four pairs (eight weights) each. */
INLINE512 __m512i pair_of(__m512i w, int which)
{
    switch (which) {
    case 0:
        return _mm512_shuffle_epi32(w, _MM_PERM_AAAA);
    case 1:
        return _mm512_shuffle_epi32(w, _MM_PERM_BBBB);
    case 2:
        return _mm512_shuffle_epi32(w, _MM_PERM_CCCC);
    default:
        return _mm512_shuffle_epi32(w, _MM_PERM_DDDD);
    }
}

/* Weights of four pixels, a pixel in each lane. */
INLINE512 __m512i weights_of(const int16_t *weights, uint32_t taps)
{
    if (taps == TAPS_LANCZOS)
        return _mm512_loadu_si512(weights);
    const __m256i all = load256(weights);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
                                    _mm512_castsi256_si512(all));
}

INLINE512 void store4(int32_t *out, __m512i sum, uint32_t channels)
{
    store128(out, _mm512_castsi512_si128(sum));
    store128(out + channels, _mm512_extracti32x4_epi32(sum, 1));
    store128(out + 2 * channels, _mm512_extracti32x4_epi32(sum, 2));
    store128(out + 3 * channels, _mm512_extracti32x4_epi32(sum, 3));
}

/* Four pixels a step; with three channels the fourth sum of each is written over. */
INLINE512 uint32_t pixels(const struct taps_table *t, const uint8_t *row, int32_t *out,
                          uint32_t channels, uint32_t taps)
{
    const __m512i first = _mm512_broadcast_i32x4(load128(channels == 3 ? first3 : first4));
    const __m512i last = _mm512_broadcast_i32x4(load128(channels == 3 ? last3 : last4));
    uint32_t i = 0;
    for (; i + 4 <= t->count; i += 4, out += 4 * channels) {
        const __m512i w = weights_of(t->weights + (size_t)i * taps, taps);
        __m512i sum = _mm512_setzero_si512();
        for (uint32_t k = 0; k < taps; k += 4) {
            const __m512i px = four_of(row, t->first + i, k * channels);
            const __m512i a =
                _mm512_madd_epi16(_mm512_shuffle_epi8(px, first), pair_of(w, (int)k / 2));
            const __m512i b =
                _mm512_madd_epi16(_mm512_shuffle_epi8(px, last), pair_of(w, (int)k / 2 + 1));
            sum = _mm512_add_epi32(sum, _mm512_add_epi32(a, b));
        }
        store4(out, sum, channels);
    }
    return i;
}

#define LOOP        INLINE512
#define ENTRY(name) AVX512 void name##_avx512
#include "augment/resize/resize_taps_rows.h"

/* ---- across the rows ---------------------------------------------------------------------- */

INLINE512 void store_bytes(uint8_t *out, __m512i v, __mmask16 which)
{
    const __m512i low = _mm512_max_epi32(v, _mm512_setzero_si512());
    _mm512_mask_cvtusepi32_storeu_epi8(out, which, low);
}

INLINE512 __mmask16 of_rest(size_t n)
{
    return n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1);
}

AVX512 void
cubic_y_avx512(const int32_t *const rows[4], const int16_t *weights, uint8_t *out, size_t n)
{
    __m512 w[4];
    for (int k = 0; k < 4; k++)
        w[k] = _mm512_set1_ps((float)weights[k] * (1.0f / (1 << 22)));
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 in = of_rest(n - i);
        __m512 v =
            _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(in, rows[0] + i)), w[0]);
        for (int k = 1; k < 4; k++) {
            const __m512i row = _mm512_maskz_loadu_epi32(in, rows[k] + i);
            v = _mm512_add_ps(v, _mm512_mul_ps(_mm512_cvtepi32_ps(row), w[k]));
        }
        store_bytes(out + i, _mm512_cvtps_epi32(v), in);
    }
}

INLINE512 void
sums(const int32_t *const *rows, const int16_t *weights, uint32_t taps, uint8_t *out, size_t n)
{
    __m512i w[TAPS_MOST];
    for (uint32_t k = 0; k < taps; k++)
        w[k] = _mm512_set1_epi32(weights[k]);
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 in = of_rest(n - i);
        __m512i sum = _mm512_set1_epi32(1 << 21);
        for (uint32_t k = 0; k < taps; k++)
            sum = _mm512_add_epi32(
                sum, _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(in, rows[k] + i), w[k]));
        store_bytes(out + i, _mm512_srai_epi32(sum, 22), in);
    }
}

AVX512 void taps_y_avx512(const int32_t *const *rows, const int16_t *weights, uint32_t taps,
                          uint8_t *out, size_t n)
{
    if (taps == TAPS_LANCZOS)
        sums(rows, weights, TAPS_LANCZOS, out, n);
    else
        sums(rows, weights, TAPS_CUBIC, out, n);
}
