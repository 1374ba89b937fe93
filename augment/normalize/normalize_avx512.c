/* augment/normalize/normalize_avx512.c - 16 pixels at a time. One byte permutation moves a
 * channel's bytes (or, in NHWC, the next 16 values) to the low ends of 16 lanes, mirrored as it
 * goes. Loads and stores are masked: what a mask leaves out is not touched, so a row may end at an
 * unmapped page and its last block may begin before the row. */
#include "augment/normalize/normalize.h"
#include "base/simd.h"

enum { BLOCK = 16 }; /* pixels */

struct lane {
    __m512i pick;
    __m512 mean, gain;
    __m512i shift;
};

#define LOOP INLINE512
#include "augment/normalize/normalize_rows.h"

INLINE512 struct lane load_lane(const struct normalize_job *j, uint32_t k)
{
    const __m128i from = load128(j->picks.wide + BLOCK * k);
    return (struct lane){
        .pick = _mm512_cvtepu8_epi32(from),
        .mean = _mm512_loadu_ps(j->lane_mean + BLOCK * k),
        .gain = _mm512_loadu_ps(j->lane_gain + BLOCK * k),
        .shift = _mm512_loadu_si512(j->lane_shift + BLOCK * k),
    };
}

/* First source column of the block that begins at column x of the slot; of a last, mirrored
 * block it is before the row. */
INLINE512 intptr_t source_column(const struct normalize_job *j, uint32_t x)
{
    return j->how.mirror ? (intptr_t)j->width - BLOCK - (intptr_t)x : (intptr_t)x;
}

/* n pixels: all 16, or what is left; the missing ones are the last of the slot's. */
INLINE512 __m512i load_pixels(const struct row *r, uint32_t x, uint32_t n, uint32_t channels)
{
    const uintptr_t at =
        (uintptr_t)r->src + (uintptr_t)(source_column(r->job, x) * (intptr_t)channels);
    __mmask64 mask = ~(__mmask64)0 >> (64 - n * channels);
    if (r->job->how.mirror)
        mask <<= (BLOCK - n) * channels;
    return _mm512_maskz_loadu_epi8(mask, (const void *)at);
}

INLINE512 __m512 image_mean(const struct row *r, uint32_t x, uint32_t n, uint32_t c)
{
    const uintptr_t at = (uintptr_t)(r->mean + c * r->plane) +
                         (uintptr_t)(source_column(r->job, x) * (intptr_t)sizeof(float));
    const __mmask16 mask = (__mmask16)(0xffffu >> (BLOCK - n));
    if (!r->job->how.mirror)
        return _mm512_maskz_loadu_ps(mask, (const void *)at);
    const __m512 reversed =
        _mm512_maskz_loadu_ps((__mmask16)(mask << (BLOCK - n)), (const void *)at);
    const __m512i order = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_ps(order, reversed);
}

INLINE512 __m256i upper_halves(__m512 value) /* sixteen of bfloat16, as the scalar rounds */
{
    const __m512i bits = _mm512_castps_si512(value), top = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    const __m512i all =
        _mm512_mask_or_epi32(_mm512_srli_epi32(up, 16), is_nan, top, _mm512_set1_epi32(0x40));
    return _mm512_cvtepi32_epi16(all);
}

