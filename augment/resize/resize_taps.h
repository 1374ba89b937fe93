/* augment/resize/resize_taps.h - cubic and Lanczos: the weights of OpenCV 3.4, and the inner loops
 * of their resizes, which have SIMD variants in augment/resize/resize_kernels.h. */
#ifndef IMREC_AUGMENT_RESIZE_RESIZE_TAPS_H
#define IMREC_AUGMENT_RESIZE_RESIZE_TAPS_H

#include <stddef.h>
#include <stdint.h>

enum {
    TAPS_CUBIC = 4,
    TAPS_LANCZOS = 8,
    TAPS_MOST = 8,
    TAPS_SLACK = 32, /* bytes past a row's end that may be read, values past a result's written */
};

/* Weights of the pixels floor(place) - (taps / 2 - 1) and those that follow, for a place that is
 * f (0 <= f <= 1) after a pixel; they add up to about 1. */
void taps_weights(uint32_t taps, float f, float *weights);

/* A row's places: the taps of pixel i begin at byte first[i] of a row that is continued beyond its
 * ends; weights[i * taps] and those that follow are theirs. */
struct taps_table {
    const uint32_t *first;
    const int16_t *weights;
    uint32_t count, taps, channels;
};
/* Exact sums. */
typedef void taps_x_fn(const struct taps_table *t, const uint8_t *row, int32_t *out);
/* Of n values, sums over rows by weights of 22 bits in float32, in this order, rounded to even. */
typedef void
cubic_y_fn(const int32_t *const rows[4], const int16_t *weights, uint8_t *out, size_t n);
/* The same in integers, rounded half up, over `taps` rows. */
typedef void taps_y_fn(const int32_t *const *rows, const int16_t *weights, uint32_t taps,
                       uint8_t *out, size_t n);
taps_x_fn taps_x_scalar, taps_x_avx2, taps_x_avx512, taps_x_neon;
cubic_y_fn cubic_y_scalar, cubic_y_avx2, cubic_y_avx512, cubic_y_neon;
taps_y_fn taps_y_scalar, taps_y_avx2, taps_y_avx512, taps_y_neon;
#endif
