/* augment/resample_avx2.c - the packer's resampling on AVX2: two taps a multiply-add. */
#include "augment/resample_passes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define AVX2    __attribute__((target("avx2")))
#define INLINE2 AVX2 static inline __attribute__((always_inline))

static int32_t pair_at(const int16_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof(pair));
    return pair;
}

/* ---- columns: 16 values a step ------------------------------------------------------------- */

INLINE2 __m256i widened(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE2 void sixteen(const struct resample_column *c, size_t x, int16_t *out)
{
    __m256i low = _mm256_set1_epi32(1 << (RESAMPLE_Y_SHIFT - 1)), high = low;
    uint32_t k = 0;
    for (; k + 1 < c->taps; k += 2) {
        const uint8_t *p = c->rows + (size_t)k * c->stride + x;
        const __m256i a = widened(p), b = widened(p + c->stride);
        const __m256i w = _mm256_set1_epi32(pair_at(c->weights + k));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
    }
    if (k < c->taps) { /* an odd one, with zeros beside it */
        const __m256i a = widened(c->rows + (size_t)k * c->stride + x);
        const __m256i none = _mm256_setzero_si256();
        const __m256i w = _mm256_set1_epi32((uint16_t)c->weights[k]);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, none), w));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, none), w));
    }
    const __m256i v = _mm256_packs_epi32(_mm256_srai_epi32(low, RESAMPLE_Y_SHIFT),
                                         _mm256_srai_epi32(high, RESAMPLE_Y_SHIFT));
    _mm256_storeu_si256((__m256i *)(void *)(out + x), v);
}

AVX2 void resample_y_avx2(const struct resample_column *c, size_t n, int16_t *out)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16)
        sixteen(c, x, out);
    resample_y_values(c, x, n, out);
}

/* ---- along the row: a pixel a step, four taps at once --------------------------------------- */

/* Two neighbours of 3 or 4 values -> each value's two side by side. */
static const int8_t pairs3[16] = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1};
static const int8_t pairs4[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};

INLINE2 __m128i load8(const int16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE2 int32_t pixel(const struct resample_axis *a, const int16_t *row, uint32_t channels,
                      uint32_t at, __m256i pairs)
{
    const int16_t *weights = a->weights + (size_t)at * a->taps;
    const int16_t *px = row + (size_t)a->first[at] * channels;
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t k = 0; k < a->taps; k += RESAMPLE_GROUP) {
        const int16_t *p = px + (size_t)k * channels;
        const __m256i v = _mm256_set_m128i(load8(p + 2 * channels), load8(p));
        const __m256i w = _mm256_set_m128i(_mm_set1_epi32(pair_at(weights + k + 2)),
                                           _mm_set1_epi32(pair_at(weights + k)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(v, pairs), w));
    }
    const __m128i both =
        _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    const __m128i round = _mm_set1_epi32(1 << (RESAMPLE_X_SHIFT - 1));
    const __m128i v = _mm_srai_epi32(_mm_add_epi32(both, round), RESAMPLE_X_SHIFT);
    const __m128i words = _mm_packs_epi32(v, v);
    return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

AVX2 void
resample_x_avx2(const struct resample_axis *a, const int16_t *row, uint32_t channels, uint8_t *out)
{
    uint32_t at = 0;
    if (channels == 3 || channels == 4) {
        const int8_t *order = channels == 3 ? pairs3 : pairs4;
        const __m256i pairs =
            _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)order));
        for (; at + (channels == 3) < a->to; at++) { /* a store of 4 bytes touches the next one */
            const int32_t bytes = pixel(a, row, channels, at, pairs);
            memcpy(out + (size_t)at * channels, &bytes, sizeof(bytes));
        }
    }
    resample_x_pixels(a, row, channels, at, out);
}
#endif
