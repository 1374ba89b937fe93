/* codec/jpeg/encode/forward_avx512.c - four blocks at a time. */
#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/kernels/idct_factors.h"

#if defined(__x86_64__)
#define V            __m512i
#define OP(name)     _mm512_##name
#define BROADCAST(p) _mm512_broadcast_i32x4(load128(p))
#define INLINE       INLINE512
#include "codec/jpeg/encode/forward_shape.h"

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
