/* codec/jpeg/kernels/idct_scaled_avx2.c - a block to 4 x 4 and 2 x 2 samples: pairs of values of
 * all columns, then of all rows, in one register each. */
#include "base/simd.h"
#include "codec/jpeg/kernels/idct_scaled.h"
#include "codec/jpeg/kernels/variants.h"

#include <string.h>

#if defined(__x86_64__)

INLINE2 __m128i row_of(const int16_t *coef, const uint16_t *quant, int y)
{
    return _mm_mullo_epi16(load128(coef + 8 * y), load128(quant + 8 * y));
}

/* Of eight columns. */
INLINE2 __m256i pairs(__m128i a, __m128i b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(a, b)),
                                   _mm_unpackhi_epi16(a, b), 1);
}

INLINE2 __m256i sum(__m256i p, int32_t first, int32_t second)
{
    return _mm256_madd_epi16(p, _mm256_set1_epi32(PAIR(first, second)));
}

/* dc, even: pairs of (0, anything) and of (2, 6); odd: of (1, 3) and (5, 7). */
INLINE2 void four(__m256i dc, __m256i even, __m256i low, __m256i high, int shift, __m256i out[4])
{
    const __m256i d =
        _mm256_add_epi32(sum(dc, 1 << S4_FRACTION, 0), _mm256_set1_epi32(1 << (shift - 1)));
    const __m256i e = sum(even, S4_E_2, S4_E_6);
    const __m256i a = _mm256_add_epi32(sum(low, S4_A_1, S4_A_3), sum(high, S4_A_5, S4_A_7));
    const __m256i b = _mm256_add_epi32(sum(low, S4_B_1, S4_B_3), sum(high, S4_B_5, S4_B_7));
    const __m256i outer = _mm256_add_epi32(d, e), inner = _mm256_sub_epi32(d, e);
    out[0] = _mm256_srai_epi32(_mm256_add_epi32(outer, a), shift);
    out[1] = _mm256_srai_epi32(_mm256_add_epi32(inner, b), shift);
    out[2] = _mm256_srai_epi32(_mm256_sub_epi32(inner, b), shift);
    out[3] = _mm256_srai_epi32(_mm256_sub_epi32(outer, a), shift);
}

/* Columns a, b, of two rows by two, as pairs of four rows, and the same in the upper half. */
INLINE2 __m256i chosen(__m256i words, int a, int b)
{
    const int8_t x = (int8_t)(2 * a), y = (int8_t)(2 * b);
    return _mm256_shuffle_epi8(words,
                               _mm256_setr_epi8(x, x + 1, y, y + 1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, -1, -1, -1, x, x + 1, y, y + 1, -1, -1, -1, -1,
                                                -1, -1, -1, -1, -1, -1, -1, -1));
}

/* Pairs (a, b) of the rows that two registers have, a row a half: 0, 1 and 2, 3. */
INLINE2 __m256i across(__m256i rows02, __m256i rows13, int a, int b)
{
    return _mm256_unpacklo_epi32(chosen(rows02, a, b), chosen(rows13, a, b));
}

