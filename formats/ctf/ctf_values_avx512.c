/* formats/ctf/ctf_values_avx512.c - eight integers, or four numbers with or without a point, out of
 * 64 bytes.
 *
 * Masks show where numbers begin and end; their positions are compressed into bytes, from which one
 * permutation brings each number's digits to the end of a lane of its own. */
#include "formats/ctf/ctf_fast.h"
#include "formats/ctf/ctf_values.h"

#include <immintrin.h>
#include <stdalign.h>

#define AVX512                                                                                     \
    __attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,"           \
                          "avx512vbmi2")))
#define INLINE5 AVX512 static inline __attribute__((always_inline))

/* The contents of 64 bytes; a bit a byte. */
struct block {
    __m512i digits; /* their values; other bytes 0 */
    uint64_t digit, point, minus, blank, colon;
    uint64_t ends;   /* blanks, and what ends a sample */
    uint64_t starts; /* after each of them, and the first byte */
};

INLINE5 uint64_t bytes_like(__m512i text, char c)
{
    return _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(c));
}

INLINE5 void look(struct block *b, const uint8_t *p)
{
    const __m512i text = _mm512_loadu_si512(p), v = _mm512_sub_epi8(text, _mm512_set1_epi8('0'));
    b->digit = _mm512_cmple_epu8_mask(v, _mm512_set1_epi8(9));
    b->digits = _mm512_maskz_mov_epi8(b->digit, v);
    b->point = bytes_like(text, '.');
    b->minus = bytes_like(text, '-');
    b->blank = bytes_like(text, ' ');
    b->colon = bytes_like(text, ':');
    b->ends = b->blank | bytes_like(text, '\n') | bytes_like(text, '|');
    b->starts = b->ends << 1 | 1;
}

/* Bytes up to and with the n-th end; 0: there are fewer than n. */
INLINE5 uint64_t up_to_end(const struct block *b, unsigned n)
{
    const uint64_t last = _pdep_u64((uint64_t)1 << (n - 1), b->ends);
    return last == 0 ? 0 : last ^ (last - 1);
}

/* Whether `range` is numbers: digits after an optional sign, `inside` bytes, and ends, of which
 * only the last may be something else than a blank. */
INLINE5 bool is_plain(const struct block *b, uint64_t range, uint64_t starts, uint64_t inside)
{
    const uint64_t signs = b->minus & starts, last = range & ~(range >> 1);
    const uint64_t firsts = (starts & ~signs) | signs << 1;
    const uint64_t bad = ~(b->digit | b->blank | inside | signs | last) | (firsts & ~b->digit);
    return (bad & range) == 0;
}