INLINE512 void store(uint8_t *to, __m512i px, __m512 value, __m512i shift, __mmask16 mask,
                     enum imrec_dtype dtype, bool stream)
{
    if (dtype == IMREC_FLOAT32 && stream)
        _mm512_stream_ps((float *)(void *)to, value);
    else if (dtype == IMREC_FLOAT32)
        _mm512_mask_storeu_ps(to, mask, value);
    else if (dtype == IMREC_FLOAT16)
        _mm256_mask_storeu_epi16(to, mask, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    else if (dtype == IMREC_BFLOAT16)
        _mm256_mask_storeu_epi16(to, mask, upper_halves(value));
    else if (dtype == IMREC_INT8)
        _mm_mask_storeu_epi8(to, mask, _mm512_cvtsepi32_epi8(_mm512_sub_epi32(px, shift)));
    else
        _mm_mask_storeu_epi8(to, mask, _mm512_cvtepi32_epi8(px));
}

/* n pixels at column x of the slot. */
INLINE512 void block(const struct row *r, uint32_t x, uint32_t n, uint32_t channels,
                     enum imrec_dtype dtype, bool image, bool stream)
{
    const __m512i pixels = load_pixels(r, x, n, channels);
    for (uint32_t k = 0; k < channels; k++) {
        const struct lane *l = &r->lane[k];
        const __m512i px = _mm512_maskz_permutexvar_epi8(0x1111111111111111u, l->pick, pixels);
        const __m512 mean = image ? image_mean(r, x, n, k) : l->mean;
        const __m512 value = _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(px), mean), l->gain);
        uint32_t lanes = n;
        if (r->job->how.layout != IMREC_NCHW) /* of the n * channels values, those from 16 k on */
            lanes = n * channels <= BLOCK * k ? 0 : n * channels - BLOCK * k;
        const __mmask16 mask = (__mmask16)(lanes >= BLOCK ? 0xffffu : (1u << lanes) - 1);
        store(place_of(r, x, k, channels, dtype), px, value, l->shift, mask, dtype, stream);
    }
}

INLINE512 void blocks_of(const struct normalize_job *j, const uint8_t *src, uint32_t y,
                         uint32_t channels, enum imrec_dtype dtype, bool image, bool stream)
{
    struct row r;
    begin(&r, j, src, y, channels);
    uint32_t x = 0;
    for (; x + BLOCK <= j->width; x += BLOCK)
        block(&r, x, BLOCK, channels, dtype, image, stream);
    if (x < j->width)
        block(&r, x, j->width - x, channels, dtype, image, false);
}

INLINE512 void whole_row(const struct normalize_job *j, const uint8_t *src, uint32_t y,
                         uint32_t channels, enum imrec_dtype dtype, bool image)
{
    blocks_of(j, src, y, channels, dtype, image, false);
}

/* float32 around the caches, one plane after the other: longer runs of lines to memory take less
 * time than three lines here and there, even though the pixels are loaded again. */
INLINE512 void
streamed_planes(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels)
{
    const ptrdiff_t bytes = (ptrdiff_t)(BLOCK * channels), step = j->how.mirror ? -bytes : bytes;
    const uint8_t *begin = j->how.mirror ? src + (size_t)(j->width - BLOCK) * channels : src;
    const __mmask64 mask = ~(__mmask64)0 >> (64 - BLOCK * channels);
    float *out = (float *)j->out + normalize_slot_row(j, y) * j->width;
    for (uint32_t k = 0; k < channels; k++, out += (size_t)j->width * j->height) {
        const struct lane l = load_lane(j, k);
        for (ptrdiff_t b = 0; b < (ptrdiff_t)(j->width / BLOCK); b++) {
            const __m512i pixels = _mm512_maskz_loadu_epi8(mask, begin + b * step);
            const __m512i px = _mm512_maskz_permutexvar_epi8(0x1111111111111111u, l.pick, pixels);
            const __m512 value = _mm512_sub_ps(_mm512_cvtepi32_ps(px), l.mean);
            _mm512_stream_ps(out + b * BLOCK, _mm512_mul_ps(value, l.gain));
        }
    }
}

INLINE512 void
streamed_row(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels)
{
    if (j->how.layout == IMREC_NCHW)
        streamed_planes(j, src, y, channels);
    else
        blocks_of(j, src, y, channels, IMREC_FLOAT32, false, true);
}

AVX512 void normalize_row_avx512(const struct normalize_job *job, const uint8_t *src, uint32_t y)
{
    if (job->how.mean_image != NULL && !normalize_image_is_fast(job))
        normalize_row_scalar(job, src, y);
    else
        by_channels(job, src, y);
}
