/* augment/resize/resize_avx2.c - the inner loops of the resizes on AVX2. What no vector fills goes
 * to the scalar loops. */
#include "augment/resize/resize_passes.h"
#include "augment/resize/tap_bytes.h"
#include "base/simd.h"

/* ---- bilinear, along the rows ------------------------------------------------------------- */

/* Two pixels of 3 values and a gap each -> 6 values. */
static const int8_t close_words[16] = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1};

/* Pixels a and b: their sums of two taps, 4 x int32 each. */
INLINE2 __m256i two_pixels(const struct linear_table *t, const uint8_t *row, uint32_t a, uint32_t b,
                           __m256i pairs)
{
    const __m128i pa = load64(row + t->first[a]);
    const __m128i pb = load64(row + t->first[b]);
    const __m256i px = _mm256_shuffle_epi8(_mm256_set_m128i(pb, pa), pairs);
    const __m256i w =
        _mm256_set_m128i(_mm_set1_epi32((int)t->weights[b]), _mm_set1_epi32((int)t->weights[a]));
    return _mm256_srai_epi32(_mm256_madd_epi16(px, w), 4);
}

/* Four pixels a step; with three channels each store writes 2 values over the next ones. */
INLINE2 uint32_t linear_x_pixels(const struct linear_table *t, const uint8_t *row, int16_t *out,
                                 uint32_t channels)
{
    const __m256i pairs = load_twice(channels == 3 ? first3 : first4);
    const __m256i close = load_twice(close_words);
    uint32_t i = 0;
    for (; i + 4 <= t->vector; i += 4, out += 4 * channels) {
        __m256i v = _mm256_packs_epi32(two_pixels(t, row, i, i + 2, pairs),
                                       two_pixels(t, row, i + 1, i + 3, pairs));
        if (channels == 3)
            v = _mm256_shuffle_epi8(v, close);
        store_halves(out, out + 2 * channels, v);
    }
    return i;
}

INLINE2 __m256i eight_grey(const struct linear_table *t, const uint8_t *row, uint32_t i,
                           __m256i pairs)
{
    const __m256i at = load256(t->first + i);
    const __m256i w = load256(t->weights + i);
    const __m256i px = _mm256_i32gather_epi32((const int *)(const void *)row, at, 1);
    return _mm256_srai_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(px, pairs), w), 4);
}

INLINE2 uint32_t linear_x_grey(const struct linear_table *t, const uint8_t *row, int16_t *out)
{
    const __m256i pairs = load_twice(pairs1);
    uint32_t i = 0;
    for (; i + 8 <= t->vector; i += 8) {
        const __m256i v = eight_grey(t, row, i, pairs);
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(v, v), 0x08);
        store128(out + i, _mm256_castsi256_si128(packed));
    }
    return i;
}

AVX2 void linear_x_avx2(const struct linear_table *t, const uint8_t *row, int16_t *out)
{
    uint32_t done;
    if (t->channels == 3)
        done = linear_x_pixels(t, row, out, 3);
    else if (t->channels == 4)
        done = linear_x_pixels(t, row, out, 4);
    else
        done = linear_x_grey(t, row, out);
    const struct linear_table rest = {
        t->first + done, t->second + done, t->weights + done, t->count - done, 0, t->channels, {0}};
    linear_x_scalar(&rest, row, out + (size_t)done * t->channels);
}

/* ---- bilinear, across the rows ------------------------------------------------------------ */

INLINE2 __m256i blend16(const int16_t *t0, const int16_t *t1, __m256i b0, __m256i b1)
{
    const __m256i v0 = load256(t0);
    const __m256i v1 = load256(t1);
    const __m256i sum = _mm256_add_epi16(_mm256_mulhi_epi16(v0, b0), _mm256_mulhi_epi16(v1, b1));
    return _mm256_srai_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

AVX2 void
linear_y_avx2(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1, uint8_t *out, size_t n)
{
    const __m256i w0 = _mm256_set1_epi16(b0), w1 = _mm256_set1_epi16(b1);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i bytes = _mm256_packus_epi16(blend16(t0 + i, t1 + i, w0, w1),
                                                  blend16(t0 + i + 16, t1 + i + 16, w0, w1));
        store256(out + i, _mm256_permute4x64_epi64(bytes, 0xd8));
    }
    linear_y_scalar(t0 + i, t1 + i, b0, b1, out + i, n - i);
}

