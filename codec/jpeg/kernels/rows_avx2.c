/* codec/jpeg/kernels/rows_avx2.c - 64 pixels at a time, as four sets of 16 words: set k has every
 * fourth pixel from pixel k on. Chroma, which is halved, so comes out of plain loads: a word of two
 * neighbours, weighed, is one of them for one set. Only the bytes at the end need moving. */
#include "base/simd.h"
#include "codec/jpeg/kernels/byte_tables.h"
#include "codec/jpeg/kernels/variants.h"

#include <string.h>

enum { STEP = 64 };

/* ---- samples to sets ------------------------------------------------------------------------ */

/* Set k of 64 bytes. */
INLINE2 __m256i every_fourth(const uint8_t *p, int k)
{
    const __m256i byte = _mm256_set1_epi32(255);
    const __m256i a = _mm256_srli_epi32(load_halves(p, p + 32), 8 * k);
    const __m256i b = _mm256_srli_epi32(load_halves(p + 16, p + 48), 8 * k);
    return _mm256_packus_epi32(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte));
}

/* For set k: sums of the nearer sample, 3 `times`, and the next one, `times`. p: the first pixel's
 * sample. */
INLINE2 __m256i weighed(const uint8_t *p, int k, int times)
{
    static const int from[4] = {-1, 0, 0, 1}; /* the first of the pair */
    const int first = k % 2 == 0 ? times : 3 * times, second = k % 2 == 0 ? 3 * times : times;
    return _mm256_maddubs_epi16(load256(p + from[k]),
                                _mm256_set1_epi16((short)(first | second << 8)));
}

INLINE2 __m256i doubled(__m256i v)
{
    return _mm256_add_epi16(_mm256_add_epi16(v, v), _mm256_set1_epi16(-256));
}

/* 2 ((sum + rounding) >> shift) - 256 */
INLINE2 __m256i twice(__m256i sum, int rounding, int shift)
{
    sum = _mm256_add_epi16(sum, _mm256_set1_epi16((short)(rounding - (128 << shift))));
    return _mm256_and_si256(_mm256_srai_epi16(sum, shift - 1), _mm256_set1_epi16(-2));
}

/* Set k of 2 (chroma - 128); i: of the row's pixels. */
INLINE2 __m256i chroma(const uint8_t *near, const uint8_t *far, uint32_t i, int k,
                       enum sampling sampling)
{
    const int odd = k % 2;
    if (sampling == FULL)
        return doubled(every_fourth(near + i, k));
    if (sampling == HALF_ACROSS)
        return twice(weighed(near + i / 2, k, 1), 1 + odd, 2);
    return twice(_mm256_add_epi16(weighed(near + i / 2, k, 3), weighed(far + i / 2, k, 1)), 8 - odd,
                 4);
}

/* ---- colour --------------------------------------------------------------------------------- */

/* The factors give for every value what 16 bits of fraction would. */
INLINE2 __m256i blue(__m256i y, __m256i cb)
{
    return _mm256_add_epi16(y, _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(29033)));
}

INLINE2 __m256i red(__m256i y, __m256i cr)
{
    return _mm256_add_epi16(y, _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(22971)));
}

INLINE2 __m256i green_part(__m256i pairs)
{
    const __m256i factors = _mm256_set1_epi32(
        (int32_t)((uint32_t)(uint16_t)(GREEN_CB / 2) | (uint32_t)(GREEN_CR / 2) << 16));
    const __m256i sum =
        _mm256_add_epi32(_mm256_madd_epi16(pairs, factors), _mm256_set1_epi32(1 << 15));
    return _mm256_srai_epi32(sum, 16);
}

INLINE2 __m256i green(__m256i y, __m256i cb, __m256i cr)
{
    return _mm256_add_epi16(y, _mm256_packs_epi32(green_part(_mm256_unpacklo_epi16(cb, cr)),
                                                  green_part(_mm256_unpackhi_epi16(cb, cr))));
}

/* ---- sets to pixels ------------------------------------------------------------------------- */

/* 16 pixels, in three registers of their colours, are 48 bytes of RGB. A colour's 16 bytes have
 * 16 different places modulo 16 there, so one order serves all three parts. Pixel p of 16 comes
 * as byte p % 4 * 4 + p / 4. */
#define PIXEL_AT(k, c) (((k) + ((c) - (k) % 3 + 3) % 3 * 16) / 3) /* of place k modulo 16 */
#define FROM(p)        ((p) % 4 * 4 + (p) / 4)
#define RED(k)         FROM(PIXEL_AT(k, 0))
#define GREEN(k)       FROM(PIXEL_AT(k, 1))
#define BLUE(k)        FROM(PIXEL_AT(k, 2))
#define IS_0(k)        ((k) % 3 == 0 ? 255 : 0)
#define IS_1(k)        ((k) % 3 == 1 ? 255 : 0)
#define IS_2(k)        ((k) % 3 == 2 ? 255 : 0)

