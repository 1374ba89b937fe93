/* codec/jpeg/kernels/variants.h - what the table of kernels is filled with. */
#ifndef IMREC_CODEC_JPEG_KERNELS_VARIANTS_H
#define IMREC_CODEC_JPEG_KERNELS_VARIANTS_H

#include "codec/jpeg/kernels/jpeg_kernels.h"

/* JFIF's YCbCr to RGB, 16 bits of fraction. */
enum { RED_CR = 91881, GREEN_CB = -22554, GREEN_CR = -46802, BLUE_CB = 116130 };

idct_kernel idct_scalar, idct_avx2, idct_avx512, idct_neon;
idct_kernel idct_4_scalar, idct_2_scalar, idct_1_scalar, idct_4_avx2, idct_2_avx2;

typedef void run_fn(const struct block_run *r);
run_fn idct_run_scalar, idct_run_avx512;

/* Chroma of a row, in the loops of its kernels. */
enum sampling { FULL, HALF_ACROSS, HALF_BOTH };

typedef void row_fn(const struct kernel_row *r);
row_fn row_444_scalar, row_422_scalar, row_420_scalar, row_grey_scalar;
row_fn row_444_avx2, row_422_avx2, row_420_avx2, row_grey_avx2;
row_fn row_444_avx512, row_422_avx512, row_420_avx512, row_grey_avx512;
row_fn row_444_neon, row_422_neon, row_420_neon, row_grey_neon;
#endif
