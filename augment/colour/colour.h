/* augment/colour/colour.h - the colours of an image, in place: bytes by tables, saturation, shifts
 * in 8-bit HLS. The arithmetic is that of OpenCV 3.4 and of MXNet's default augmenter
 * (docs/guide/augmentation.md). Kernels have SIMD variants in augment/colour/colour_kernels.h,
 * equal bit for bit. The fourth channel is never touched. */
#ifndef IMREC_AUGMENT_COLOUR_COLOUR_H
#define IMREC_AUGMENT_COLOUR_COLOUR_H

#include "base/cpu.h"
#include "imrec/image.h"

/* By which weights a colour becomes grey: (r R + g G + b B + half) >> bits. */
struct grey_weights {
    int32_t r, g, b;
    int bits;
};
/* Those of RGB2GRAY, on colours whose order is BGR: MXNet's. */
extern const struct grey_weights grey_of_original;
/* Those of Pillow, and of ITU-R 601. */
extern const struct grey_weights grey_of_pillow;

static inline uint32_t grey_of(const struct grey_weights *w, const uint8_t *px)
{
    return (uint32_t)(w->r * px[0] + w->g * px[1] + w->b * px[2] + (1 << w->bits >> 1)) >> w->bits;
}

/* Kernels of a row of n pixels; of three channels or four, colour_map also of one. */
typedef void colour_map_fn(uint8_t *px, uint32_t n, uint32_t channels, const uint8_t map[3][256]);
typedef uint64_t
grey_sum_fn(const struct grey_weights *w, const uint8_t *px, uint32_t n, uint32_t channels);
/* value * factor + grey * (1 - factor), float32, rounded to even. */
typedef void saturation_fn(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n,
                           uint32_t channels);
/* To HLS bytes (H 0..180), plus shift[] of h, l, s, clamped, and back. */
typedef void hls_shift_fn(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels);
/* Turns hues by `turn` sixths of the circle (0 <= turn < 6), in HSV. */
typedef void hue_turn_fn(float turn, uint8_t *px, uint32_t n, uint32_t channels);

colour_map_fn colour_map_scalar, colour_map_avx512;
grey_sum_fn grey_sum_scalar, grey_sum_avx2, grey_sum_neon, grey_sum_avx512;
saturation_fn saturation_scalar, saturation_avx2, saturation_neon, saturation_avx512;
hls_shift_fn hls_shift_scalar, hls_shift_avx2, hls_shift_neon, hls_shift_avx512;
hue_turn_fn hue_turn_scalar, hue_turn_avx2, hue_turn_neon;

/* ---- on whole images ---------------------------------------------------------------------- */

void colour_brightness(const struct imrec_image *p, float factor, enum cpu_level level);
void colour_contrast(const struct imrec_image *p, const struct grey_weights *w, float factor,
                     enum cpu_level level);
void colour_saturation(const struct imrec_image *p, const struct grey_weights *w, float factor,
                       enum cpu_level level);
/* Every value by its channel's table; one channel: the first. */
void colour_tables(const struct imrec_image *p, const uint8_t map[3][256], enum cpu_level level);
void colour_hls(const struct imrec_image *p, int32_t h, int32_t l, int32_t s, enum cpu_level level);
void colour_grey(const struct imrec_image *p, enum cpu_level level);
void colour_hue(const struct imrec_image *p, float turns, enum cpu_level level);
/* Adds a number to each of red, green and blue, and truncates. */
void colour_light(const struct imrec_image *p, const float add[3], enum cpu_level level);
#endif