INLINE5 __m512i positions(uint64_t mask)
{
    alignas(64) static const uint8_t count[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return _mm512_maskz_compress_epi8(mask, _mm512_load_si512(count));
}

/* Byte k of `bytes` to all of lane k, of 8 or 16 bytes. */
INLINE5 __m512i spread(__m512i bytes, unsigned lane)
{
    const __m512i eights = _mm512_set_epi64(
        0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
        0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m512i sixteens =
        _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                         0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
    return _mm512_permutexvar_epi8(lane == 8 ? eights : sixteens, bytes);
}

/* Two digits to 16 bits, four to 32. */
INLINE5 __m512i fours_of(__m512i digits)
{
    const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
}

/* ---- integers ---------------------------------------------------------------------------- */

/* The bytes from the k-th start to the k-th end, at most 8. */
INLINE5 __m256i integers_of(const struct block *b, __m512i start, __m512i end)
{
    const __m512i from =
        _mm512_add_epi8(spread(end, 8), _mm512_set1_epi64((int64_t)0xfffefdfcfbfaf9f8));
    const __mmask64 inside = _mm512_cmpge_epi8_mask(from, spread(start, 8));
    const __m512i fours = fours_of(_mm512_maskz_permutexvar_epi8(inside, from, b->digits));
    const __m512i both = _mm512_or_si512(fours, _mm512_srli_epi64(fours, 16));
    return _mm512_cvtepi64_epi32(_mm512_madd_epi16(both, _mm512_set1_epi32(0x00012710)));
}

/* Eight of at most 8 bytes; returns the end of the last one, NULL: they are longer. */
INLINE5 const uint8_t *
eight_integers(const struct block *b, const uint8_t *p, uint8_t *to, size_t element)
{
    const uint64_t range = up_to_end(b, 8);
    if (range == 0 || !is_plain(b, range, b->starts, 0))
        return NULL;
    const __m512i end = positions(b->ends), start = positions(b->starts);
    const __m128i length = _mm_sub_epi8(_mm512_castsi512_si128(end), _mm512_castsi512_si128(start));
    if ((_mm_cmpgt_epu8_mask(length, _mm_set1_epi8(8)) & 0xff) != 0)
        return NULL;
    const __m256i v = integers_of(b, start, end);
    const __mmask8 negative = (__mmask8)_pext_u64(b->minus, b->starts);
    if (element == 4) {
        const __m256i f = _mm256_castps_si256(_mm256_cvtepi32_ps(v));
        _mm256_storeu_si256((__m256i *)to, _mm256_mask_xor_epi32(
                                               f, negative, f, _mm256_set1_epi32((int)0x80000000)));
    } else {
        const __m512i d = _mm512_castpd_si512(_mm512_cvtepi32_pd(v));
        _mm512_storeu_si512(to,
                            _mm512_mask_xor_epi64(d, negative, d, _mm512_set1_epi64(INT64_MIN)));
    }
    return p + (unsigned)__builtin_popcountll(range) - 1;
}

/* ---- with a point or without ------------------------------------------------------------- */

alignas(64) static const double tenths[16] = {1e0,  1e-1, 1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                              1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15};
alignas(64) static const double tens[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

INLINE5 __m256d power_of(const double *table, __m128i places)
{
    const __m512i n = _mm512_castsi256_si512(_mm256_cvtepu8_epi64(places));
    return _mm512_castpd512_pd256(
        _mm512_permutex2var_pd(_mm512_load_pd(table), n, _mm512_load_pd(table + 8)));
}

/* The digits of four lanes to values of up to 16 digits. */
INLINE5 __m256i values_of(__m512i digits)
{
    const __m512i fours = fours_of(digits);
    const __m512i eights =
        _mm512_madd_epi16(_mm512_packus_epi32(fours, fours), _mm512_set1_epi32(0x00012710));
    const __m256i q = _mm512_castsi512_si256(
        _mm512_permutexvar_epi64(_mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0), eights));
    return _mm256_add_epi64(_mm256_mul_epu32(q, _mm256_set1_epi64x(100000000)),
                            _mm256_srli_epi64(q, 32));
}

/* +-digits / 10^places of the lanes; false: one is too near to the middle of two floats. */
INLINE5 bool put_reals(__m256i digits, __m128i places, unsigned negative, unsigned lanes,
                       uint8_t *to, size_t element)
{
    const __m256d whole = _mm256_cvtepu64_pd(digits);
    if (element == 4) {
        const __m256d v = _mm256_mul_pd(whole, power_of(tenths, places));
        const __m256i bits =
            _mm256_sub_epi64(_mm256_castpd_si256(v), _mm256_set1_epi64x(0x0ffffffc));
        const __m256i low = _mm256_and_si256(bits, _mm256_set1_epi64x(0x1fffffff));
        const __m128i f = _mm_castps_si128(_mm256_cvtpd_ps(v));
        const __m128i sign = _mm_set1_epi32((int)0x80000000);
        _mm_mask_storeu_epi32(to, (__mmask8)lanes,
                              _mm_mask_xor_epi32(f, (__mmask8)negative, f, sign));
        return (_mm256_cmple_epu64_mask(low, _mm256_set1_epi64x(8)) & lanes) == 0;
    }
    const __m256i d = _mm256_castpd_si256(_mm256_div_pd(whole, power_of(tens, places)));
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    _mm256_mask_storeu_epi64(to, (__mmask8)lanes,
                             _mm256_mask_xor_epi64(d, (__mmask8)negative, d, sign));
    return true;
}

/* Up to four numbers of at most 16 bytes, with a point or without, as many as `lanes` has bits: the
 * k-th from the k-th start to the k-th end. */
INLINE5 bool put_numbers(const struct block *b, uint64_t starts, uint64_t range, unsigned lanes,
                         uint8_t *to, size_t element)
{
    /* where a number has a point the subtraction takes its end away: the others end in one */
    const uint64_t points = b->point | (b->ends & (b->ends - (b->point & range)));
    const __m512i end = positions(b->ends), start = positions(starts);
    const __m128i e = _mm512_castsi512_si128(end), s = _mm512_castsi512_si128(start),
                  q = _mm512_castsi512_si128(positions(points & range));
    const unsigned wrong = _mm_cmpgt_epu8_mask(_mm_sub_epi8(e, s), _mm_set1_epi8(16)) |
                           _mm_cmple_epu8_mask(q, s) | _mm_cmpgt_epu8_mask(q, e);
    if ((wrong & lanes) != 0 || __builtin_popcountll(points & range) != __builtin_popcount(lanes))
        return false;
    const __mmask16 none = _mm_cmpeq_epi8_mask(q, e), some = (__mmask16)~none;
    const __m128i places = _mm_maskz_sub_epi8(some, _mm_sub_epi8(e, q), _mm_set1_epi8(1));
    const __m512i shift = _mm512_castsi128_si512(_mm_mask_mov_epi8(q, none, _mm_set1_epi8(-128)));
    const __m512i back = _mm512_broadcast_i32x4(
        _mm_set_epi8(-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16));
    __m512i from = _mm512_add_epi8(spread(end, 16), back);
    const __mmask64 before = _mm512_cmple_epi8_mask(from, spread(shift, 16));
    from = _mm512_mask_sub_epi8(from, before, from, _mm512_set1_epi8(1));
    const __mmask64 inside = _mm512_cmpge_epi8_mask(from, spread(start, 16));
    const __m256i digits = values_of(_mm512_maskz_permutexvar_epi8(inside, from, b->digits));
    return put_reals(digits, places, (unsigned)_pext_u64(b->minus, starts), lanes, to, element);
}

INLINE5 const uint8_t *
four_reals(const struct block *b, const uint8_t *p, uint8_t *to, size_t element)
{
    const uint64_t range = up_to_end(b, 4);
    return range != 0 && is_plain(b, range, b->starts, b->point) &&
                   put_numbers(b, b->starts, range, 15, to, element)
               ? p + (unsigned)__builtin_popcountll(range) - 1
               : NULL;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Four pairs of integers: eight numbers of which every other one is an index. */
INLINE5 const uint8_t *integer_pairs(const struct block *b, const uint8_t *p, uint8_t *values,
                                     uint8_t *indices, uint32_t dim, size_t element)
{
    const uint64_t range = up_to_end(b, 4), colons = b->colon & range, ends = b->ends | colons;
    if (range == 0 || (b->point & range) != 0 || (_pext_u64(colons, ends) & 0xff) != 0x55 ||
        !is_plain(b, range, colons << 1, colons))
        return NULL;
    const __m512i end = positions(ends), start = positions(ends << 1 | 1);
    const __m128i length = _mm_sub_epi8(_mm512_castsi512_si128(end), _mm512_castsi512_si128(start));
    if ((_mm_cmpgt_epu8_mask(_mm_sub_epi8(length, _mm_set1_epi8(1)), _mm_set1_epi8(7)) & 0xff) != 0)
        return NULL; /* none, or more than 8 */
    const __m256i both = _mm256_permutevar8x32_epi32(integers_of(b, start, end),
                                                     _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    const __m128i index = _mm256_castsi256_si128(both), v = _mm256_extracti128_si256(both, 1);
    const __mmask8 negative = (__mmask8)_pext_u64(b->minus, colons << 1);
    if (_mm_cmpge_epu32_mask(index, _mm_set1_epi32((int)dim)) != 0)
        return NULL;
    _mm_storeu_si128((__m128i *)indices, index);
    if (element == 4) {
        const __m128i f = _mm_castps_si128(_mm_cvtepi32_ps(v));
        _mm_storeu_si128((__m128i *)values,
                         _mm_mask_xor_epi32(f, negative, f, _mm_set1_epi32((int)0x80000000)));
    } else {
        const __m256i d = _mm256_castpd_si256(_mm256_cvtepi32_pd(v));
        _mm256_storeu_si256((__m256i *)values,
                            _mm256_mask_xor_epi64(d, negative, d, _mm256_set1_epi64x(INT64_MIN)));
    }
    return p + (unsigned)__builtin_popcountll(range) - 1;
}

/* Up to four complete ones, to the line's end; *n is how many. */
INLINE5 const uint8_t *pairs(const struct block *b, const uint8_t *p, uint8_t *values,
                             uint8_t *indices, uint32_t dim, unsigned *n, size_t element)
{
    const uint64_t stop = _blsmsk_u64(b->ends & ~b->blank); /* to the first that is no blank */
    const unsigned count = (unsigned)__builtin_popcountll(b->ends & stop);
    *n = count < 4 ? count : 4;
    const uint8_t *behind = *n == 4 ? integer_pairs(b, p, values, indices, dim, element) : NULL;
    if (behind != NULL)
        return behind;
    const uint64_t range = *n == 0 ? 0 : up_to_end(b, *n);
    const uint64_t colons = b->colon & range, numbers = colons << 1;
    const unsigned lanes = (1u << *n) - 1;
    const __m512i start = positions(b->starts), colon = positions(colons);
    const __m128i s = _mm512_castsi512_si128(start), c = _mm512_castsi512_si128(colon),
                  e = _mm512_castsi512_si128(positions(b->ends));
    const unsigned wrong = _mm_cmpgt_epu8_mask(_mm_sub_epi8(c, s), _mm_set1_epi8(8)) |
                           _mm_cmple_epu8_mask(c, s) | _mm_cmpge_epu8_mask(c, e);
    /* a point follows a colon: put_numbers() checks that it is inside its number */
    if (range == 0 || (wrong & lanes) != 0 || (unsigned)__builtin_popcountll(colons) != *n ||
        !is_plain(b, range, numbers, b->point | colons) ||
        !put_numbers(b, numbers, range, lanes, values, element))
        return NULL;
    const __m128i v = _mm256_castsi256_si128(integers_of(b, start, colon));
    if ((_mm_cmpge_epu32_mask(v, _mm_set1_epi32((int)dim)) & lanes) != 0)
        return NULL;
    _mm_mask_storeu_epi32(indices, (__mmask8)lanes, v);
    return p + (unsigned)__builtin_popcountll(range) - 1;
}

/* ---- loops ------------------------------------------------------------------------------- */

INLINE5 uint32_t dense_values(const uint8_t **at, const uint8_t *safe, uint8_t *to, uint32_t most,
                              size_t element)
{
    const uint8_t *p = *at, *end;
    struct ctf_fast n;
    struct block b;
    uint32_t i = 0;
    for (; i < most && p < safe; p = ctf_behind_blanks(end)) {
        uint8_t *next = to + i * element;
        look(&b, p);
        if (most - i >= 8 && (end = eight_integers(&b, p, next, element)) != NULL) {
            i += 8;
        } else if (most - i >= 4 && (end = four_reals(&b, p, next, element)) != NULL) {
            i += 4;
        } else {
            end = ctf_fast_number(p, &n);
            if (end == NULL || !ctf_fast_put(&n, next, element))
                break;
            i++;
        }
    }
    *at = p;
    return i;
}

INLINE5 uint32_t sparse_values(const uint8_t **at, const uint8_t *safe, uint8_t *values,
                               uint8_t *indices, uint32_t dim, size_t element)
{
    const uint8_t *p = *at, *end;
    struct ctf_fast n;
    struct block b;
    uint64_t v;
    uint32_t i = 0;
    for (; p < safe; p = ctf_behind_blanks(end)) {
        unsigned some;
        uint8_t *next = values + i * element, *index = indices + 4 * (size_t)i;
        look(&b, p);
        end = pairs(&b, p, next, index, dim, &some, element);
        if (end == NULL) {
            end = ctf_fast_pair(p, &v, &n);
            if (end == NULL || v >= dim || !ctf_fast_put(&n, next, element))
                break;
            store_le32(index, (uint32_t)v);
            some = 1;
        }
        i += some;
    }
    *at = p;
    return i;
}

#define ENTRY(name) AVX512 uint32_t ctf_##name##_avx512
#include "formats/ctf/ctf_values_entries.h"
