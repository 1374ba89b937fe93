/* codec/jpeg/kernels/jpeg_kernels.c - which variant of blocks and rows runs at a level. */
#include "codec/jpeg/kernels/jpeg_kernels.h"

#include "base/simd.h"
#include "codec/jpeg/kernels/variants.h"

/* clang-format off */
#define KERNELS(X)                                                                                 \
    X(idct, avx2, avx512, neon) X(idct_run, scalar, avx512, scalar) X(idct_4, avx2, avx2, scalar) X(idct_2, avx2, avx2, scalar)   \
    X(idct_1, scalar, scalar, scalar) X(row_444, avx2, avx512, neon)                                 \
    X(row_422, avx2, avx512, neon) X(row_420, avx2, avx512, neon)                              \
    X(row_grey, avx2, avx512, neon)
/* clang-format on */

const struct baseline_kernels baseline_kernels[CPU_LEVELS] = KERNEL_TABLE(KERNELS);
