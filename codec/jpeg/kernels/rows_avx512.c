/* codec/jpeg/kernels/rows_avx512.c - 64 pixels at a time.
 *
 * Four groups of 16 pixels, each a register of pairs of words (Cb, Cr), one a pixel. One byte
 * permutation brings each pixel the two chroma samples it lies between, one multiplication
 * weighs them; all that is kept of the sum is twice the value less 128, which the colours' factors
 * expect. Blue and red are made in place; green is a sum of both. Bytes go to their places in RGB
 * by permutations of whole registers. */
#include "base/simd.h"
#include "codec/jpeg/kernels/byte_tables.h"
#include "codec/jpeg/kernels/variants.h"

enum { STEP = 64, GROUP = 16 };

/* ---- orders of bytes ---------------------------------------------------------------------- */

/* Byte k of a group's register belongs to pixel k / 4; its lower half is Cb. Chroma comes as 32
 * bytes of Cb from the column before the group, then as many of Cr. */
#define IS_CR(k)    ((k) >> 1 & 1)
#define NEAR(px)    (1 + (px) / 2)
#define NEXT(px)    ((px) % 2 == 0 ? (px) / 2 : 2 + (px) / 2)
#define BETWEEN(k)  (32 * IS_CR(k) + ((k) % 2 == 0 ? NEAR((k) / 4) : NEXT((k) / 4)))
#define BESIDE(k)   (BETWEEN(k) + GROUP / 2) /* the next group, out of the same register */
#define ITSELF(k)   (32 * IS_CR(k) + (k) / 4)
#define ITSELF_2(k) (ITSELF(k) + GROUP)
#define LUMA(k)     ((k) / 4) /* of 16 bytes that are in every lane: twice as a word */

/* Byte k of the 192 that 64 pixels have. A register of blue and red holds two groups, 4 pixels of
 * each in a lane; green's lanes have 4 of groups 0 and 1 in turns, then of 2 and 3. */
#define PIXEL(k) ((k) / 3)
#define LANE(px) ((px) % GROUP / 4 * 16)
#define FROM_PAIR(k)                                                                               \
    (LANE(PIXEL(k)) + PIXEL(k) / 16 % 2 * 8 + PIXEL(k) % 4 * 2 + ((k) % 3 == 0 ? 1 : 0))
#define FROM_GREEN(k) (LANE(PIXEL(k)) + PIXEL(k) / 32 * 8 + PIXEL(k) % 4 * 2 + PIXEL(k) / 16 % 2)
#define ORDER(k)      ((k) % 3 == 1 ? FROM_GREEN(k) : FROM_PAIR(k))
#define ORDER_1(k)    ORDER((k) + 64)
#define ORDER_2(k)    ORDER((k) + 128)

static _Alignas(64)
    byte_table between = TABLE(BETWEEN),
               beside = TABLE(BESIDE), itself = TABLE(ITSELF), itself_2 = TABLE(ITSELF_2),
               luma = TABLE(LUMA), order[3] = {TABLE(ORDER), TABLE(ORDER_1), TABLE(ORDER_2)};

/* Of 64 bytes from byte 0, 64 and 128 of RGB: those that are green. */
#define GREEN_0 0x2492492492492492u
#define GREEN_1 0x9249249249249249u
#define GREEN_2 0x4924924924924924u

/* ---- chroma --------------------------------------------------------------------------------- */

/* Two words, in every pixel. */
INLINE512 __m512i words(int32_t first, int32_t second)
{
    return _mm512_set1_epi32((int32_t)((uint32_t)(uint16_t)first | (uint32_t)second << 16));
}

/* A word, in both of every even pixel, and another in those of odd ones. */
INLINE512 __m512i in_turns(int32_t even, int32_t odd)
{
    const uint32_t low = 0x10001u * (uint16_t)even, high = 0x10001u * (uint16_t)odd;
    return _mm512_set1_epi64((int64_t)((uint64_t)high << 32 | low));
}

INLINE512 __m512i both(const uint8_t *cb, const uint8_t *cr)
{
    const __m256i second = load256(cr);
    return _mm512_inserti64x4(_mm512_castsi256_si512(load256(cb)), second, 1);
}

/* The bytes at a table's places, in pairs: the first `nearer` times, the second `next` times. */
INLINE512 __m512i weighed(__m512i samples, const uint8_t *table, int nearer, int next)
{
    const __m512i pairs = _mm512_permutexvar_epi8(_mm512_load_si512(table), samples);
    return _mm512_maddubs_epi16(pairs, _mm512_set1_epi16((short)(nearer | next << 8)));
}

/* 2 ((sum + rounding) >> shift) - 256; even and odd pixels are rounded differently. */
INLINE512 __m512i twice(__m512i sum, int32_t even, int32_t odd, unsigned shift)
{
    const int32_t middle = 128 << shift;
    sum = _mm512_add_epi16(sum, in_turns(even - middle, odd - middle));
    return _mm512_and_si512(_mm512_srai_epi16(sum, shift - 1), _mm512_set1_epi16(-2));
}

