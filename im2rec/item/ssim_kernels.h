/* im2rec/item/ssim_kernels.h - loops over a row of pixels or of windows, each compiled for the
 * instructions of several levels. What is computed for a place depends on no other place, so that
 * every level has the same bits. */
#ifndef IMREC_IM2REC_ITEM_SSIM_KERNELS_H
#define IMREC_IM2REC_ITEM_SSIM_KERNELS_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { SSIM_WINDOW = 11, SSIM_LANES = 8, SSIM_MIDDLE = 128 };

/* Weighted means of a row of windows; of a window's pixels a and b. */
struct ssim_row {
    const float *mean_a, *energy_a; /* a; a * a */
    const float *mean_b, *energy_b, *both;
};

struct ssim_kernels {
    /* Differences to SSIM_MIDDLE, which leave variances more of a float's bits; and squares. */
    void (*take)(const uint8_t *px, size_t n, float *value, float *square);
    /* out[x] = a[x] * b[x] */
    void (*multiply)(const float *a, const float *b, size_t n, float *out);
    /* out[x] = sum over k of weight[k] * row[k][x] */
    void (*weigh)(const float *const row[SSIM_WINDOW], const float weight[SSIM_WINDOW], size_t n,
                  float *restrict out);
    /* Adds up the similarities of n windows: window x to total[x % SSIM_LANES]. */
    void (*compare)(const struct ssim_row *r, size_t n, double total[SSIM_LANES]);
};

extern const struct ssim_kernels ssim_kernels[CPU_LEVELS];
#endif
