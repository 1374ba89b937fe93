/* codec/jpeg/lane_kernels.c - which variant of the lanes runs at a level. */
#include "codec/jpeg/lanes.h"

const struct lane_kernels lane_kernels[CPU_LEVELS] = {
    [CPU_SCALAR] = {lanes_scalar, false},
#if defined(__x86_64__)
    [CPU_AVX2] = {lanes_scalar, false},
    [CPU_AVX512] = {lanes_avx512, true},
#elif defined(__aarch64__)
    [CPU_NEON] = {lanes_scalar, false},
#endif
};
