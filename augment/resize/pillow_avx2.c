/* augment/resize/pillow_avx2.c - the channels of a pixel at once along the rows, eight bytes at
 * once across them; in integers, so the order of the sums does not count. */
#include "augment/resize/pillow.h"
#include "base/simd.h"

#include <string.h>

INLINE2 __m128i four_bytes(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(v));
}

AVX2 void
pillow_x_avx2(const struct pillow_axis *a, const uint8_t *row, uint32_t channels, uint8_t *out)
{
    if (channels == 1) {
        pillow_x_scalar(a, row, channels, out);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t *w = a->weights + (size_t)i * a->taps;
        const uint8_t *px = row + (size_t)(a->first[i] - a->first[0]) * channels;
        __m128i sum = _mm_set1_epi32(1 << (PILLOW_BITS - 1));
        for (int32_t k = 0; k < a->used[i]; k++, px += channels)
            sum = _mm_add_epi32(sum, _mm_mullo_epi32(four_bytes(px), _mm_set1_epi32(w[k])));
        const __m128i words = _mm_packs_epi32(_mm_srai_epi32(sum, PILLOW_BITS), sum);
        const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
        memcpy(out, &bytes, sizeof(bytes));
        out += channels;
    }
}

AVX2 void pillow_y_avx2(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                        size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i sum = _mm256_set1_epi32(1 << (PILLOW_BITS - 1));
        for (uint32_t k = 0; k < used; k++) {
            const __m256i px = _mm256_cvtepu8_epi32(load64(rows + k * stride + i));
            sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(px, _mm256_set1_epi32(weights[k])));
        }
        sum = _mm256_srai_epi32(sum, PILLOW_BITS);
        const __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        store64(out + i, _mm_packus_epi16(words, words));
    }
    pillow_y_scalar(rows + i, stride, weights, used, n - i, out + i);
}
