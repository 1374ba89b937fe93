/* formats/ctf/ctf_values_avx2.c - a number and the blank after it out of 16 bytes.
 *
 * The blank alone gives the place of the next number, before this one is known, so several are
 * under way at once. */
#include "base/simd.h"
#include "formats/ctf/ctf_fast.h"
#include "formats/ctf/ctf_values.h"

/* The value of up to 16 digits, the last one in byte 15. */
INLINE2 uint64_t value_of(__m128i digits)
{
    const __m128i tens = _mm_set1_epi16(0x010a), hundreds = _mm_set1_epi32(0x00010064),
                  myriads = _mm_set1_epi32(0x00012710);
    const __m128i pairs = _mm_maddubs_epi16(digits, tens);
    const __m128i fours = _mm_madd_epi16(pairs, hundreds);
    const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), myriads);
    const uint64_t halves = (uint64_t)_mm_cvtsi128_si64(eights);
    return (halves & 0xffffffff) * 100000000 + (halves >> 32);
}

/* Which bytes are digits; *digits has their values, others are 0. */
INLINE2 unsigned digits_of(__m128i text, __m128i *digits)
{
    const __m128i v = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i is = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
    *digits = _mm_and_si128(v, is);
    return (unsigned)_mm_movemask_epi8(is);
}

/* places[n + k]: where byte k of 16 comes from, so that n bytes end in the last one. */
static const int8_t places[32] = {-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6,
                                  -5,  -4,  -3,  -2,  -1,  0,   1,   2,  3,  4,  5,
                                  6,   7,   8,   9,   10,  11,  12,  13, 14, 15};

/* The kind of the n < 16 bytes at p, whose digits are the bits of `is`: -ddd.ddd; *from is how to
 * bring them together. */
INLINE2 bool
shape_of(const uint8_t *p, unsigned n, unsigned is, struct ctf_fast *out, __m128i *from)
{
    const unsigned all = (1u << n) - 1;
    out->negative = *p == '-';
    out->places = 0;
    *from = _mm_loadu_si128((const __m128i *)(places + n));
    const unsigned others = ~is & all & ~(unsigned)out->negative;
    if (others != 0) { /* a point: what precedes it moves up */
        const unsigned point = (unsigned)__builtin_ctz(others);
        if ((others & (others - 1)) != 0 || p[point] != '.')
            return false;
        out->places = n - point - 1;
        *from = _mm_add_epi8(*from, _mm_cmpgt_epi8(_mm_set1_epi8((char)(point + 1)), *from));
    }
    return (is & all) != 0;
}

INLINE2 const uint8_t *scan(const uint8_t *p, struct ctf_fast *out)
{
    const __m128i text = _mm_loadu_si128((const __m128i *)p);
    const unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(' ')));
    __m128i digits, from;
    const unsigned is = digits_of(text, &digits);
    if (blanks == 0)
        return ctf_fast_number(p, out);
    const unsigned n = (unsigned)__builtin_ctz(blanks);
    if (!shape_of(p, n, is, out, &from))
        return NULL;
    out->digits = value_of(_mm_shuffle_epi8(digits, from));
    return p + n;
}

/* The index goes through the lower half, the number through the upper one. */
INLINE2 const uint8_t *pair(const uint8_t *p, uint64_t *index, struct ctf_fast *out)
{
    const __m256i text = _mm256_loadu_si256((const __m256i *)p);
    const unsigned blanks =
        (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(' ')));
    const unsigned colons =
        (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(':')));
    if (blanks == 0 || colons == 0)
        return ctf_fast_pair(p, index, out);
    const unsigned end = (unsigned)__builtin_ctz(blanks), n = (unsigned)__builtin_ctz(colons);
    const unsigned all = (1u << (n & 15)) - 1;
    if (n - 1 > 6 || end - n - 2 > 14) /* at most 7 digits; 1 to 15 bytes after the colon */
        return ctf_fast_pair(p, index, out);
    const uint8_t *number = p + n + 1;
    const __m256i both =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
                                _mm_loadu_si128((const __m128i *)number), 1);
    const __m256i v = _mm256_sub_epi8(both, _mm256_set1_epi8('0'));
    const __m256i is = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(9)), v);
    const unsigned mask = (unsigned)_mm256_movemask_epi8(is);
    __m128i from;
    if ((mask & all) != all || !shape_of(number, end - n - 1, mask >> 16, out, &from))
        return NULL;
    const __m256i froms = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(places + n))), from, 1);
    const __m256i digits = _mm256_shuffle_epi8(_mm256_and_si256(v, is), froms);
    const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
    const __m256i eights =
        _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x00012710));
    *index = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(eights)) >> 32;
    const uint64_t halves = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(eights, 1));
    out->digits = (halves & 0xffffffff) * 100000000 + (halves >> 32);
    return p + end;
}

/* "d d d d d d d d ", or half of it. */
INLINE2 uint32_t run_of_digits(const uint8_t *p, uint8_t *to, uint32_t most, size_t element)
{
    __m128i digits;
    const __m128i text = _mm_loadu_si128((const __m128i *)p);
    const unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(' ')));
    const unsigned is = digits_of(text, &digits);
    if ((blanks & 0xaa) != 0xaa || (is & 0x55) != 0x55 || most < 8)
        return 0;
    const __m256i wide = _mm256_cvtepu16_epi32(digits);
    if (element == 4) {
        _mm256_storeu_ps((float *)to, _mm256_cvtepi32_ps(wide));
    } else {
        _mm256_storeu_pd((double *)to, _mm256_cvtepi32_pd(_mm256_castsi256_si128(wide)));
        _mm256_storeu_pd((double *)to + 4, _mm256_cvtepi32_pd(_mm256_extracti128_si256(wide, 1)));
    }
    return blanks == 0xaaaa && is == 0x5555 ? 8 : 4; /* the excess is overwritten */
}

#define LOOP INLINE2
#define SCAN scan
#define PAIR pair
#define RUN  run_of_digits
#include "formats/ctf/ctf_values_loops.h"

#define ENTRY(name) AVX2 uint32_t ctf_##name##_avx2
#include "formats/ctf/ctf_values_entries.h"
