/* augment/colour/weigh_avx2.c - a weighted sum of images on AVX2: eight values a step. */
#include "augment/colour/weigh.h"
#include "base/simd.h"

AVX2 void weigh_avx2(float share, const uint8_t *px, float *sum, size_t n)
{
    const __m256 s = _mm256_set1_ps(share);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load64(px + i)));
        _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), _mm256_mul_ps(s, v)));
    }
    weigh_scalar(share, px + i, sum + i, n - i);
}