/* ---- area --------------------------------------------------------------------------------- */

/* All channels of a pixel in one vector; with three, the fourth lane is the next pixel's and is
 * written over. Lanes do not mix, so every sum has the scalar's order. */
INLINE2 uint32_t area_x_pixels(const struct area_table *t, const uint8_t *row, float *out,
                               uint32_t channels)
{
    for (uint32_t i = 0; i < t->vector; i++, out += channels) {
        const uint8_t *px = row + t->first[i];
        __m128 sum = _mm_setzero_ps();
        for (uint32_t k = t->begin[i]; k < t->begin[i + 1]; k++, px += channels) {
            const __m128i bytes = _mm_loadu_si32(px);
            const __m128 value = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(bytes));
            sum = _mm_add_ps(sum, _mm_mul_ps(value, _mm_set1_ps(t->weights[k])));
        }
        _mm_storeu_ps(out, sum);
    }
    return t->vector;
}

AVX2 void area_x_avx2(const struct area_table *t, const uint8_t *row, float *out)
{
    uint32_t done = 0;
    if (t->channels == 3)
        done = area_x_pixels(t, row, out, 3);
    else if (t->channels == 4)
        done = area_x_pixels(t, row, out, 4);
    const struct area_table rest = {
        t->first + done, t->begin + done, t->weights, t->count - done, 0, t->channels, {0}};
    area_x_scalar(&rest, row, out + (size_t)done * t->channels);
}

typedef __m256 reals;
#define ENTRY(name)  AVX2 void name##_avx2
#define V(operation) _mm256_##operation
#include "augment/resize/area_rows.h"

AVX2 void area_round_avx2(const float *sum, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i a = _mm256_cvtps_epi32(_mm256_loadu_ps(sum + i));
        const __m256i b = _mm256_cvtps_epi32(_mm256_loadu_ps(sum + i + 8));
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
        const __m128i bytes = bytes_of_words(words);
        store128(out + i, bytes);
    }
    area_round_scalar(sum + i, out + i, n - i);
}

/* ---- 2 x 2 -------------------------------------------------------------------------------- */

/* Bytes of two neighbours side by side, for two pixels of the result. */
static const int8_t half3[16] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1};
static const int8_t half4[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
static const int8_t half1[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

INLINE2 __m128i sums_of_pairs(const uint8_t *row, __m128i pairs)
{
    const __m128i px = load128(row);
    return _mm_maddubs_epi16(_mm_shuffle_epi8(px, pairs), _mm_set1_epi8(1));
}

AVX2 void
half_avx2(const uint8_t *row0, const uint8_t *row1, uint8_t *out, uint32_t width, uint32_t channels)
{
    const __m128i pairs = load128(channels == 3 ? half3 : channels == 4 ? half4 : half1);
    const uint32_t step = channels == 1 ? 8 : 2; /* pixels of the result */
    uint32_t x = 0;
    /* 16 bytes are loaded and 8 stored, of which three channels use 12 and 6. */
    for (; x + step + (channels == 3) <= width; x += step) {
        const size_t at = (size_t)x * channels;
        const __m128i sum =
            _mm_add_epi16(sums_of_pairs(row0 + 2 * at, pairs), sums_of_pairs(row1 + 2 * at, pairs));
        const __m128i mean = _mm_srli_epi16(_mm_add_epi16(sum, _mm_set1_epi16(2)), 2);
        store64(out + at, _mm_packus_epi16(mean, mean));
    }
    const size_t at = (size_t)x * channels;
    half_scalar(row0 + 2 * at, row1 + 2 * at, out + at, width - x, channels);
}
