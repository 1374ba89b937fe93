/* augment/resize/resize_taps_avx2.c - cubic and Lanczos on AVX2. What no vector fills goes to the
 * scalar loops. */
#include "augment/resize/resize_taps.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"
#include <string.h>

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
    const __m256i first = load_twice(channels == 3 ? first3 : first4);
    const __m256i last = load_twice(channels == 3 ? last3 : last4);
    uint32_t i = 0;
    for (; i + 2 <= t->count; i += 2, out += 2 * channels) {
        const uint8_t *a = row + t->first[i], *b = row + t->first[i + 1];
        const int16_t *wa = t->weights + (size_t)i * taps, *wb = wa + taps;
        __m256i sum = _mm256_setzero_si256();
        for (uint32_t k = 0; k < taps; k += 4) {
            const __m256i px = load_halves(a + k * channels, b + k * channels);
            const __m256i s =
                _mm256_madd_epi16(_mm256_shuffle_epi8(px, first), weights_of(wa + k, wb + k));
            const __m256i u = _mm256_madd_epi16(_mm256_shuffle_epi8(px, last),
                                                weights_of(wa + k + 2, wb + k + 2));
            sum = _mm256_add_epi32(sum, _mm256_add_epi32(s, u));
        }
        store_halves(out, out + channels, sum);
    }
    return i;
}

#define LOOP        INLINE2
#define ENTRY(name) AVX2 void name##_avx2
#include "augment/resize/resize_taps_rows.h"

INLINE2 void store16(uint8_t *out, __m256i a, __m256i b)
{
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    store128(out, bytes_of_words(words));
}

INLINE2 __m256i eight_floats(const int32_t *const rows[4], const __m256 w[4], size_t i)
{
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(load256(rows[0] + i)), w[0]);
    for (int k = 1; k < 4; k++)
        v = _mm256_add_ps(v, _mm256_mul_ps(_mm256_cvtepi32_ps(load256(rows[k] + i)), w[k]));
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
            sum, _mm256_mullo_epi32(load256(rows[k] + i), _mm256_set1_epi32(weights[k])));
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
