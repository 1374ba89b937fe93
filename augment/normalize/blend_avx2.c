/* augment/normalize/blend_avx2.c - two slots blended on AVX2: eight values a step. */
#include "augment/normalize/blend.h"
#include "base/simd.h"

AVX2 void blend_avx2(float share, float *a, float *b, size_t n)
{
    const __m256 s = _mm256_set1_ps(share), rest = _mm256_set1_ps(1 - share);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 x = _mm256_loadu_ps(a + i), y = _mm256_loadu_ps(b + i);
        _mm256_storeu_ps(a + i, _mm256_add_ps(_mm256_mul_ps(s, x), _mm256_mul_ps(rest, y)));
        _mm256_storeu_ps(b + i, _mm256_add_ps(_mm256_mul_ps(s, y), _mm256_mul_ps(rest, x)));
    }
    blend_scalar(share, a + i, b + i, n - i);
}
