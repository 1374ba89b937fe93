/* codec/jpeg/kernels/idct_avx512.c - a whole block in two registers, 16 sums of products at a time.
 *
 * A pass takes pairs of values, i[k] and i[k+4] of eight lines (columns, then rows), twice each:
 * of lines 0-3, 0-3, 4-7, 4-7. So one register holds two of the pass's outputs for all lines.
 * Every output is a sum of eight products; why that may replace libjpeg-turbo's factors, and when
 * not, says idct_factors.h. */
#include "base/simd.h"
#include "codec/jpeg/kernels/byte_tables.h"
#include "codec/jpeg/kernels/idct_factors.h"
#include "codec/jpeg/kernels/variants.h"
#include "codec/jpeg/kernels/zigzag.h"

/* A constant of four lanes, each four times the same pair. */
INLINE512 __m512i lanes(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const __m512i v = _mm512_castsi128_si512(_mm_set_epi32(d, c, b, a));
    return _mm512_permutexvar_epi32(
        _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0), v);
}

INLINE512 __m512i twice(int32_t a, int32_t b)
{
    return lanes(a, b, a, b);
}

INLINE512 __m512i half_of(unsigned shift)
{
    return _mm512_set1_epi32(1 << (shift - 1));
}

/* Two outputs of the even or of the odd half for all lines. */
struct halves {
    __m512i even01, even32, odd01, odd32;
};

/* clang-format off */
INLINE512 struct halves transform(const __m512i in[4], unsigned shift)
{
    const __m512i middle = _mm512_dpwssd_epi32(half_of(shift), in[0],
                                               twice(PAIR(F_1, F_1), PAIR(F_1, -F_1)));
    struct halves h;
    h.even01 = _mm512_dpwssd_epi32(middle, in[2], twice(PAIR(F_E0_2, F_E0_6), PAIR(F_E1_2, F_E1_6)));
    h.even32 = _mm512_dpwssd_epi32(middle, in[2], twice(PAIR(-F_E0_2, -F_E0_6), PAIR(-F_E1_2, -F_E1_6)));
    h.odd01 = _mm512_madd_epi16(in[1], twice(PAIR(F_O0_1, F_O0_5), PAIR(F_O1_1, F_O1_5)));
    h.odd32 = _mm512_madd_epi16(in[1], twice(PAIR(F_O3_1, F_O3_5), PAIR(F_O2_1, F_O2_5)));
    h.odd01 = _mm512_dpwssd_epi32(h.odd01, in[3], twice(PAIR(F_O0_3, F_O0_7), PAIR(F_O1_3, F_O1_7)));
    h.odd32 = _mm512_dpwssd_epi32(h.odd32, in[3], twice(PAIR(F_O3_3, F_O3_7), PAIR(F_O2_3, F_O2_7)));
    return h;
}

/* The same where values 4 to 7 are zeros, out of the pairs (0, 2) and (1, 3). */
INLINE512 struct halves transform_corner(__m512i in02, __m512i in13, unsigned shift)
{
    const __m512i start = half_of(shift);
    struct halves h;
    h.even01 = _mm512_dpwssd_epi32(start, in02, twice(PAIR(F_1, F_E0_2), PAIR(F_1, F_E1_2)));
    h.even32 = _mm512_dpwssd_epi32(start, in02, twice(PAIR(F_1, -F_E0_2), PAIR(F_1, -F_E1_2)));
    h.odd01 = _mm512_madd_epi16(in13, twice(PAIR(F_O0_1, F_O0_3), PAIR(F_O1_1, F_O1_3)));
    h.odd32 = _mm512_madd_epi16(in13, twice(PAIR(F_O3_1, F_O3_3), PAIR(F_O2_1, F_O2_3)));
    return h;
}
/* clang-format on */

/* Outputs as words: lanes of lines 0-3 (twice), 4-7 (twice), of 0 and 3, 1 and 2; 7 and 4, 6 and
 * 5. */
struct words {
    __m512i upper, lower;
};

