/* augment/normalize/normalize_kernels.c - which variant of what makes a slot's values runs at a
 * level. */
#include "augment/normalize/normalize_kernels.h"

const struct normalize_kernels normalize_kernels[CPU_LEVELS] = {
    [CPU_SCALAR] = {.row = normalize_row_scalar, .blend = blend_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {.row = normalize_row_avx2, .blend = blend_avx2},
    [CPU_AVX512] = {.row = normalize_row_avx512, .blend = blend_avx2},
#elif defined(__aarch64__)
    [CPU_NEON] = {.row = normalize_row_neon, .blend = blend_neon},
#endif
};

normalize_row_fn *normalize_row(void)
{
    return normalize_kernels[cpu_level()].row;
}
