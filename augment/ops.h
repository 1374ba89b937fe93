/* augment/ops.h - operations of RandAugment and TrivialAugment, blur and the hue, on the crop. */
#ifndef IMREC_AUGMENT_OPS_H
#define IMREC_AUGMENT_OPS_H

#include "augment/colour.h"
#include "augment/path.h"
#include "augment/resize.h"

/* ---- kernels (augment/kernels.h) ---------------------------------------------------------------
 */

/* Turns hues by `turn` sixths of the circle (0 <= turn < 6), in HSV: of three channels or four. */
typedef void hue_turn_fn(float turn, uint8_t *px, uint32_t n, uint32_t channels);
hue_turn_fn hue_turn_scalar, hue_turn_avx2;

/* out = 3 x 3 means in which the middle counts five times, each value of its own channel; n values
 * that have neighbours `step` values to the left and right, in the rows above, here and below. */
typedef void smooth_fn(const uint8_t *const rows[3], uint32_t step, uint8_t *out, size_t n);
smooth_fn smooth_scalar, smooth_avx2;

/* Sums over pairs of rows (or of shifted places of one row) of 16 bits by weights of 14 bits:
 * (sum + half) >> shift, of n values. */
typedef void blur_fn(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                     uint32_t shift, int16_t *out, size_t n);
blur_fn blur_scalar, blur_avx2, blur_avx512;

/* Bytes to 16 bits with 6 behind the point, and back, to the nearest; n values. */
typedef void widen_fn(const uint8_t *from, int16_t *to, size_t n);
typedef void narrow_fn(const int16_t *from, uint8_t *to, size_t n);
widen_fn widen_scalar, widen_avx2;
narrow_fn narrow_scalar, narrow_avx2;

/* a = b + factor * (a - b), float32, cut off behind the point, saturated; n values. */
typedef void mix_fn(float factor, uint8_t *a, const uint8_t *b, size_t n);
mix_fn mix_scalar, mix_avx2;

/* ---- images ----------------------------------------------------------------------------------
 */

void colour_grey(const struct imrec_image *p, enum cpu_level level);
void colour_hue(const struct imrec_image *p, float turns, enum cpu_level level);

/* Away from the mean of 3 x 3 (factor above 1), or towards it; the outermost pixels stay. */
IMREC_NODISCARD enum imrec_status sharpen(const struct imrec_image *p, float factor,
                                          struct resize_scratch *scratch, enum cpu_level level,
                                          struct imrec_error *err);

/* A Gaussian of that deviation (px), cut off at three of them; borders are reflected. */
IMREC_NODISCARD enum imrec_status blur(const struct imrec_image *p, float sigma,
                                       struct resize_scratch *scratch, enum cpu_level level,
                                       struct imrec_error *err);

/* What moves pixels makes an image of its own; all else works in place. */
bool op_moves(enum imrec_op op);
IMREC_NODISCARD enum imrec_status op_move(enum imrec_op op, float magnitude, uint8_t fill,
                                          const struct imrec_image *from, struct image *to,
                                          struct resize_scratch *scratch, struct imrec_error *err);
/* Where such an operation's pixels go. */
void op_path(enum imrec_op op, float magnitude, struct path *path);
IMREC_NODISCARD enum imrec_status
op_paint(enum imrec_op op, float magnitude, const struct imrec_image *p,
         struct resize_scratch *scratch, enum cpu_level level, struct imrec_error *err);
#endif
