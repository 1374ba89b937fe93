/* augment/resize/resize_taps_avx2.c - cubic and Lanczos on AVX2. What no vector fills goes to the
 * scalar loops. */
#include "augment/resize/resize_taps.h"
#include "base/simd.h"
#include <string.h>

/* Of four neighbours of 3 or 4 bytes, the first two or the last two: each value's side by side,
 * widened to 16 bits. */
static const int8_t first3[16] = {0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1};
static const int8_t last3[16] = {6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1};
static const int8_t first4[16] = {0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1};
static const int8_t last4[16] = {8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1};

INLINE2 __m256i load_pair(const uint8_t *a, const uint8_t *b)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)a);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const __m128i *)(const void *)b), 1);
}

/* Two weights of the one pixel, again and again, and of the other. */
INLINE2 __m256i weights_of(const int16_t *a, const int16_t *b)
{
    int32_t pair[2];
    memcpy(&pair[0], a, sizeof(pair[0]));
    memcpy(&pair[1], b, sizeof(pair[1]));
    return _mm256_set_m128i(_mm_set1_epi32(pair[1]), _mm_set1_epi32(pair[0]));
}

/* Two pixels a step; with three channels the fourth sum is written over. */
INLINE2 uint32_t pixels(const struct taps_table *t, const uint8_t *row, int32_t *out,
                        uint32_t channels, uint32_t taps)
{
    const __m256i first = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)(channels == 3 ? first3 : first4)));
    const __m256i last = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)(channels == 3 ? last3 : last4)));
    uint32_t i = 0;
    for (; i + 2 <= t->count; i += 2, out += 2 * channels) {
        const uint8_t *a = row + t->first[i], *b = row + t->first[i + 1];
        const int16_t *wa = t->weights + (size_t)i * taps, *wb = wa + taps;
        __m256i sum = _mm256_setzero_si256();
        for (uint32_t k = 0; k < taps; k += 4) {
            const __m256i px = load_pair(a + k * channels, b + k * channels);
            const __m256i s =
                _mm256_madd_epi16(_mm256_shuffle_epi8(px, first), weights_of(wa + k, wb + k));
            const __m256i u = _mm256_madd_epi16(_mm256_shuffle_epi8(px, last),
                                                weights_of(wa + k + 2, wb + k + 2));
            sum = _mm256_add_epi32(sum, _mm256_add_epi32(s, u));
        }
        _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(sum));
        _mm_storeu_si128((__m128i *)(void *)(out + channels), _mm256_extracti128_si256(sum, 1));
    }
    return i;
}

#define LOOP INLINE2
#include "augment/resize/resize_taps_rows.h"

AVX2 void taps_x_avx2(const struct taps_table *t, const uint8_t *row, int32_t *out)
{
    taps_x(t, row, out);
}

INLINE2 __m256i load8(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE2 void store16(uint8_t *out, __m256i a, __m256i b)
{
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_packus_epi16(_mm256_castsi256_si128(words),
                                                              _mm256_extracti128_si256(words, 1)));
}

INLINE2 __m256i eight_floats(const int32_t *const rows[4], const __m256 w[4], size_t i)
{
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(load8(rows[0] + i)), w[0]);
    for (int k = 1; k < 4; k++)
        v = _mm256_add_ps(v, _mm256_mul_ps(_mm256_cvtepi32_ps(load8(rows[k] + i)), w[k]));
    return _mm256_cvtps_epi32(v);
}

AVX2 void cubic_y_avx2(const int32_t *const rows[4], const int16_t *weights, uint8_t *out, size_t n)
{
    __m256 w[4];
    size_t i = 0;
    for (int k = 0; k < 4; k++)
        w[k] = _mm256_set1_ps((float)weights[k] * (1.0f / (1 << 22)));
    for (; i + 16 <= n; i += 16)
        store16(out + i, eight_floats(rows, w, i), eight_floats(rows, w, i + 8));
    const int32_t *const rest[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
    cubic_y_scalar(rest, weights, out + i, n - i);
}

INLINE2 __m256i eight_sums(const int32_t *const *rows, const int16_t *weights, uint32_t taps,
                           size_t i)
{
    __m256i sum = _mm256_set1_epi32(1 << 21);
    for (uint32_t k = 0; k < taps; k++)
        sum = _mm256_add_epi32(
            sum, _mm256_mullo_epi32(load8(rows[k] + i), _mm256_set1_epi32(weights[k])));
    return _mm256_srai_epi32(sum, 22);
}

AVX2 void taps_y_avx2(const int32_t *const *rows, const int16_t *weights, uint32_t taps,
                      uint8_t *out, size_t n)
{
    const int32_t *rest[TAPS_MOST];
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        store16(out + i, eight_sums(rows, weights, taps, i),
                eight_sums(rows, weights, taps, i + 8));
    for (uint32_t k = 0; k < taps; k++)
        rest[k] = rows[k] + i;
    taps_y_scalar(rest, weights, taps, out + i, n - i);
}
