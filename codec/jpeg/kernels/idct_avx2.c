/* codec/jpeg/kernels/idct_avx2.c - a pass over eight lines (columns, then rows) at once, one
 * register an output.
 *
 * It takes pairs of values, i[k] and i[k + 4] of all lines. Every output is a sum of eight
 * products; why that may replace libjpeg-turbo's factors, and when not, says idct_factors.h. */
#include "base/simd.h"
#include "codec/jpeg/kernels/idct_factors.h"
#include "codec/jpeg/kernels/variants.h"

INLINE2 __m256i madd(__m256i pairs, int32_t first, int32_t second)
{
    return _mm256_madd_epi16(pairs, _mm256_set1_epi32(PAIR(first, second)));
}

/* ---- a pass --------------------------------------------------------------------------------- */

INLINE2 void butterfly(const __m256i even[4], const __m256i odd[4], int shift, __m256i out[8])
{
    out[0] = _mm256_srai_epi32(_mm256_add_epi32(even[0], odd[0]), shift);
    out[1] = _mm256_srai_epi32(_mm256_add_epi32(even[1], odd[1]), shift);
    out[2] = _mm256_srai_epi32(_mm256_add_epi32(even[2], odd[2]), shift);
    out[3] = _mm256_srai_epi32(_mm256_add_epi32(even[3], odd[3]), shift);
    out[4] = _mm256_srai_epi32(_mm256_sub_epi32(even[3], odd[3]), shift);
    out[5] = _mm256_srai_epi32(_mm256_sub_epi32(even[2], odd[2]), shift);
    out[6] = _mm256_srai_epi32(_mm256_sub_epi32(even[1], odd[1]), shift);
    out[7] = _mm256_srai_epi32(_mm256_sub_epi32(even[0], odd[0]), shift);
}

INLINE2 void transform(const __m256i in[4], int shift, __m256i out[8])
{
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m256i sum = _mm256_add_epi32(madd(in[0], F_1, F_1), half);
    const __m256i difference = _mm256_add_epi32(madd(in[0], F_1, -F_1), half);
    const __m256i e0 = madd(in[2], F_E0_2, F_E0_6), e1 = madd(in[2], F_E1_2, F_E1_6);
    const __m256i even[4] = {_mm256_add_epi32(sum, e0), _mm256_add_epi32(difference, e1),
                             _mm256_sub_epi32(difference, e1), _mm256_sub_epi32(sum, e0)};
    const __m256i odd[4] = {
        _mm256_add_epi32(madd(in[1], F_O0_1, F_O0_5), madd(in[3], F_O0_3, F_O0_7)),
        _mm256_add_epi32(madd(in[1], F_O1_1, F_O1_5), madd(in[3], F_O1_3, F_O1_7)),
        _mm256_add_epi32(madd(in[1], F_O2_1, F_O2_5), madd(in[3], F_O2_3, F_O2_7)),
        _mm256_add_epi32(madd(in[1], F_O3_1, F_O3_5), madd(in[3], F_O3_3, F_O3_7))};
    butterfly(even, odd, shift, out);
}

/* The same where values 4 to 7 are zeros, out of the pairs (0, 2) and (1, 3). */
INLINE2 void transform_corner(__m256i in02, __m256i in13, int shift, __m256i out[8])
{
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m256i even[4] = {_mm256_add_epi32(half, madd(in02, F_1, F_E0_2)),
                             _mm256_add_epi32(half, madd(in02, F_1, F_E1_2)),
                             _mm256_add_epi32(half, madd(in02, F_1, -F_E1_2)),
                             _mm256_add_epi32(half, madd(in02, F_1, -F_E0_2))};
    const __m256i odd[4] = {madd(in13, F_O0_1, F_O0_3), madd(in13, F_O1_1, F_O1_3),
                            madd(in13, F_O2_1, F_O2_3), madd(in13, F_O3_1, F_O3_3)};
    butterfly(even, odd, shift, out);
}

/* ---- blocks --------------------------------------------------------------------------------- */

INLINE2 __m256i dequantized(const int16_t *coef, const uint16_t *quant)
{
    return _mm256_mullo_epi16(_mm256_load_si256((const __m256i *)(const void *)coef),
                              load256(quant));
}

/* Bytes in another order, the same in both halves. */
INLINE2 __m256i ordered(const uint8_t *table, __m256i v)
{
    const __m128i order = _mm_load_si128((const __m128i *)(const void *)table);
    return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
}

/* Any value past what sums of two may be made of. */
INLINE2 bool is_large(__m256i a, __m256i b)
{
    const __m256i bits = _mm256_or_si256(_mm256_abs_epi16(a), _mm256_abs_epi16(b));
    return !_mm256_testz_si256(bits, _mm256_set1_epi16((short)IDCT_LARGE));
}

/* Four registers, each the four pairs of a line and of one four lines on, to four of one pair of
 * all lines. */
INLINE2 void split(__m256i a, __m256i b, __m256i c, __m256i d, __m256i in[4])
{
    const __m256i ab_low = _mm256_unpacklo_epi32(a, b), ab_high = _mm256_unpackhi_epi32(a, b);
    const __m256i cd_low = _mm256_unpacklo_epi32(c, d), cd_high = _mm256_unpackhi_epi32(c, d);
    in[0] = _mm256_unpacklo_epi64(ab_low, cd_low);
    in[1] = _mm256_unpackhi_epi64(ab_low, cd_low);
    in[2] = _mm256_unpacklo_epi64(ab_high, cd_high);
    in[3] = _mm256_unpackhi_epi64(ab_high, cd_high);
}

