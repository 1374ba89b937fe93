/* augment/resize_avx512.c - the inner loops of the resizes for which wider vectors pay. */
#include "augment/resize_passes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512    __attribute__((target("avx512f,avx512bw,avx512vl")))
#define INLINE512 AVX512 static inline __attribute__((always_inline))

INLINE512 __m512i blend32(const int16_t *t0, const int16_t *t1, __m512i b0, __m512i b1)
{
    const __m512i v0 = _mm512_loadu_si512(t0), v1 = _mm512_loadu_si512(t1);
    const __m512i sum = _mm512_add_epi16(_mm512_mulhi_epi16(v0, b0), _mm512_mulhi_epi16(v1, b1));
    return _mm512_srai_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(2)), 2);
}

AVX512 void linear_y_avx512(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1,
                            uint8_t *out, size_t n)
{
    const __m512i w0 = _mm512_set1_epi16(b0), w1 = _mm512_set1_epi16(b1);
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        _mm256_storeu_si256((__m256i *)(void *)(out + i),
                            _mm512_cvtusepi16_epi8(blend32(t0 + i, t1 + i, w0, w1)));
    linear_y_scalar(t0 + i, t1 + i, b0, b1, out + i, n - i);
}
#else
typedef int nothing_here; /* ISO C wants a declaration in every file */
#endif