INLINE512 struct words outputs(struct halves h, unsigned shift)
{
    const __m512i o01 = _mm512_srai_epi32(_mm512_add_epi32(h.even01, h.odd01), shift);
    const __m512i o32 = _mm512_srai_epi32(_mm512_add_epi32(h.even32, h.odd32), shift);
    const __m512i o76 = _mm512_srai_epi32(_mm512_sub_epi32(h.even01, h.odd01), shift);
    const __m512i o45 = _mm512_srai_epi32(_mm512_sub_epi32(h.even32, h.odd32), shift);
    return (struct words){_mm512_packs_epi32(o01, o32), _mm512_packs_epi32(o76, o45)};
}

/* ---- orders of bytes ---------------------------------------------------------------------- */

INLINE512 __m512i ordered(const uint8_t *table, __m512i v)
{
    return _mm512_permutexvar_epi8(_mm512_load_si512(table), v);
}

/* Byte k of a register of pairs: its line among four, the half of the pair. */
#define LINE(k) ((k) >> 2 & 3)
#define HALF(k) ((k) >> 1 & 1)

/* Where outputs() has word (row, column), as a byte. Row r of the lower four is row 7 - r. */
#define IN_UPPER(r, c) (2 * ((((r) == 1 || (r) == 2) + (c) / 4 * 2) * 8 + ((r) >= 2) * 4 + (c) % 4))
#define FROM_UPPER(k)  (IN_UPPER(LINE(k), (k) / 16 + 4 * HALF(k)) + (k) % 2)
#define FROM_LOWER(k)  (IN_UPPER(3 - LINE(k), (k) / 16 + 4 * HALF(k)) + (k) % 2)
/* Four bytes of rows 0-3 for each of columns 0 3 7 4 | 1 2 6 5, then those of rows 4-7. */
#define SLOT(x)        ((x) == 0 || (x) == 1 ? 0 : (x) == 3 || (x) == 2 ? 1 : (x) >= 6 ? 2 : 3)
#define INNER(x)       ((x) == 1 || (x) == 2 || (x) == 6 || (x) == 5)
#define FROM_COLUMN(k) ((k) / 32 * 32 + INNER((k) % 8) * 16 + SLOT((k) % 8) * 4 + (k) / 8 % 4)
/* Corner: rows 0-3 of 8 columns to the pairs (a, a + 2) of 4 columns, for all lanes. */
#define CORNER_02(k) (16 * HALF(k) * 2 + 2 * LINE(k) + (k) % 2)
#define CORNER_13(k) (CORNER_02(k) + 16)
/* Corner: lane i has rows i and 7 - i, 4 columns each. */
#define ROW_AT(r)     ((r) < 4 ? 16 * (r) : 16 * (7 - (r)) + 8)
#define BETWEEN_02(k) (ROW_AT(LINE(k) + (k) / 32 * 4) + 4 * HALF(k) + (k) % 2)
#define BETWEEN_13(k) (BETWEEN_02(k) + 2)

static _Alignas(64) byte_table from_upper = TABLE(FROM_UPPER), from_lower = TABLE(FROM_LOWER),
                               from_column = TABLE(FROM_COLUMN), corner_02 = TABLE(CORNER_02),
                               corner_13 = TABLE(CORNER_13), between_02 = TABLE(BETWEEN_02),
                               between_13 = TABLE(BETWEEN_13);

/* ---- blocks --------------------------------------------------------------------------------- */

/* Any value past what sums of two may be made of. */
INLINE512 bool is_large(__m512i a, __m512i b)
{
    const __m512i bits = _mm512_or_si512(_mm512_abs_epi16(a), _mm512_abs_epi16(b));
    return _mm512_test_epi16_mask(bits, _mm512_set1_epi16((short)IDCT_LARGE)) != 0;
}

INLINE512 __m512i dequantized(const int16_t *coef, const uint16_t *quant)
{
    return _mm512_mullo_epi16(_mm512_load_si512(coef), _mm512_loadu_si512(quant));
}

INLINE512 void store_rows(uint8_t *out, size_t stride, __m128i two)
{
    store64(out, two);
    _mm_storeh_pi((__m64 *)(void *)(out + stride), _mm_castsi128_ps(two));
}

