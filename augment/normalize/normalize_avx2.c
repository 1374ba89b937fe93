/* augment/normalize/normalize_avx2.c - 8 pixels at a time: two windows of 16 bytes, one shuffle of
 * each, so that a channel's 8 bytes (or, in NHWC, the next 8 values) come together, mirrored as
 * they go. What is left of a row is done by a block that overlaps the last one; rows under 8 pixels
 * are the scalar's. */
#include "augment/normalize/normalize.h"
#include "base/simd.h"

enum { BLOCK = 8 }; /* pixels */

struct lane {
    __m128i first, second;
    __m256 mean, gain;
    __m256i shift;
};

#define LOOP INLINE2
#include "augment/normalize/normalize_rows.h"

INLINE2 struct lane load_lane(const struct normalize_job *j, uint32_t k)
{
    const uint32_t at = j->how.layout == IMREC_NCHW ? 16 * k : BLOCK * k;
    return (struct lane){
        .first = load64(j->picks.first + at),
        .second = load64(j->picks.second + at),
        .mean = _mm256_loadu_ps(j->lane_mean + at),
        .gain = _mm256_loadu_ps(j->lane_gain + at),
        .shift = load256(j->lane_shift + at),
    };
}

INLINE2 uint32_t source_column(const struct normalize_job *j, uint32_t x)
{
    return j->how.mirror ? j->width - BLOCK - x : x;
}

INLINE2 __m256 image_mean(const struct row *r, uint32_t x, uint32_t c)
{
    const __m256 mean = _mm256_loadu_ps(r->mean + c * r->plane + source_column(r->job, x));
    const __m256i order = _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return r->job->how.mirror ? _mm256_permutevar8x32_ps(mean, order) : mean;
}

INLINE2 __m128i saturated(__m256i v) /* eight int32 -> int8, in the low half */
{
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_packs_epi16(words, words);
}

INLINE2 __m128i upper_halves(__m256 value) /* eight of bfloat16, as the scalar rounds */
{
    const __m256i bits = _mm256_castps_si256(value), top = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7fff));
    const __m256i nan = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i all = _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), nan, is_nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

INLINE2 void store(uint8_t *to, __m128i bytes, __m256i px, __m256 value, __m256i shift,
                   enum imrec_dtype dtype, bool stream)
{
    if (dtype == IMREC_FLOAT32 && stream)
        _mm256_stream_ps((float *)(void *)to, value);
    else if (dtype == IMREC_FLOAT32)
        _mm256_storeu_ps((float *)(void *)to, value);
    else if (dtype == IMREC_FLOAT16)
        store128(to, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    else if (dtype == IMREC_BFLOAT16)
        store128(to, upper_halves(value));
    else if (dtype == IMREC_INT8)
        store64(to, saturated(_mm256_sub_epi32(px, shift)));
    else
        store64(to, bytes);
}

/* The bytes of eight pixels of the source. */
struct eight {
    __m128i first, second;
};

INLINE2 struct eight load_pixels(const struct row *r, uint32_t x, uint32_t channels)
{
    const uint8_t *p = r->src + (size_t)source_column(r->job, x) * channels;
    struct eight e;
    if (channels == 1)
        return e.first = e.second = load64(p), e;
    e.first = load128(p);
    p += normalize_second_window(channels);
    e.second = load128(p);
    return e;
}

/* Values k of the eight pixels at column x of the slot. */
INLINE2 void values(const struct row *r, struct eight e, uint32_t x, uint32_t k, uint32_t channels,
                    enum imrec_dtype dtype, bool image, bool stream)
{
    const struct lane *l = &r->lane[k];
    __m128i bytes = _mm_shuffle_epi8(e.first, l->first);
    if (channels != 1)
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(e.second, l->second));
    const __m256i px = _mm256_cvtepu8_epi32(bytes);
    const __m256 mean = image ? image_mean(r, x, k) : l->mean;
    const __m256 value = _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(px), mean), l->gain);
    store(place_of(r, x, k, channels, dtype), bytes, px, value, l->shift, dtype, stream);
}

INLINE2 void
block(const struct row *r, uint32_t x, uint32_t channels, enum imrec_dtype dtype, bool image)
{
    const struct eight e = load_pixels(r, x, channels);
    for (uint32_t k = 0; k < channels; k++)
        values(r, e, x, k, channels, dtype, image, false);
}

INLINE2 void whole_row(const struct normalize_job *j, const uint8_t *src, uint32_t y,
                       uint32_t channels, enum imrec_dtype dtype, bool image)
{
    struct row r;
    begin(&r, j, src, y, channels);
    uint32_t x = 0;
    for (; x + BLOCK <= j->width; x += BLOCK)
        block(&r, x, channels, dtype, image);
    if (x < j->width)
        block(&r, j->width - BLOCK, channels, dtype, image);
}

/* float32 planes around the caches: both halves of a cache line at once, or half-filled lines
 * go to memory (more than twice the time). */
INLINE2 void
streamed_row(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels)
{
    struct row r;
    begin(&r, j, src, y, channels);
    for (uint32_t x = 0; x < j->width; x += 2 * BLOCK) {
        const struct eight left = load_pixels(&r, x, channels);
        const struct eight right = load_pixels(&r, x + BLOCK, channels);
        for (uint32_t k = 0; k < channels; k++) {
            values(&r, left, x, k, channels, IMREC_FLOAT32, false, true);
            values(&r, right, x + BLOCK, k, channels, IMREC_FLOAT32, false, true);
        }
    }
}

AVX2 void normalize_row_avx2(const struct normalize_job *job, const uint8_t *src, uint32_t y)
{
    if (job->width < BLOCK || (job->how.mean_image != NULL && !normalize_image_is_fast(job)))
        normalize_row_scalar(job, src, y);
    else
        by_channels(job, src, y);
}
