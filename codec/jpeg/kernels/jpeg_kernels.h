/* codec/jpeg/kernels/jpeg_kernels.h - blocks and rows of samples: one scalar truth, variants by
 * instruction set, all bit for bit the same and the same as libjpeg-turbo's (slow integer DCT,
 * fancy upsampling).
 *
 * Rows of samples and of pixels may be read and written up to KERNEL_SLACK bytes beyond their
 * n values: the caller's buffers have that room. */
#ifndef IMREC_CODEC_JPEG_KERNELS_JPEG_KERNELS_H
#define IMREC_CODEC_JPEG_KERNELS_JPEG_KERNELS_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { KERNEL_SLACK = 64 };

/* What one row of pixels is made of. Columns count from an even column of the image, so that
 * pixel i has its chroma at i / 2 where chroma is halved. The chroma sample before the first
 * and the one after the last are there too: neighbours, or at the image's edges copies. */
struct kernel_row {
    const uint8_t *y, *cb, *cr;     /* cb, cr: of the chroma row nearest to the row of pixels */
    const uint8_t *cb_far, *cr_far; /* 4:2:0: of the next nearest; else not looked at */
    uint32_t n;                     /* pixels */
    uint8_t *rgb;                   /* 3 n bytes */
};

/* Dequantizes (16-bit products, as libjpeg-turbo's SIMD) and transforms one block to rows of
 * samples. coef: natural order, 64-byte aligned; last: the zigzag index of the last that is not 0,
 * or 0. */
typedef void
idct_kernel(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out, size_t stride);

/* Blocks in zigzag order, for rows of samples side by side; zeros take the place of their
 * coefficients. */
struct block_run {
    int16_t *coef; /* of the first; all are 64-byte aligned */
    size_t apart;  /* coefficients from one block to the next */
    uint32_t n;
    const uint16_t *quant;
    uint8_t *out; /* of the first */
    size_t stride, step;
};

/* By one block after another. */
void idct_run_by(const struct block_run *r, idct_kernel *idct);

struct baseline_kernels {
    idct_kernel *idct; /* 8 rows of 8 samples */
    void (*idct_run)(const struct block_run *r);
    idct_kernel *idct_4, *idct_2,
        *idct_1; /* of an image scaled by 1/2, 1/4, 1/8: 4 rows of 4 ... */

    /* One row of RGB by the sampling of chroma. */
    void (*row_444)(const struct kernel_row *r);
    void (*row_422)(const struct kernel_row *r); /* (3 near + neighbour + 1 | 2) / 4 */
    void (*row_420)(const struct kernel_row *r); /* the same in both directions, / 16 */
    void (*row_grey)(const struct kernel_row *r);
};

/* A line a level: base/cpu.h. */
extern const struct baseline_kernels baseline_kernels[CPU_LEVELS];
#endif
