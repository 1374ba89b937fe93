/* augment/colour/blur_avx512.c - neighbours weighed on AVX-512: two taps a multiply-add of
 * thirty-two values. */
#include "augment/colour/blur.h"
#include "base/simd.h"
#include <string.h>

enum { STEP = 32 };

AVX512 void blur_avx512(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                        uint32_t shift, int16_t *out, size_t n)
{
    const __m512i half = _mm512_set1_epi32(1 << (shift - 1));
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    for (size_t i = 0; i < n; i += STEP) {
        const __mmask32 in = n - i >= STEP ? ~(__mmask32)0 : ((__mmask32)1 << (n - i)) - 1;
        __m512i low = half, high = half;
        for (uint32_t p = 0; p < pairs; p++) {
            const __m512i a = _mm512_maskz_loadu_epi16(in, rows[2 * p] + i);
            const __m512i b = _mm512_maskz_loadu_epi16(in, rows[2 * p + 1] + i);
            int32_t pair;
            memcpy(&pair, weights + 2 * p, sizeof(pair));
            const __m512i w = _mm512_set1_epi32(pair);
            low = _mm512_dpwssd_epi32(low, _mm512_unpacklo_epi16(a, b), w);
            high = _mm512_dpwssd_epi32(high, _mm512_unpackhi_epi16(a, b), w);
        }
        const __m512i v = _mm512_packs_epi32(_mm512_sra_epi32(low, by), _mm512_sra_epi32(high, by));
        _mm512_mask_storeu_epi16(out + i, in, v);
    }
}
