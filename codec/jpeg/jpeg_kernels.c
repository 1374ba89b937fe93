/* codec/jpeg/jpeg_kernels.c - the table of variants, and which of them runs. */
#include "codec/jpeg/jpeg_kernels.h"

#include "base/cpu.h"
#include "codec/jpeg/variants.h"

static bool has_scalar(void)
{
    return cpu_has(CPU_SCALAR);
}

static const struct baseline_kernels scalar = {
    "scalar",       has_scalar,     idct_scalar,     row_444_scalar,
    row_422_scalar, row_420_scalar, row_grey_scalar,
};

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return cpu_has(CPU_AVX2);
}

static const struct baseline_kernels avx2 = {
    "avx2", has_avx2, idct_avx2, row_444_avx2, row_422_avx2, row_420_avx2, row_grey_avx2,
};

static bool has_avx512(void)
{
    return cpu_has(CPU_AVX512);
}

static const struct baseline_kernels avx512 = {
    "avx512",       has_avx512,     idct_avx512,     row_444_avx512,
    row_422_avx512, row_420_avx512, row_grey_avx512,
};
#endif

const struct baseline_kernels *const baseline_kernels_all[] = {
    &scalar,
#if defined(__x86_64__)
    &avx2,
    &avx512,
#endif
    NULL,
};

const struct baseline_kernels *baseline_kernels_best(void)
{
#if defined(__x86_64__)
    const enum cpu_level level = cpu_level();
    if (level != CPU_SCALAR)
        return level == CPU_AVX512 ? &avx512 : &avx2;
#endif
    return &scalar;
}
