/* augment/colour/blur_avx2.c - neighbours weighed on AVX2. */
#include "augment/colour/blur.h"
#include "base/simd.h"
#include <string.h>

INLINE2 __m256i load16(const uint8_t *p) /* bytes as 16 bits */
{
    return _mm256_cvtepu8_epi16(load128(p));
}

/* ---- blur --------------------------------------------------------------------------------- */

AVX2 void blur_avx2(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                    uint32_t shift, int16_t *out, size_t n)
{
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const int16_t *rest[64];
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i low = half, high = half;
        for (uint32_t p = 0; p < pairs; p++) {
            const __m256i a = load256(rows[2 * p] + i), b = load256(rows[2 * p + 1] + i);
            int32_t pair;
            memcpy(&pair, weights + 2 * p, sizeof(pair));
            const __m256i w = _mm256_set1_epi32(pair);
            low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
        }
        const __m256i v = _mm256_packs_epi32(_mm256_sra_epi32(low, by), _mm256_sra_epi32(high, by));
        store256(out + i, v);
    }
    for (uint32_t k = 0; k < 2 * pairs; k++)
        rest[k] = rows[k] + i;
    blur_scalar(rest, weights, pairs, shift, out + i, n - i);
}

AVX2 void widen_avx2(const uint8_t *from, int16_t *to, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        store256(to + i, _mm256_slli_epi16(load16(from + i), BLUR_BITS));
    widen_scalar(from + i, to + i, n - i);
}

AVX2 void narrow_avx2(const int16_t *from, uint8_t *to, size_t n)
{
    const __m256i half = _mm256_set1_epi16(1 << (BLUR_BITS - 1));
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i v = _mm256_srai_epi16(_mm256_add_epi16(load256(from + i), half), BLUR_BITS);
        store128(to + i, bytes_of_words(v));
    }
    narrow_scalar(from + i, to + i, n - i);
}

/* ---- 3 x 3 -------------------------------------------------------------------------------- */

INLINE2 __m256i three(const uint8_t *p, size_t step)
{
    return _mm256_add_epi16(_mm256_add_epi16(load16(p - step), load16(p)), load16(p + step));
}

AVX2 void smooth_avx2(const uint8_t *const rows[3], uint32_t step, uint8_t *out, size_t n)
{
    /* (sum * 5042) >> 16 is sum / 13 for sums up to 13 * 255 + 6. */
    const __m256i six = _mm256_set1_epi16(6), thirteenth = _mm256_set1_epi16(5042);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i sum = _mm256_add_epi16(_mm256_slli_epi16(load16(rows[1] + i), 2), six);
        for (int k = 0; k < 3; k++)
            sum = _mm256_add_epi16(sum, three(rows[k] + i, step));
        const __m256i v = _mm256_mulhi_epu16(sum, thirteenth);
        store128(out + i, bytes_of_words(v));
    }
    const uint8_t *const rest[3] = {rows[0] + i, rows[1] + i, rows[2] + i};
    smooth_scalar(rest, step, out + i, n - i);
}

/* ---- mixing ------------------------------------------------------------------------------- */

INLINE2 __m256i mix8(const uint8_t *a, const uint8_t *b, __m256 factor)
{
    const __m256i ia = _mm256_cvtepu8_epi32(load64(a));
    const __m256i ib = _mm256_cvtepu8_epi32(load64(b));
    const __m256 fb = _mm256_cvtepi32_ps(ib);
    const __m256 off = _mm256_mul_ps(factor, _mm256_sub_ps(_mm256_cvtepi32_ps(ia), fb));
    const __m256 v = _mm256_min_ps(_mm256_max_ps(_mm256_add_ps(fb, off), _mm256_setzero_ps()),
                                   _mm256_set1_ps(255));
    return _mm256_cvttps_epi32(v);
}

AVX2 void mix_avx2(float factor, uint8_t *a, const uint8_t *b, size_t n)
{
    const __m256 f = _mm256_set1_ps(factor);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i words = _mm256_permute4x64_epi64(
            _mm256_packs_epi32(mix8(a + i, b + i, f), mix8(a + i + 8, b + i + 8, f)), 0xd8);
        store128(a + i, bytes_of_words(words));
    }
    mix_scalar(factor, a + i, b + i, n - i);
}
