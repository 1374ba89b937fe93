/* augment/colour/blur.h - a Gaussian, and sharpness: neighbours weighed, in integers. */
#ifndef IMREC_AUGMENT_COLOUR_BLUR_H
#define IMREC_AUGMENT_COLOUR_BLUR_H

#include "augment/resize/resize.h"
#include "base/cpu.h"

/* Away from the mean of 3 x 3 (factor above 1), or towards it; the outermost pixels stay. */
IMREC_NODISCARD enum imrec_status sharpen(const struct imrec_image *p, float factor,
                                          struct resize_scratch *scratch, enum cpu_level level,
                                          struct imrec_error *err);

/* A Gaussian of that deviation (px), cut off at three of them; borders are reflected. */
IMREC_NODISCARD enum imrec_status blur(const struct imrec_image *p, float sigma,
                                       struct resize_scratch *scratch, enum cpu_level level,
                                       struct imrec_error *err);

/* ---- inside: kernels ---------------------------------------------------------------------- */

enum { BLUR_BITS = 6 }; /* after the point of a value of 16 bits */

/* out = 3 x 3 means in which the middle counts five times, each value of its own channel; n values
 * that have neighbours `step` values to the left and right, in the rows above, here and below. */
typedef void smooth_fn(const uint8_t *const rows[3], uint32_t step, uint8_t *out, size_t n);
smooth_fn smooth_scalar, smooth_avx2, smooth_neon;

/* Sums over pairs of rows (or of shifted places of one row) of 16 bits by weights of 14 bits:
 * (sum + half) >> shift, of n values. */
typedef void blur_fn(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                     uint32_t shift, int16_t *out, size_t n);
blur_fn blur_scalar, blur_avx2, blur_avx512, blur_neon;

/* Bytes to 16 bits with BLUR_BITS after the point, and back, to the nearest; n values. */
typedef void widen_fn(const uint8_t *from, int16_t *to, size_t n);
typedef void narrow_fn(const int16_t *from, uint8_t *to, size_t n);
widen_fn widen_scalar, widen_avx2, widen_neon;
narrow_fn narrow_scalar, narrow_avx2, narrow_neon;

/* a = b + factor * (a - b), float32, truncated, saturated; n values. */
typedef void mix_fn(float factor, uint8_t *a, const uint8_t *b, size_t n);
mix_fn mix_scalar, mix_avx2, mix_neon;
#endif