INLINE512 void store(struct words columns, uint8_t *out, size_t stride)
{
    const __m512i mixed = _mm512_packs_epi16(columns.upper, columns.lower);
    const __m512i rows =
        _mm512_xor_si512(ordered(from_column, mixed), _mm512_set1_epi8((char)0x80));
    store_rows(out, stride, _mm512_castsi512_si128(rows));
    store_rows(out + 2 * stride, stride, _mm512_extracti32x4_epi32(rows, 1));
    store_rows(out + 4 * stride, stride, _mm512_extracti32x4_epi32(rows, 2));
    store_rows(out + 6 * stride, stride, _mm512_extracti32x4_epi32(rows, 3));
}

/* Lines 0-3 and 4-7 of all four pairs. */
INLINE512 void pairs(__m512i first, __m512i second, __m512i in[4])
{
    in[0] = _mm512_shuffle_i32x4(first, second, 0x00);
    in[1] = _mm512_shuffle_i32x4(first, second, 0x55);
    in[2] = _mm512_shuffle_i32x4(first, second, 0xaa);
    in[3] = _mm512_shuffle_i32x4(first, second, 0xff);
}

/* A block out of pairs of its columns' values. */
INLINE512 bool whole_of(const __m512i columns[4], uint8_t *out, size_t stride)
{
    const struct words w = outputs(transform(columns, IDCT_SHIFT_1), IDCT_SHIFT_1);
    if (is_large(w.upper, w.lower))
        return false;
    __m512i rows[4];
    pairs(ordered(from_upper, w.upper), ordered(from_lower, w.lower), rows);
    store(outputs(transform(rows, IDCT_SHIFT_2), IDCT_SHIFT_2), out, stride);
    return true;
}

/* A block with nothing outside the first four rows and columns, out of pairs of its columns'. */
INLINE512 bool corner_of(__m512i columns_02, __m512i columns_13, uint8_t *out, size_t stride)
{
    /* clang-format off */
    const __m512i even_factors = lanes(PAIR(F_1, F_E0_2), PAIR(F_1, F_E1_2), PAIR(F_1, -F_E1_2), PAIR(F_1, -F_E0_2));
    const __m512i odd_factors = lanes(PAIR(F_O0_1, F_O0_3), PAIR(F_O1_1, F_O1_3), PAIR(F_O2_1, F_O2_3), PAIR(F_O3_1, F_O3_3));
    /* clang-format on */
    const __m512i even = _mm512_dpwssd_epi32(half_of(IDCT_SHIFT_1), columns_02, even_factors);
    const __m512i odd = _mm512_madd_epi16(columns_13, odd_factors);
    const __m512i w =
        _mm512_packs_epi32(_mm512_srai_epi32(_mm512_add_epi32(even, odd), IDCT_SHIFT_1),
                           _mm512_srai_epi32(_mm512_sub_epi32(even, odd), IDCT_SHIFT_1));
    if (is_large(w, w))
        return false;
    const struct halves h =
        transform_corner(ordered(between_02, w), ordered(between_13, w), IDCT_SHIFT_2);
    store(outputs(h, IDCT_SHIFT_2), out, stride);
    return true;
}

INLINE512 bool whole(const int16_t *coef, const uint16_t *quant, uint8_t *out, size_t stride)
{
    const __m512i a = dequantized(coef, quant), b = dequantized(coef + 32, quant + 32);
    __m512i in[4];
    pairs(_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b), in);
    return whole_of(in, out, stride);
}

INLINE512 bool corner(const int16_t *coef, const uint16_t *quant, uint8_t *out, size_t stride)
{
    const __m512i a = dequantized(coef, quant);
    return corner_of(ordered(corner_02, a), ordered(corner_13, a), out, stride);
}

#define ENTRY(name) AVX512 void name##_avx512
#include "codec/jpeg/kernels/idct_entry.h"

/* ---- runs of blocks ------------------------------------------------------------------------- */

