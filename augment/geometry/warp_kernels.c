/* augment/geometry/warp_kernels.c - which variant of a row of a warp runs at a level. */
#include "augment/geometry/warp_kernels.h"

const struct warp_kernels warp_kernels[CPU_LEVELS] = {
    [CPU_SCALAR] = {.row = warp_row_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {.row = warp_row_avx2},
    [CPU_AVX512] = {.row = warp_row_avx512},
#elif defined(__aarch64__)
    [CPU_NEON] = {.row = warp_row_neon},
#endif
};