/* Two lines, of 8 words each, as their four pairs. */
INLINE2 __m256i lines(__m256i packed)
{
    static const _Alignas(16)
        uint8_t pairs[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
    return ordered(pairs, _mm256_permute4x64_epi64(packed, 0xd8));
}

INLINE2 void store_two(uint8_t *first, uint8_t *second, __m128i rows)
{
    store64(first, rows);
    _mm_storeh_pi((__m64 *)(void *)second, _mm_castsi128_ps(rows));
}

/* Four columns of eight rows, as bytes: the rows one after another. */
INLINE2 __m256i four_columns(const __m256i column[4])
{
    static const _Alignas(16)
        uint8_t turned[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    return ordered(turned, _mm256_packs_epi16(_mm256_packs_epi32(column[0], column[1]),
                                              _mm256_packs_epi32(column[2], column[3])));
}

/* `row`: which ones the columns' eight values are. */
INLINE2 void store(const __m256i column[8], const uint8_t row[8], uint8_t *out, size_t stride)
{
    const __m256i middle = _mm256_set1_epi8((char)0x80);
    const __m256i left = _mm256_xor_si256(four_columns(column), middle);
    const __m256i right = _mm256_xor_si256(four_columns(column + 4), middle);
    const __m256i a = _mm256_unpacklo_epi32(left, right), b = _mm256_unpackhi_epi32(left, right);
    store_two(out + row[0] * stride, out + row[1] * stride, _mm256_castsi256_si128(a));
    store_two(out + row[2] * stride, out + row[3] * stride, _mm256_castsi256_si128(b));
    store_two(out + row[4] * stride, out + row[5] * stride, _mm256_extracti128_si256(a, 1));
    store_two(out + row[6] * stride, out + row[7] * stride, _mm256_extracti128_si256(b, 1));
}

INLINE2 void load(const int16_t *coef, const uint16_t *quant, __m256i in[4])
{
    const __m256i a = dequantized(coef, quant), b = dequantized(coef + 16, quant + 16);
    const __m256i c = dequantized(coef + 32, quant + 32), d = dequantized(coef + 48, quant + 48);
    const __m256i ac = _mm256_unpacklo_epi16(a, c), ac_right = _mm256_unpackhi_epi16(a, c);
    const __m256i bd = _mm256_unpacklo_epi16(b, d), bd_right = _mm256_unpackhi_epi16(b, d);
    in[0] = _mm256_permute2x128_si256(ac, ac_right, 0x20);
    in[1] = _mm256_permute2x128_si256(ac, ac_right, 0x31);
    in[2] = _mm256_permute2x128_si256(bd, bd_right, 0x20);
    in[3] = _mm256_permute2x128_si256(bd, bd_right, 0x31);
}

INLINE2 bool whole(const int16_t *coef, const uint16_t *quant, uint8_t *out, size_t stride)
{
    static const uint8_t rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    __m256i in[4], v[8];
    load(coef, quant, in);
    transform(in, IDCT_SHIFT_1, v);
    const __m256i w[4] = {_mm256_packs_epi32(v[0], v[4]), _mm256_packs_epi32(v[1], v[5]),
                          _mm256_packs_epi32(v[2], v[6]), _mm256_packs_epi32(v[3], v[7])};
    if (is_large(w[0], w[1]) || is_large(w[2], w[3]))
        return false;
    split(lines(w[0]), lines(w[1]), lines(w[2]), lines(w[3]), in);
    transform(in, IDCT_SHIFT_2, v);
    store(v, rows, out, stride);
    return true;
}

/* Two outputs of four lines in one register. */
INLINE2 __m256i two(__m256i pairs, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t first = PAIR(a, b), second = PAIR(c, d);
    return _mm256_madd_epi16(
        pairs, _mm256_setr_epi32(first, first, first, first, second, second, second, second));
}

INLINE2 __m256i shifted(__m256i a, __m256i b)
{
    return _mm256_packs_epi32(_mm256_srai_epi32(a, IDCT_SHIFT_1),
                              _mm256_srai_epi32(b, IDCT_SHIFT_1));
}

/* Nothing outside the first four rows and columns. */
INLINE2 bool corner(const int16_t *coef, const uint16_t *quant, uint8_t *out, size_t stride)
{
    static const _Alignas(16)
        uint8_t turned[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    static const uint8_t rows[8] = {0, 3, 7, 4, 1, 2, 6, 5};
    const __m256i half = _mm256_set1_epi32(1 << (IDCT_SHIFT_1 - 1));
    const __m256i pairs =
        _mm256_unpacklo_epi16(dequantized(coef, quant), dequantized(coef + 16, quant + 16));
    const __m256i in02 = _mm256_permute4x64_epi64(pairs, 0x44);
    const __m256i in13 = _mm256_permute4x64_epi64(pairs, 0xee);
    const __m256i even01 = _mm256_add_epi32(half, two(in02, F_1, F_E0_2, F_1, F_E1_2));
    const __m256i even32 = _mm256_add_epi32(half, two(in02, F_1, -F_E0_2, F_1, -F_E1_2));
    const __m256i odd01 = two(in13, F_O0_1, F_O0_3, F_O1_1, F_O1_3);
    const __m256i odd32 = two(in13, F_O3_1, F_O3_3, F_O2_1, F_O2_3);
    const __m256i upper = shifted(_mm256_add_epi32(even01, odd01), _mm256_add_epi32(even32, odd32));
    const __m256i lower = shifted(_mm256_sub_epi32(even01, odd01), _mm256_sub_epi32(even32, odd32));
    if (is_large(upper, lower))
        return false;
    const __m256i a = ordered(turned, upper), b = ordered(turned, lower);
    __m256i v[8];
    transform_corner(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b), IDCT_SHIFT_2, v);
    store(v, rows, out, stride);
    return true;
}

#define ENTRY(name) AVX2 void name##_avx2
#include "codec/jpeg/kernels/idct_entry.h"
