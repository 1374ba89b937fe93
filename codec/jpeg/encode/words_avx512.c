/* codec/jpeg/encode/words_avx512.c - the coefficients that are not 0 close up, block after block,
 * and become words 16 at a time, whatever block they are of. No branch depends on where they are.
 */
#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/recode/symbol_words.h"

#if defined(__x86_64__)

enum { AT_ONCE = 8, ROOM = AT_ONCE * BLOCK_WORDS + 64, TAG_TABLE = 4, MOST_RUN = 15 };

/* Values in the order of the scan, and of each its table << TAG_TABLE | the zeros before it. */
struct elements {
    int16_t value[ROOM];
    uint8_t tag[ROOM];
};

/* The zeros before each of a block's elements, the first of which is DC. */
INLINE512 __m512i runs_of(uint64_t occupied, __m512i places)
{
    const __m512i at = _mm512_maskz_compress_epi8(occupied, places);
    const __m512i one_before = _mm512_sub_epi8(places, _mm512_set1_epi8(1));
    const __m512i before =
        _mm512_mask_permutexvar_epi8(_mm512_set1_epi8(-1), ~(uint64_t)1, one_before, at);
    return _mm512_sub_epi8(_mm512_sub_epi8(at, before), _mm512_set1_epi8(1));
}

/* Appends a block at n, unless a run is too long for one word; returns n after it, or 0. */
INLINE512 uint32_t append(struct elements *e, uint32_t n, const struct scan_block *b,
                          __m512i places)
{
    const uint64_t occupied = b->occupied | 1;
    const uint32_t count = (uint32_t)__builtin_popcountll(occupied);
    const __m512i runs = runs_of(occupied, places);
    const uint64_t inside = ~(uint64_t)0 >> (64 - count);
    if (_mm512_mask_cmpgt_epu8_mask(inside, runs, _mm512_set1_epi8(MOST_RUN)) != 0)
        return 0;
    const __m512i low = _mm512_mask_set1_epi16(_mm512_loadu_si512(b->coef), 1, b->difference);
    const __m512i high = _mm512_loadu_si512(b->coef + 32);
    const uint32_t first = (uint32_t)occupied, second = (uint32_t)(occupied >> 32);
    int16_t *value = e->value + n;
    _mm512_storeu_si512(value, _mm512_maskz_compress_epi16(first, low));
    _mm512_storeu_si512(value + __builtin_popcount(first),
                        _mm512_maskz_compress_epi16(second, high));
    const __m512i tables = _mm512_mask_set1_epi8(_mm512_set1_epi8((char)(b->ac << TAG_TABLE)), 1,
                                                 (char)(b->dc << TAG_TABLE));
    _mm512_storeu_si512(e->tag + n, _mm512_or_si512(runs, tables));
    value[count] = 0; /* the end of the block, where the last coefficient is 0 */
    e->tag[n + count] = (uint8_t)(b->ac << TAG_TABLE);
    return n + count + (occupied >> 63 == 0);
}

INLINE512 __m512i sixteen_words(const int16_t *value, const uint8_t *tag)
{
    const __m512i v = _mm512_cvtepi16_epi32(load256(value)), t = _mm512_cvtepu8_epi32(load128(tag));
    /* a float's exponent is the number of bits, and 127 - 1 */
    const __m512i magnitude = _mm512_castps_si512(_mm512_cvtepi32_ps(_mm512_abs_epi32(v)));
    const __m512i bits = _mm512_maskz_sub_epi32(
        _mm512_test_epi32_mask(v, v), _mm512_srli_epi32(magnitude, 23), _mm512_set1_epi32(126));
    const __m512i ones = _mm512_set1_epi32(-1);
    const __m512i extra = _mm512_andnot_si512(_mm512_sllv_epi32(ones, bits),
                                              _mm512_add_epi32(v, _mm512_srai_epi32(v, 31)));
    const __m512i run = _mm512_and_si512(t, _mm512_set1_epi32(MOST_RUN));
    const __m512i table = _mm512_srli_epi32(t, TAG_TABLE);
    return _mm512_or_si512(
        _mm512_or_si512(_mm512_slli_epi32(table, WORD_TABLE), _mm512_slli_epi32(extra, WORD_VALUE)),
        _mm512_or_si512(_mm512_slli_epi32(run, 4), bits));
}

INLINE512 uint32_t *flush(const struct elements *e, uint32_t n, uint32_t *to)
{
    for (uint32_t i = 0; i < n; i += 16)
        _mm512_storeu_si512(to + i, sixteen_words(e->value + i, e->tag + i));
    return to + n;
}

AVX512 uint32_t *words_avx512(const struct scan_block *b, uint32_t n, uint32_t *to)
{
    struct elements e;
    uint8_t place[64];
    uint32_t have = 0;
    for (uint8_t k = 0; k < 64; k++)
        place[k] = k;
    const __m512i places = _mm512_loadu_si512(place);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t end = append(&e, have, b + i, places);
        if (end != 0 && end < AT_ONCE * BLOCK_WORDS - BLOCK_WORDS) {
            have = end;
            continue;
        }
        to = flush(&e, end != 0 ? end : have, to);
        if (end == 0)
            to = block_words(b + i, to);
        have = 0;
    }
    return flush(&e, have, to);
}
#endif