/* Natural indices of what pairs() makes: of in[0] and in[1], of in[2] and in[3]; of corner_02 and
 * corner_13. */
#define PAIR_AT(p, w) ((p)*8 + (w) % 2 * 32 + (w) / 16 * 4 + (w) % 8 / 2)
#define PAIRS_01(k)   PAIR_AT((k) / 32, (k) % 32)
#define PAIRS_23(k)   PAIR_AT(2 + (k) / 32, (k) % 32)
#define CORNERS(k)    ((k) / 32 * 8 + (k) % 2 * 16 + (k) / 2 % 4)

static _Alignas(64) byte_table pairs_01 = TABLE(PAIRS_01), pairs_23 = TABLE(PAIRS_23),
                               corners = TABLE(CORNERS);

/* A block in zigzag order, or an order of one: two registers. */
struct zigzag {
    __m512i low, high;
};

INLINE512 __m512i from(struct zigzag z, __m512i order)
{
    return _mm512_permutex2var_epi16(z.low, order, z.high);
}

/* Zigzag indices of 32 natural ones. */
INLINE512 __m512i order_of(struct zigzag index, const uint8_t *natural)
{
    return from(index, _mm512_cvtepu8_epi16(load256(natural)));
}

INLINE512 struct zigzag load_words(const void *p)
{
    const uint16_t *const v = p;
    return (struct zigzag){_mm512_loadu_si512(v), _mm512_loadu_si512(v + 32)};
}

INLINE512 struct zigzag load_bytes(const uint8_t *p)
{
    return (struct zigzag){_mm512_cvtepu8_epi16(load256(p)), _mm512_cvtepu8_epi16(load256(p + 32))};
}

/* What the vectors do not: the scalar truth. */
AVX512 static void by_truth(struct zigzag z, const struct block_run *r, uint8_t *out)
{
    _Alignas(64) int16_t zigzag[64], natural[64];
    _mm512_store_si512(zigzag, z.low);
    _mm512_store_si512(zigzag + 32, z.high);
    const uint32_t last = zigzag_to_natural(zigzag, natural);
    idct_scalar(natural, r->quant, last, out, r->stride);
}

AVX512 void idct_run_avx512(const struct block_run *r)
{
    const struct zigzag index = load_bytes(zigzag_index);
    const __m512i in[4] = {order_of(index, pairs_01), order_of(index, pairs_01 + 32),
                           order_of(index, pairs_23), order_of(index, pairs_23 + 32)};
    const __m512i in_02 = order_of(index, corners), in_13 = order_of(index, corners + 32);
    const struct zigzag natural = load_words(r->quant), order = load_bytes(natural_order);
    const struct zigzag quant = {from(natural, order.low), from(natural, order.high)};
    const __m512i zero = _mm512_setzero_si512();
    int16_t *coef = r->coef;
    uint8_t *out = r->out;
    for (uint32_t i = 0; i < r->n; i++, coef += r->apart, out += r->step) {
        const struct zigzag z = load_words(coef);
        const int16_t dc = coef[0];
        const uint64_t there = _mm512_test_epi16_mask(z.low, z.low) |
                               (uint64_t)_mm512_test_epi16_mask(z.high, z.high) << 32;
        const struct zigzag v = {_mm512_mullo_epi16(z.low, quant.low),
                                 _mm512_mullo_epi16(z.high, quant.high)};
        _mm512_store_si512(coef, zero);
        _mm512_store_si512(coef + 32, zero);
        bool done = true;
        if (there >> 1 == 0) {
            idct_flat(dc, r->quant[0], out, r->stride);
        } else if (there >> (IDCT_CORNER + 1) == 0) {
            done = corner_of(_mm512_permutexvar_epi16(in_02, v.low),
                             _mm512_permutexvar_epi16(in_13, v.low), out, r->stride);
        } else {
            const __m512i columns[4] = {from(v, in[0]), from(v, in[1]), from(v, in[2]),
                                        from(v, in[3])};
            done = whole_of(columns, out, r->stride);
        }
        if (__builtin_expect(!done, 0))
            by_truth(z, r, out);
    }
}