AVX2 void
idct_4_avx2(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out, size_t stride)
{
    const __m128i zero = _mm_setzero_si128();
    __m256i v[4];
    (void)last;
    four(pairs(row_of(coef, quant, 0), zero), pairs(row_of(coef, quant, 2), row_of(coef, quant, 6)),
         pairs(row_of(coef, quant, 1), row_of(coef, quant, 3)),
         pairs(row_of(coef, quant, 5), row_of(coef, quant, 7)), S4_SHIFT_1, v);
    /* a half has columns 0-3 or 4-7 of two rows: to a row a half */
    const __m256i r01 = _mm256_packs_epi32(v[0], v[1]), r23 = _mm256_packs_epi32(v[2], v[3]);
    const __m256i rows01 = _mm256_permute4x64_epi64(r01, 0xd8);
    const __m256i rows23 = _mm256_permute4x64_epi64(r23, 0xd8);
    const __m256i rows02 = _mm256_permute2x128_si256(rows01, rows23, 0x20);
    const __m256i rows13 = _mm256_permute2x128_si256(rows01, rows23, 0x31);
    four(across(rows02, rows13, 0, 4), across(rows02, rows13, 2, 6), across(rows02, rows13, 1, 3),
         across(rows02, rows13, 5, 7), S4_SHIFT_2, v);
    /* v[x]: rows 0, 1 in the lower half, 2, 3 in the upper */
    const __m256i low = _mm256_unpacklo_epi32(v[0], v[1]), high = _mm256_unpacklo_epi32(v[2], v[3]);
    const __m256i words =
        _mm256_packs_epi32(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
    const __m256i bytes =
        _mm256_xor_si256(_mm256_packs_epi16(words, words), _mm256_set1_epi8((char)0x80));
    const uint64_t upper = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(bytes));
    const uint64_t lower = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(bytes, 1));
    const uint32_t rows[4] = {(uint32_t)upper, (uint32_t)(upper >> 32), (uint32_t)lower,
                              (uint32_t)(lower >> 32)};
    for (size_t y = 0; y < 4; y++)
        memcpy(out + y * stride, &rows[y], 4);
}

/* ---- 2 x 2 ---------------------------------------------------------------------------------- */

/* Rows 0 and 1, a half each. */
INLINE2 __m256i two_rows(const int16_t *coef, const uint16_t *quant)
{
    const __m256i half = _mm256_set1_epi32(1 << (S2_SHIFT_1 - 1));
    const __m256i dc =
        _mm256_slli_epi32(_mm256_cvtepi16_epi32(row_of(coef, quant, 0)), S2_FRACTION);
    const __m256i low = pairs(row_of(coef, quant, 1), row_of(coef, quant, 3));
    const __m256i high = pairs(row_of(coef, quant, 5), row_of(coef, quant, 7));
    const __m256i odd = _mm256_add_epi32(sum(low, S2_1, S2_3), sum(high, S2_5, S2_7));
    const __m256i even = _mm256_add_epi32(dc, half);
    const __m256i rows =
        _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(even, odd), S2_SHIFT_1),
                           _mm256_srai_epi32(_mm256_sub_epi32(even, odd), S2_SHIFT_1));
    return _mm256_permute4x64_epi64(rows, 0xd8);
}

AVX2 void
idct_2_avx2(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out, size_t stride)
{
    static const _Alignas(16)
        int8_t odd_ones[16] = {2, 3, 6, 7, 10, 11, 14, 15, -1, -1, 0, 1, -1, -1, -1, -1};
    const int32_t first = PAIR(S2_1, S2_3), second = PAIR(S2_5, S2_7);
    const int32_t half = 1 << (S2_SHIFT_2 - 1);
    (void)last;
    /* of each row: pairs (1, 3), (5, 7), and (0, its first value), which is 2^16 of that */
    const __m256i v = _mm256_shuffle_epi8(two_rows(coef, quant), load_twice(odd_ones));
    const __m256i dc = _mm256_srai_epi32(_mm256_shuffle_epi32(v, 0xaa), 16 - S2_FRACTION);
    const __m256i p =
        _mm256_madd_epi16(v, _mm256_setr_epi32(first, second, 0, 0, first, second, 0, 0));
    const __m256i odd = _mm256_add_epi32(p, _mm256_shuffle_epi32(p, 0xb1));
    const __m256i even = _mm256_add_epi32(dc, _mm256_set1_epi32(half));
    const __m256i pixels =
        _mm256_unpacklo_epi32(_mm256_srai_epi32(_mm256_add_epi32(even, odd), S2_SHIFT_2),
                              _mm256_srai_epi32(_mm256_sub_epi32(even, odd), S2_SHIFT_2));
    const __m256i words = _mm256_packs_epi32(pixels, pixels);
    const __m256i bytes =
        _mm256_xor_si256(_mm256_packs_epi16(words, words), _mm256_set1_epi8((char)0x80));
    const uint16_t upper = (uint16_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(bytes));
    const uint16_t lower = (uint16_t)_mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1));
    memcpy(out, &upper, 2);
    memcpy(out + stride, &lower, 2);
}
#endif
