/* augment/resize/resize_kernels.c - which variant of a pass of resizes and resampling runs at a
 * level. */
#include "augment/resize/resize_kernels.h"

#include "base/simd.h"

/* clang-format off */
#define KERNELS(X)                                                                                 \
    X(linear_x, avx2, avx512, neon) X(linear_y, avx2, avx512, neon)                            \
    X(area_x, avx2, avx512, neon) X(area_y, avx2, avx512, neon)                                \
    X(area_round, avx2, avx512, neon) X(half, avx2, avx2, neon)                                \
    X(resample_y, avx2, avx512, neon) X(resample_x, avx2, avx512, neon)                        \
    X(taps_x, avx2, avx512, neon) X(cubic_y, avx2, avx512, neon)                               \
    X(taps_y, avx2, avx512, neon) X(pillow_x, avx2, avx2, neon)                                \
    X(pillow_y, avx2, avx2, neon)
/* clang-format on */

const struct resize_kernels resize_kernels[CPU_LEVELS] = KERNEL_TABLE(KERNELS);
