/* codec/jpeg/encode/forward_avx512.c - colour of 32 pixels, four blocks at a time. */
#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/kernels/idct_factors.h"

#if defined(__x86_64__)
#define V            __m512i
#define OP(name)     _mm512_##name
#define BROADCAST(p) _mm512_broadcast_i32x4(load128(p))
#define INLINE       INLINE512
#include "codec/jpeg/encode/forward_shape.h"

/* ---- colour --------------------------------------------------------------------------------- */

enum { STEP = 32, HALF_STEP = STEP / 2 };

/* Orders of bytes, and factors. */
struct colours {
    __m512i rg, bg;             /* of 16 pixels: a word of each, side by side */
    __m512i third;              /* of every four bytes of two vectors the third: >> 16 */
    __m512i y[2], cb[2], cr[2]; /* factors of rg and of bg */
    __m512i luma_bias, minus_bias;
};

/* Chroma is made with its sign turned, as -32768 has a word and 32768 has none; all bits of it are
 * turned in the end: what is rounded down is -1 - x then. */
INLINE512 struct colours colours(void)
{
    enum { QUARTER = 1 << 14 }; /* green's factor takes more than a word: it is in both pairs */
    uint8_t rg[64] = {0}, bg[64] = {0}, third[64] = {0};
    for (uint8_t i = 0; i < HALF_STEP; i++) {
        rg[4 * i] = (uint8_t)(3 * i);
        bg[4 * i] = (uint8_t)(3 * i + 2);
        rg[4 * i + 2] = bg[4 * i + 2] = (uint8_t)(3 * i + 1);
        third[i] = (uint8_t)(4 * i + 2);
        third[HALF_STEP + i] = (uint8_t)(64 + 4 * i + 2);
    }
    return (struct colours){
        .rg = _mm512_loadu_si512(rg),
        .bg = _mm512_loadu_si512(bg),
        .third = _mm512_loadu_si512(third),
        .y = {_mm512_set1_epi32(PAIR(Y_RED, Y_GREEN - QUARTER)),
              _mm512_set1_epi32(PAIR(Y_BLUE, QUARTER))},
        .cb = {_mm512_set1_epi32(PAIR(-CB_RED, -CB_GREEN)),
               _mm512_set1_epi32(PAIR(-COLOUR_HALF, 0))},
        .cr = {_mm512_set1_epi32(PAIR(-COLOUR_HALF, 0)),
               _mm512_set1_epi32(PAIR(-CR_BLUE, -CR_GREEN))},
        .luma_bias = _mm512_set1_epi32(COLOUR_HALF),
        .minus_bias = _mm512_set1_epi32(-CHROMA_BIAS - 1),
    };
}

/* The words of 16 pixels; the others of the 64 bytes are skipped. */
INLINE512 __m512i pixel_words(__m512i v, __m512i order)
{
    return _mm512_maskz_permutexvar_epi8(0x5555555555555555, order, v);
}

/* Bytes of 32 pixels. */
INLINE512 __m256i weighted(const __m512i rg[2], const __m512i bg[2], const __m512i factors[2],
                           __m512i bias, __m512i third)
{
    __m512i sum[2];
    UNROLL for (int k = 0; k < 2; k++) sum[k] =
        _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(bias, rg[k], factors[0]), bg[k], factors[1]);
    return _mm512_castsi512_si256(_mm512_permutex2var_epi8(sum[0], third, sum[1]));
}

INLINE512 void
colour_of(const struct colours *c, const __m512i v[2], uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    const __m256i ones = _mm256_set1_epi8(-1);
    const __m512i rg[2] = {pixel_words(v[0], c->rg), pixel_words(v[1], c->rg)};
    const __m512i bg[2] = {pixel_words(v[0], c->bg), pixel_words(v[1], c->bg)};
    store256(y, weighted(rg, bg, c->y, c->luma_bias, c->third));
    store256(cb, _mm256_xor_si256(weighted(rg, bg, c->cb, c->minus_bias, c->third), ones));
    store256(cr, _mm256_xor_si256(weighted(rg, bg, c->cr, c->minus_bias, c->third), ones));
}

/* The bytes of up to 16 pixels, none beyond them. */
INLINE512 __m512i load_pixels(const uint8_t *rgb, uint32_t n)
{
    return _mm512_maskz_loadu_epi8(((uint64_t)1 << (3 * n)) - 1, rgb);
}

AVX512 void colour_avx512(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    const struct colours c = colours();
    for (uint32_t i = 0; i < n; i += STEP, rgb += 3 * STEP) {
        const uint32_t left = n - i < STEP ? n - i : STEP;
        const uint32_t first = left < HALF_STEP ? left : HALF_STEP;
        const __m512i v[2] = {load_pixels(rgb, first), load_pixels(rgb + 3 * first, left - first)};
        colour_of(&c, v, y + i, cb + i, cr + i);
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

INLINE512 __m512i words(const uint16_t *p)
{
    return _mm512_loadu_si512(p);
}

INLINE512 void quantize(__m512i r[8], const struct quantizer *q)
{
    UNROLL for (int k = 0; k < 8; k++)
    {
        const __m512i v = levels(r[k], q, k);
        r[k] = _mm512_mask_sub_epi16(v, _mm512_movepi16_mask(r[k]), _mm512_setzero_si512(), v);
    }
}

/* Four rows of four blocks to four blocks of four rows. */
INLINE512 void gather(const __m512i r[4], __m512i block[4])
{
    const __m512i a = _mm512_shuffle_i32x4(r[0], r[1], 0x44);
    const __m512i b = _mm512_shuffle_i32x4(r[2], r[3], 0x44);
    const __m512i c = _mm512_shuffle_i32x4(r[0], r[1], 0xEE);
    const __m512i d = _mm512_shuffle_i32x4(r[2], r[3], 0xEE);
    block[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    block[1] = _mm512_shuffle_i32x4(a, b, 0xDD);
    block[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    block[3] = _mm512_shuffle_i32x4(c, d, 0xDD);
}

INLINE512 void
store(const __m512i r[8], const __m512i order[2], int16_t *coef, uint64_t occupied[4])
{
    __m512i top[4], bottom[4];
    gather(r, top);
    gather(r + 4, bottom);
    UNROLL for (int b = 0; b < 4; b++)
    {
        const __m512i low = _mm512_permutex2var_epi16(top[b], order[0], bottom[b]);
        const __m512i high = _mm512_permutex2var_epi16(top[b], order[1], bottom[b]);
        _mm512_store_si512(coef + 64 * b, low);
        _mm512_store_si512(coef + 64 * b + 32, high);
        occupied[b] =
            _mm512_test_epi16_mask(low, low) | (uint64_t)_mm512_test_epi16_mask(high, high) << 32;
    }
}

AVX512 void blocks_avx512(const struct forward_blocks *b, const struct quantizer *q)
{
    uint16_t zigzag[64];
    for (int k = 0; k < 64; k++)
        zigzag[k] = natural_order[k];
    const __m512i order[2] = {words(zigzag), words(zigzag + 32)};
    for (uint32_t i = 0; i < b->n; i += 4) {
        __m512i r[8];
        UNROLL for (size_t y = 0; y < 8; y++) r[y] = _mm512_sub_epi16(
            _mm512_cvtepu8_epi16(load256(b->samples + (size_t)8 * i + y * b->stride)),
            _mm512_set1_epi16(128));
        forward(r);
        quantize(r, q);
        store(r, order, b->coef + (size_t)64 * i, b->occupied + i);
    }
}
#endif
