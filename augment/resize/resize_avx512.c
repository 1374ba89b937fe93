/* augment/resize/resize_avx512.c - the inner loops of the resizes: one permutation of a window's 64
 * bytes brings the taps of 16 values into their lanes. */
#include "augment/resize/resize_passes.h"
#include "base/simd.h"

/* ---- windows ------------------------------------------------------------------------------ */

/* The 64 bytes from byte `at` of a row on; past its end nothing is touched. */
INLINE512 __m512i window_at(const struct resize_blocks *b, const uint8_t *row, uint32_t at,
                            bool safe)
{
    if (safe)
        return _mm512_loadu_si512(row + at);
    const uint32_t left = at < b->row_bytes ? b->row_bytes - at : 0;
    const __mmask64 mask = left >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << left) - 1;
    return _mm512_maskz_loadu_epi8(mask, (const void *)((uintptr_t)row + at));
}

/* ---- bilinear ----------------------------------------------------------------------------- */

INLINE512 void
linear_block(const struct resize_blocks *b, uint32_t i, const uint8_t *row, int16_t *out, bool safe)
{
    const __m512i pick = _mm512_load_si512(b->picks + (size_t)i * RESIZE_WINDOW);
    const __m512i weights =
        _mm512_load_si512((const uint32_t *)b->weights + (size_t)i * RESIZE_BLOCK);
    const __m512i bytes = window_at(b, row, b->window[i], safe);
    const __m512i taps = _mm512_maskz_permutexvar_epi8(0x5555555555555555u, pick, bytes);
    const __m512i sum = _mm512_srai_epi32(_mm512_madd_epi16(taps, weights), 4);
    store256(out + (size_t)i * RESIZE_BLOCK, _mm512_cvtepi32_epi16(sum));
}

AVX512 void linear_x_avx512(const struct linear_table *t, const uint8_t *row, int16_t *out)
{
    const struct resize_blocks b = t->blocks;
    if (b.count == 0) {
        linear_x_avx2(t, row, out);
        return;
    }
    uint32_t i = 0;
    for (; i < b.safe; i++)
        linear_block(&b, i, row, out, true);
    for (; i < b.count; i++)
        linear_block(&b, i, row, out, false);
}

/* n values, at most 32. */
INLINE512 void
blend(const int16_t *t0, const int16_t *t1, __m512i b0, __m512i b1, uint8_t *out, uint32_t n)
{
    const __mmask32 mask = 0xffffffffu >> (32 - n);
    const __m512i v0 = _mm512_maskz_loadu_epi16(mask, t0), v1 = _mm512_maskz_loadu_epi16(mask, t1);
    const __m512i sum = _mm512_add_epi16(_mm512_mulhi_epi16(v0, b0), _mm512_mulhi_epi16(v1, b1));
    const __m512i value = _mm512_srai_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(2)), 2);
    _mm256_mask_storeu_epi8(out, mask, _mm512_cvtusepi16_epi8(value));
}

AVX512 void linear_y_avx512(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1,
                            uint8_t *out, size_t n)
{
    const __m512i w0 = _mm512_set1_epi16(b0), w1 = _mm512_set1_epi16(b1);
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        blend(t0 + i, t1 + i, w0, w1, out + i, 32);
    if (i < n)
        blend(t0 + i, t1 + i, w0, w1, out + i, (uint32_t)(n - i));
}

/* ---- area --------------------------------------------------------------------------------- */

/* Taps that a value does not have weigh +0: a sum that is not negative stays as it is. */
INLINE512 __m512 area_block(const struct resize_blocks *b, uint32_t i, uint32_t taps, uint32_t step,
                            const uint8_t *row, bool safe)
{
    const __m512i pick = _mm512_load_si512(b->picks + (size_t)i * RESIZE_WINDOW);
    const float *weights = (const float *)b->weights + (size_t)i * taps * RESIZE_BLOCK;
    __m512 sum = _mm512_setzero_ps();
    for (uint32_t k = 0; k < taps; k++) {
        const __m512i bytes = window_at(b, row, b->window[i] + k * step, safe);
        const __m512i px = _mm512_maskz_permutexvar_epi8(0x1111111111111111u, pick, bytes);
        const __m512 w = _mm512_load_ps(weights + (size_t)k * RESIZE_BLOCK);
        sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_cvtepi32_ps(px), w));
    }
    return sum;
}

INLINE512 void area_row(const struct area_table *t, uint32_t taps, const uint8_t *row, float *out)
{
    const struct resize_blocks b = t->blocks;
    const uint32_t channels = t->channels;
    uint32_t i = 0;
    for (; i < b.safe; i++, out += RESIZE_BLOCK)
        _mm512_storeu_ps(out, area_block(&b, i, taps, channels, row, true));
    for (; i < b.count; i++, out += RESIZE_BLOCK)
        _mm512_storeu_ps(out, area_block(&b, i, taps, channels, row, false));
}

/* The usual numbers of taps have loops of their own. */
AVX512 void area_x_avx512(const struct area_table *t, const uint8_t *row, float *out)
{
    if (t->blocks.count == 0)
        area_x_avx2(t, row, out);
    else if (t->blocks.taps == 3)
        area_row(t, 3, row, out);
    else if (t->blocks.taps == 4)
        area_row(t, 4, row, out);
    else
        area_row(t, t->blocks.taps, row, out);
}

typedef __m512 reals;
#define ENTRY(name)  AVX512 void name##_avx512
#define V(operation) _mm512_##operation
#include "augment/resize/area_rows.h"

AVX512 void area_round_avx512(const float *sum, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 mask = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu);
        const __m512i whole = _mm512_cvtps_epi32(_mm512_maskz_loadu_ps(mask, sum + i));
        _mm512_mask_cvtusepi32_storeu_epi8(out + i, mask, whole);
    }
}
