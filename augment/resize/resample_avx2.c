/* augment/resize/resample_avx2.c - the packer's resampling on AVX2: two taps a multiply-add, and
 * two rows in the halves of a vector. Pillow's: the channels of a pixel at once along the rows,
 * eight bytes at once across them; in integers, so the order of the sums does not count. */
#include "augment/resize/pillow.h"
#include "augment/resize/resample_passes.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

INLINE2 __m256i pair_of(const int16_t *weights) /* again and again */
{
    return _mm256_set1_epi32(two_weights(weights));
}

/* ---- along the rows: a pixel of both a step, four taps at once ---------------------------- */

/* Four values of both rows, side by side. With three channels the last is written over. */
INLINE2 __m128i pixel(const int16_t *weights, uint32_t taps, const uint8_t *const px[2],
                      uint32_t channels, __m256i first, __m256i last)
{
    __m256i sum = _mm256_set1_epi32(1 << (RESAMPLE_X_SHIFT - 1)), more = _mm256_setzero_si256();
    for (uint32_t k = 0; k < taps; k += RESAMPLE_GROUP) {
        const size_t at = (size_t)k * channels;
        const __m256i v = load_halves(px[0] + at, px[1] + at);
        const __m256i a = _mm256_madd_epi16(_mm256_shuffle_epi8(v, first), pair_of(weights + k));
        const __m256i b = _mm256_madd_epi16(_mm256_shuffle_epi8(v, last), pair_of(weights + k + 2));
        sum = _mm256_add_epi32(sum, a);
        more = _mm256_add_epi32(more, b);
    }
    sum = _mm256_add_epi32(sum, more);
    const __m128i top = _mm_srli_epi32(_mm256_castsi256_si128(sum), RESAMPLE_X_SHIFT);
    const __m128i low = _mm_slli_epi32(_mm256_extracti128_si256(sum, 1), 16 - RESAMPLE_X_SHIFT);
    return _mm_blend_epi16(top, low, 0xaa);
}

INLINE2 void pixels(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out,
                    uint32_t channels, uint32_t taps)
{
    const __m256i first = load_twice(channels == 3 ? first3 : first4);
    const __m256i last = load_twice(channels == 3 ? last3 : last4);
    for (uint32_t at = 0; at < a->to; at++, out += 2 * channels) {
        const size_t byte = (size_t)a->first[at] * channels;
        const uint8_t *const px[2] = {rows[0] + byte, rows[1] + byte};
        const __m128i v = pixel(a->weights + (size_t)at * a->taps, taps, px, channels, first, last);
        store128(out, v);
    }
}

/* The usual numbers of taps have loops of their own. */
INLINE2 void by_taps(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out,
                     uint32_t channels)
{
    if (a->taps == 4)
        pixels(a, rows, out, channels, 4);
    else if (a->taps == 8)
        pixels(a, rows, out, channels, 8);
    else
        pixels(a, rows, out, channels, a->taps);
}

AVX2 void resample_x_avx2(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out)
{
    if (a->channels == 3)
        by_taps(a, rows, out, 3);
    else if (a->channels == 4)
        by_taps(a, rows, out, 4);
    else
        resample_x_scalar(a, rows, out);
}

/* ---- across the rows: 32 values a step ---------------------------------------------------- */

INLINE2 __m256i add_pair(__m256i sum, const int16_t *v, __m256i weights)
{
    const __m256i values = _mm256_load_si256((const __m256i *)(const void *)v);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(values, weights));
}

typedef __m256i ints;
#define LOOP         INLINE2
#define V(operation) _mm256_##operation
#include "augment/resize/resample_rows.h"

INLINE2 __m256i thirtytwo(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                          size_t x)
{
    return _mm256_permutevar8x32_epi32(values_at(rows, weights, pairs, x),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

AVX2 void resample_y_avx2(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                          size_t n, uint8_t *out)
{
    size_t x = 0;
    for (; x + 32 <= n; x += 32)
        store256(out + x, thirtytwo(rows, weights, pairs, x));
    if (x < n) { /* as if there were as many */
        uint8_t last[32];
        store256(last, thirtytwo(rows, weights, pairs, x));
        memcpy(out + x, last, n - x);
    }
}

/* ---- Pillow's ----------------------------------------------------------------------------- */

INLINE2 __m128i four_bytes(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(v));
}

AVX2 void
pillow_x_avx2(const struct pillow_axis *a, const uint8_t *row, uint32_t channels, uint8_t *out)
{
    if (channels == 1) {
        pillow_x_scalar(a, row, channels, out);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t *w = a->weights + (size_t)i * a->taps;
        const uint8_t *px = row + (size_t)(a->first[i] - a->first[0]) * channels;
        __m128i sum = _mm_set1_epi32(1 << (PILLOW_BITS - 1));
        for (int32_t k = 0; k < a->used[i]; k++, px += channels)
            sum = _mm_add_epi32(sum, _mm_mullo_epi32(four_bytes(px), _mm_set1_epi32(w[k])));
        const __m128i words = _mm_packs_epi32(_mm_srai_epi32(sum, PILLOW_BITS), sum);
        const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
        memcpy(out, &bytes, sizeof(bytes));
        out += channels;
    }
}

AVX2 void pillow_y_avx2(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                        size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i sum = _mm256_set1_epi32(1 << (PILLOW_BITS - 1));
        for (uint32_t k = 0; k < used; k++) {
            const __m256i px = _mm256_cvtepu8_epi32(load64(rows + k * stride + i));
            sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(px, _mm256_set1_epi32(weights[k])));
        }
        sum = _mm256_srai_epi32(sum, PILLOW_BITS);
        const __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        store64(out + i, _mm_packus_epi16(words, words));
    }
    pillow_y_scalar(rows + i, stride, weights, used, n - i, out + i);
}