static _Alignas(16) const uint8_t places[3][16] = {
    {SIXTEEN(RED, 0)}, {SIXTEEN(GREEN, 0)}, {SIXTEEN(BLUE, 0)}};
static _Alignas(16) const uint8_t third[3][16] = {
    {SIXTEEN(IS_0, 0)}, {SIXTEEN(IS_1, 0)}, {SIXTEEN(IS_2, 0)}};

INLINE2 __m256i table(const uint8_t *sixteen)
{
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)sixteen));
}

/* A colour's four sets as bytes: [0] has pixels 0-15 and 32-47, [1] the others. */
INLINE2 void to_bytes(const __m256i set[4], int colour, __m256i bytes[2])
{
    const __m256 a = _mm256_castsi256_ps(_mm256_packus_epi16(set[0], set[1]));
    const __m256 b = _mm256_castsi256_ps(_mm256_packus_epi16(set[2], set[3]));
    const __m256i order = table(places[colour]);
    bytes[0] = _mm256_shuffle_epi8(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), order);
    bytes[1] = _mm256_shuffle_epi8(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), order);
}

/* Part k of three of twice 16 pixels, 96 bytes apart. */
INLINE2 void store_part(uint8_t *rgb, int k, __m256i r, __m256i g, __m256i b)
{
    const __m256i is_green = table(third[(4 - k) % 3]), is_blue = table(third[(5 - k) % 3]);
    const __m256i v = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, is_green), b, is_blue);
    store_halves(rgb + 16 * k, rgb + 96 + 16 * k, v);
}

INLINE2 void store_half(uint8_t *rgb, __m256i r, __m256i g, __m256i b)
{
    store_part(rgb, 0, r, g, b);
    store_part(rgb, 1, r, g, b);
    store_part(rgb, 2, r, g, b);
}

INLINE2 void store(uint8_t *rgb, __m256i set[3][4])
{
    __m256i r[2], g[2], b[2];
    to_bytes(set[0], 0, r);
    to_bytes(set[1], 1, g);
    to_bytes(set[2], 2, b);
    store_half(rgb, r[0], g[0], b[0]);
    store_half(rgb + 48, r[1], g[1], b[1]);
}

INLINE2 void
set_of(const struct kernel_row *r, uint32_t i, int k, enum sampling sampling, __m256i set[3][4])
{
    const __m256i y = every_fourth(r->y + i, k);
    const __m256i cb = chroma(r->cb, r->cb_far, i, k, sampling);
    const __m256i cr = chroma(r->cr, r->cr_far, i, k, sampling);
    set[0][k] = red(y, cr);
    set[1][k] = green(y, cb, cr);
    set[2][k] = blue(y, cb);
}

/* Written out, not as a loop: k must be a constant. */
INLINE2 void pixels(const struct kernel_row *r, uint32_t i, uint8_t *rgb, enum sampling sampling)
{
    __m256i set[3][4];
    set_of(r, i, 0, sampling, set);
    set_of(r, i, 1, sampling, set);
    set_of(r, i, 2, sampling, set);
    set_of(r, i, 3, sampling, set);
    store(rgb, set);
}

INLINE2 void row(const struct kernel_row *r, enum sampling sampling)
{
    uint8_t end[3 * STEP];
    uint32_t i = 0;
    for (; i + STEP <= r->n; i += STEP)
        pixels(r, i, r->rgb + 3 * (size_t)i, sampling);
    if (i < r->n) {
        pixels(r, i, end, sampling);
        memcpy(r->rgb + 3 * (size_t)i, end, 3 * (size_t)(r->n - i));
    }
}

#define ENTRY(name) AVX2 void name##_avx2
#include "codec/jpeg/kernels/rows_entries.h"

#define THIRD_0(k) ((k) / 3)
#define THIRD_1(k) (((k) + 16) / 3)
#define THIRD_2(k) (((k) + 32) / 3)

/* 16 pixels at a time: the last ones may write 45 bytes beyond the row. */
AVX2 void row_grey_avx2(const struct kernel_row *r)
{
    static _Alignas(16) const uint8_t from[3][16] = {
        {SIXTEEN(THIRD_0, 0)}, {SIXTEEN(THIRD_1, 0)}, {SIXTEEN(THIRD_2, 0)}};
    for (uint32_t i = 0; i < r->n; i += 16) {
        const __m128i y = load128(r->y + i);
        uint8_t *rgb = r->rgb + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            store128(rgb + 16 * k,
                     _mm_shuffle_epi8(y, _mm_load_si128((const __m128i *)(const void *)from[k])));
    }
}
