/* codec/baseline/kernels.c - the table of variants, and which of them runs. */
#include "codec/baseline/kernels.h"

#include "base/cpu.h"
#include "codec/baseline/variants.h"

static bool always(void)
{
    return true;
}

static const struct baseline_kernels scalar = {
    "scalar", always, idct_scalar, row_444_scalar, row_422_scalar, row_420_scalar, row_grey_scalar,
};

const struct baseline_kernels *const baseline_kernels_all[] = {&scalar, NULL};

const struct baseline_kernels *baseline_kernels_best(void)
{
    return &scalar;
}
