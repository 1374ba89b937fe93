/* augment/colour/colour_kernels.c - which kernel of colours and neighbours runs at a level. */
#include "augment/colour/colour_kernels.h"

#include "base/simd.h"

/* clang-format off */
#define KERNELS(X)                                                                                 \
    X(colour_map, scalar, avx512, scalar) X(grey_sum, avx2, avx512, neon)                        \
    X(saturation, avx2, avx512, neon) X(hls_shift, avx2, avx512, neon)                         \
    X(hue_turn, avx2, avx2, neon) X(smooth, avx2, avx2, neon) X(blur, avx2, avx512, neon)    \
    X(widen, avx2, avx2, neon) X(narrow, avx2, avx2, neon) X(mix, avx2, avx2, neon)          \
    X(weigh, avx2, avx2, neon)
/* clang-format on */

const struct colour_kernels colour_kernels[CPU_LEVELS] = KERNEL_TABLE(KERNELS);