/* Chroma of two groups, the first one's first pixel being i. */
INLINE512 void
chroma(const struct kernel_row *r, uint32_t i, enum sampling sampling, __m512i group[2])
{
    if (sampling == FULL) {
        const __m512i samples = both(r->cb + i, r->cr + i), middle = _mm512_set1_epi16(-256);
        group[0] = _mm512_add_epi16(weighed(samples, itself, 2, 0), middle);
        group[1] = _mm512_add_epi16(weighed(samples, itself_2, 2, 0), middle);
        return;
    }
    const ptrdiff_t c = (ptrdiff_t)(i / 2) - 1;
    const __m512i near = both(r->cb + c, r->cr + c);
    if (sampling == HALF_ACROSS) {
        group[0] = twice(weighed(near, between, 3, 1), 1, 2, 2);
        group[1] = twice(weighed(near, beside, 3, 1), 1, 2, 2);
        return;
    }
    const __m512i far = both(r->cb_far + c, r->cr_far + c);
    group[0] =
        twice(_mm512_add_epi16(weighed(near, between, 9, 3), weighed(far, between, 3, 1)), 8, 7, 4);
    group[1] =
        twice(_mm512_add_epi16(weighed(near, beside, 9, 3), weighed(far, beside, 3, 1)), 8, 7, 4);
}

/* ---- colour --------------------------------------------------------------------------------- */

/* Y of a group, twice as a word. */
INLINE512 __m512i luma_of(const uint8_t *y)
{
    const __m512i bytes = _mm512_broadcast_i32x4(load128(y));
    return _mm512_maskz_shuffle_epi8(0x5555555555555555u, bytes, _mm512_load_si512(luma));
}

/* The factors give for every value what 16 bits of fraction would. */
INLINE512 __m512i blue_red(__m512i y, __m512i twice_chroma)
{
    return _mm512_add_epi16(y, _mm512_mulhrs_epi16(twice_chroma, words(29033, 22971)));
}

/* In the upper halves: green less Y. */
INLINE512 __m512i green_part(__m512i twice_chroma)
{
    return _mm512_dpwssd_epi32(_mm512_set1_epi32(1 << 15), twice_chroma,
                               words(GREEN_CB / 2, GREEN_CR / 2));
}

/* The upper halves of both, in turns. */
INLINE512 __m512i upper(__m512i first, __m512i second)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(first, 16), second);
}

/* Bytes of two groups' blue and red, and words of their green. */
struct colours {
    __m512i blue_red, green;
};

INLINE512 struct colours colours(const struct kernel_row *r, uint32_t i, enum sampling sampling)
{
    const __m512i y0 = luma_of(r->y + i), y1 = luma_of(r->y + i + GROUP);
    __m512i c[2];
    chroma(r, i, sampling, c);
    return (struct colours){
        _mm512_packus_epi16(blue_red(y0, c[0]), blue_red(y1, c[1])),
        _mm512_add_epi16(_mm512_mask_blend_epi16(0xaaaaaaaau, y0, y1),
                         upper(green_part(c[0]), green_part(c[1]))),
    };
}

INLINE512 __m512i ordered(int k, __m512i bytes)
{
    return _mm512_permutexvar_epi8(_mm512_load_si512(order[k]), bytes);
}

INLINE512 __m512i merged(__m512i into, __mmask64 where, int k, __m512i bytes)
{
    return _mm512_mask_permutexvar_epi8(into, where, _mm512_load_si512(order[k]), bytes);
}

/* 64 pixels, of which `bytes` bytes are wanted; up to 63 more are written. */
INLINE512 void store(struct colours a, struct colours b, uint8_t *rgb, size_t bytes)
{
    const __m512i green = _mm512_packus_epi16(a.green, b.green);
    const __m512i middle = merged(ordered(1, a.blue_red), 0xffffffff00000000u, 1, b.blue_red);
    _mm512_storeu_si512(rgb, merged(ordered(0, a.blue_red), GREEN_0, 0, green));
    if (bytes > 64)
        _mm512_storeu_si512(rgb + 64, merged(middle, GREEN_1, 1, green));
    if (bytes > 128)
        _mm512_storeu_si512(rgb + 128, merged(ordered(2, b.blue_red), GREEN_2, 2, green));
}

INLINE512 void row(const struct kernel_row *r, enum sampling sampling)
{
    for (uint32_t i = 0; i < r->n; i += STEP)
        store(colours(r, i, sampling), colours(r, i + 2 * GROUP, sampling), r->rgb + 3 * (size_t)i,
              3 * (size_t)(r->n - i));
}

#define ENTRY(name) AVX512 void name##_avx512
#include "codec/jpeg/kernels/rows_entries.h"

#define GREY(k)   ((k) / 3)
#define GREY_1(k) GREY((k) + 64)
#define GREY_2(k) GREY((k) + 128)

AVX512 void row_grey_avx512(const struct kernel_row *r)
{
    static _Alignas(64) byte_table grey[3] = {TABLE(GREY), TABLE(GREY_1), TABLE(GREY_2)};
    for (uint32_t i = 0; i < r->n; i += STEP) {
        const __m512i y = _mm512_loadu_si512(r->y + i);
        for (uint32_t k = 0; k < 3 && 64 * k < 3 * (r->n - i); k++)
            _mm512_storeu_si512(r->rgb + 3 * (size_t)i + 64 * k,
                                _mm512_permutexvar_epi8(_mm512_load_si512(grey[k]), y));
    }
}
