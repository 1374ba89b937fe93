/* codec/jpeg/encode/forward_kernels.c - which variant runs at a level. */
#include "codec/jpeg/encode/forward_kernels.h"

#include "base/simd.h"
#include "codec/jpeg/encode/forward_variants.h"

/* clang-format off */
#define KERNELS(X)                                                                                 \
    X(colour, avx2, avx512, neon) X(halve, avx2, avx2, neon) X(blocks, avx2, avx512, neon)           \
    X(words, scalar, avx512, scalar)
/* clang-format on */

const struct forward_kernels forward_kernels[CPU_LEVELS] = KERNEL_TABLE(KERNELS);
