#include "augment/kernels.h"

static const struct kernels table[CPU_LEVELS] = {
    [CPU_SCALAR] = {.normalize_row = normalize_row_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {.normalize_row = normalize_row_avx2},
    [CPU_AVX512] = {.normalize_row = normalize_row_avx512},
#endif
};

const struct kernels *kernels_of(enum cpu_level level)
{
    return &table[level];
}

const struct kernels *kernels_best(void)
{
    return &table[cpu_level()];
}

normalize_row_fn *normalize_row(void)
{
    return kernels_best()->normalize_row;
}
