/* augment/colour/colour_avx512.c - the colour kernels on AVX-512: sixteen pixels a step, a channel
 * a vector; masks take what is left. */
#include "augment/colour/colour.h"
#include "base/simd.h"

#include <float.h>

enum { STEP = 16 };

/* ---- sixteen pixels in and out ------------------------------------------------------------ */

struct pixels {
    __m512i r, g, b, alpha; /* int32; alpha in its place */
};

/* Bytes 0, 1, 2, none, 3, 4, 5, none, ... and back. */
static const uint8_t spread[64] = {0,  1,  2,  64, 3,  4,  5,  64, 6,  7,  8,  64, 9,  10, 11, 64,
                                   12, 13, 14, 64, 15, 16, 17, 64, 18, 19, 20, 64, 21, 22, 23, 64,
                                   24, 25, 26, 64, 27, 28, 29, 64, 30, 31, 32, 64, 33, 34, 35, 64,
                                   36, 37, 38, 64, 39, 40, 41, 64, 42, 43, 44, 64, 45, 46, 47, 64};
static const uint8_t gather[64] = {0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20,
                                   21, 22, 24, 25, 26, 28, 29, 30, 32, 33, 34, 36, 37, 38, 40, 41,
                                   42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57, 58, 60, 61, 62};

INLINE512 __mmask64 first_bytes(size_t n, size_t most)
{
    n = n < most ? n : most;
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/* Pixels i to i + 15 of n, as far as there are any. */
INLINE512 __mmask64 bytes_at(uint32_t i, uint32_t n, uint32_t channels)
{
    return i >= n ? 0 : first_bytes((size_t)(n - i < STEP ? n - i : STEP) * channels, 64);
}

INLINE512 struct pixels load_at(const uint8_t *px, uint32_t i, uint32_t n, uint32_t channels)
{
    const __m512i byte = _mm512_set1_epi32(255);
    struct pixels e;
    __m512i v = _mm512_maskz_loadu_epi8(bytes_at(i, n, channels), px + (size_t)i * channels);
    if (channels == 3)
        v = _mm512_maskz_permutexvar_epi8(0x7777777777777777u, _mm512_loadu_si512(spread), v);
    e.r = _mm512_and_si512(v, byte);
    e.g = _mm512_and_si512(_mm512_srli_epi32(v, 8), byte);
    e.b = _mm512_and_si512(_mm512_srli_epi32(v, 16), byte);
    e.alpha = _mm512_and_si512(v, _mm512_set1_epi32((int)0xff000000u));
    return e;
}

INLINE512 void put(uint8_t *px, uint32_t i, uint32_t n, const struct pixels *e, uint32_t channels)
{
    const __m512i rg = _mm512_or_si512(e->r, _mm512_slli_epi32(e->g, 8));
    __m512i v = _mm512_or_si512(rg, _mm512_or_si512(_mm512_slli_epi32(e->b, 16), e->alpha));
    if (channels == 3)
        v = _mm512_permutexvar_epi8(_mm512_loadu_si512(gather), v);
    _mm512_mask_storeu_epi8(px + (size_t)i * channels, bytes_at(i, n, channels), v);
}

/* ---- tables ------------------------------------------------------------------------------- */

struct table {
    __m512i part[4];
};

INLINE512 struct table load_table(const uint8_t map[256])
{
    struct table t;
    for (int k = 0; k < 4; k++)
        t.part[k] = _mm512_loadu_si512(map + 64 * k);
    return t;
}

INLINE512 __m512i look_up(const struct table *t, __m512i v)
{
    const __m512i low = _mm512_permutex2var_epi8(t->part[0], v, t->part[1]);
    const __m512i high = _mm512_permutex2var_epi8(t->part[2], v, t->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high);
}

/* 64 bytes of which the first is of channel (phase) % channels; `of`: bytes of each channel. */
INLINE512 __m512i look_up_all(const struct table t[3], __m512i v, const __mmask64 of[3])
{
    __m512i out = v;
    for (int c = 0; c < 3; c++)
        out = _mm512_mask_mov_epi8(out, of[c], look_up(&t[c], v));
    return out;
}

/* As below, bytes are loaded before those before them are stored. */
AVX512 void colour_map_avx512(uint8_t *px, uint32_t n, uint32_t channels, const uint8_t map[3][256])
{
    const struct table t[3] = {load_table(map[0]), load_table(map[1]), load_table(map[2])};
    const uint32_t step = channels == 3 ? 63 : 64; /* bytes of whole pixels */
    const __mmask64 third = channels == 3   ? 0x9249249249249249u
                            : channels == 4 ? 0x1111111111111111u
                                            : ~(__mmask64)0;
    const __mmask64 of[3] = {third, channels == 1 ? 0 : third << 1, channels == 1 ? 0 : third << 2};
    size_t left = (size_t)n * channels;
    __mmask64 bytes = first_bytes(left, step);
    __m512i v = _mm512_maskz_loadu_epi8(bytes, px);
    while (left > step) {
        const __mmask64 more = first_bytes(left - step, step);
        const __m512i next = _mm512_maskz_loadu_epi8(more, px + step);
        _mm512_mask_storeu_epi8(px, bytes, look_up_all(t, v, of));
        v = next, bytes = more;
        px += step;
        left -= step;
    }
    _mm512_mask_storeu_epi8(px, bytes, look_up_all(t, v, of));
}

/* ---- kernels of any width ----------------------------------------------------------------- */

typedef __m512 reals;
typedef __m512i ints;
typedef __mmask16 truth;

INLINE512 truth is_odd(ints v)
{
    return _mm512_test_epi32_mask(v, _mm512_set1_epi32(1));
}

INLINE512 truth in_sixths(ints sixth, int bits)
{
    const ints bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), sixth);
    return _mm512_test_epi32_mask(bit, _mm512_set1_epi32(bits));
}

#define LOOP                          INLINE512
#define ENTRY(type, name)             AVX512 type name##_avx512
#define V(operation)                  _mm512_##operation
#define SHIFTED(v, bits)              _mm512_srl_epi32(v, _mm_cvtsi32_si128(bits))
#define COMPARE(a, how, b)            _mm512_cmp_ps_mask(a, b, how)
#define select(no, where, yes)        _mm512_mask_mov_ps(no, where, yes)
#define only(where, v)                _mm512_maskz_mov_ps(where, v)
#define unless(where, v)              _mm512_mask_mov_ps(v, where, _mm512_setzero_ps())
#define add_where(a, where, b)        _mm512_mask_add_ps(a, where, a, b)
#define sub_where(a, where, b)        _mm512_mask_sub_ps(a, where, a, b)
#define vectors(n, channels)          (n)
#define first(px, whole, channels)    load_at(px, 0, whole, channels)
#define after(px, i, whole, channels) load_at(px, (i) + STEP, whole, channels)
#include "augment/colour/colour_lanes.h"

INLINE512 uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                               uint32_t channels)
{
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += STEP) {
        const struct pixels e = load_at(px, i, n, channels);
        const __m512i grey = grey_all(w, &e); /* of no pixel: 0, whatever rounding adds */
        sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(grey)));
        sum = _mm512_add_epi64(sum, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(grey, 1)));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}
