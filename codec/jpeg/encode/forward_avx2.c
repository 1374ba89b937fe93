/* codec/jpeg/encode/forward_avx2.c - colour of 16 pixels, means of 32 samples, two blocks at a
 * time. */
#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/kernels/idct_factors.h"

#include <string.h>

#if defined(__x86_64__)
#define V            __m256i
#define OP(name)     _mm256_##name
#define BROADCAST(p) load_twice(p)
#define INLINE       INLINE2
#include "codec/jpeg/encode/forward_shape.h"

/* ---- colour --------------------------------------------------------------------------------- */

enum { STEP = 16 };

INLINE2 __m128i ordered(__m128i v, const int8_t order[16])
{
    return _mm_shuffle_epi8(v, load128(order));
}

/* Every third byte of 48, as words. */
INLINE2 __m256i third(const __m128i v[3], const int8_t order[3][16])
{
    return _mm256_cvtepu8_epi16(_mm_or_si128(
        _mm_or_si128(ordered(v[0], order[0]), ordered(v[1], order[1])), ordered(v[2], order[2])));
}

/* Sums of products, 16 bits of fraction, to words. */
INLINE2 __m256i rounded(__m256i low, __m256i high, int32_t bias)
{
    const __m256i b = _mm256_set1_epi32(bias);
    return _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, b), COLOUR_FRACTION),
                              _mm256_srai_epi32(_mm256_add_epi32(high, b), COLOUR_FRACTION));
}

/* rg by (a, b), bg by (c, d); a half in `minus` comes with its sign turned: it has no word. */
INLINE2 __m256i luma(struct pairs rg, struct pairs bg)
{
    enum { QUARTER = 1 << 14 }; /* green's factor takes more than a word: it is in both pairs */
    const __m256i a = _mm256_set1_epi32(PAIR(Y_RED, Y_GREEN - QUARTER));
    const __m256i b = _mm256_set1_epi32(PAIR(Y_BLUE, QUARTER));
    return rounded(_mm256_add_epi32(_mm256_madd_epi16(rg.low, a), _mm256_madd_epi16(bg.low, b)),
                   _mm256_add_epi32(_mm256_madd_epi16(rg.high, a), _mm256_madd_epi16(bg.high, b)),
                   COLOUR_HALF);
}

/* `with` by two factors, and half of the first of `own`: -32768 has a word, 32768 has none. */
INLINE2 __m256i chroma(struct pairs with, int32_t factors, struct pairs own)
{
    const __m256i a = _mm256_set1_epi32(factors), minus = _mm256_set1_epi32(PAIR(-COLOUR_HALF, 0));
    return rounded(
        _mm256_sub_epi32(_mm256_madd_epi16(with.low, a), _mm256_madd_epi16(own.low, minus)),
        _mm256_sub_epi32(_mm256_madd_epi16(with.high, a), _mm256_madd_epi16(own.high, minus)),
        CHROMA_BIAS);
}

INLINE2 void colour_of(const uint8_t *rgb, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    static const int8_t red[3][16] = {
        {0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13}};
    static const int8_t green[3][16] = {
        {1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14}};
    static const int8_t blue[3][16] = {
        {2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1},
        {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15}};
    const __m128i v[3] = {load128(rgb), load128(rgb + 16), load128(rgb + 32)};
    const __m256i r = third(v, red), g = third(v, green), b = third(v, blue);
    const struct pairs rg = paired(r, g), bg = paired(b, g);
    store128(y, bytes_of_words(luma(rg, bg)));
    store128(cb, bytes_of_words(chroma(rg, PAIR(CB_RED, CB_GREEN), bg)));
    store128(cr, bytes_of_words(chroma(bg, PAIR(CR_BLUE, CR_GREEN), rg)));
}

AVX2 void colour_avx2(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    uint8_t last[3 * STEP] = {0};
    uint32_t i = 0;
    for (; i + STEP <= n; i += STEP)
        colour_of(rgb + (size_t)3 * i, y + i, cb + i, cr + i);
    if (i == n)
        return;
    memcpy(last, rgb + (size_t)3 * i, (size_t)3 * (n - i));
    colour_of(last, y + i, cb + i, cr + i);
}

/* ---- means ---------------------------------------------------------------------------------- */

INLINE2 __m256i means(const uint8_t *above, const uint8_t *below)
{
    const __m256i ones = _mm256_set1_epi8(1), bias = _mm256_set1_epi32(PAIR(1, 2));
    const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load256(above), ones),
                                         _mm256_maddubs_epi16(load256(below), ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, bias), 2);
}

AVX2 void halve_avx2(const uint8_t *above, const uint8_t *below, uint32_t n, uint8_t *out)
{
    for (uint32_t i = 0; i < n; i += 16)
        store128(out + i, bytes_of_words(means(above + (size_t)2 * i, below + (size_t)2 * i)));
}

/* ---- blocks --------------------------------------------------------------------------------- */

INLINE2 uint64_t occupied_of(const int16_t *zigzag)
{
    uint64_t bits = 0;
    for (int k = 0; k < 2; k++) { /* words to bytes keep what is not 0 */
        const __m256i bytes =
            _mm256_packs_epi16(load256(zigzag + 32 * k), load256(zigzag + 32 * k + 16));
        const __m256i in_order = _mm256_permute4x64_epi64(bytes, 0xd8);
        const __m256i zero = _mm256_cmpeq_epi8(in_order, _mm256_setzero_si256());
        bits |= (uint64_t) ~(uint32_t)_mm256_movemask_epi8(zero) << (32 * k);
    }
    return bits;
}

AVX2 void blocks_avx2(const struct forward_blocks *b, const struct quantizer *q)
{
    for (uint32_t i = 0; i < b->n; i += 2) {
        int16_t natural[2][64];
        __m256i r[8];
        UNROLL for (size_t y = 0; y < 8; y++) r[y] = _mm256_sub_epi16(
            _mm256_cvtepu8_epi16(load128(b->samples + (size_t)8 * i + y * b->stride)),
            _mm256_set1_epi16(128));
        forward(r);
        UNROLL for (int k = 0; k < 8; k++) store_halves(
            natural[0] + 8 * k, natural[1] + 8 * k, _mm256_sign_epi16(levels(r[k], q, k), r[k]));
        for (uint32_t k = 0; k < 2; k++) {
            int16_t *coef = b->coef + (size_t)64 * (i + k);
            block_order(natural[k], coef);
            b->occupied[i + k] = occupied_of(coef);
        }
    }
}
#endif
