/* augment/resize/resize_kernels.c - which variant of a pass of resizes and resampling runs at a
 * level. */
#include "augment/resize/resize_kernels.h"

const struct resize_kernels resize_kernels[CPU_LEVELS] = {
    [CPU_SCALAR] = {.linear_x = linear_x_scalar,
                    .linear_y = linear_y_scalar,
                    .area_x = area_x_scalar,
                    .area_y = area_y_scalar,
                    .area_round = area_round_scalar,
                    .half = half_scalar,
                    .resample_y = resample_y_scalar,
                    .resample_x = resample_x_scalar,
                    .taps_x = taps_x_scalar,
                    .cubic_y = cubic_y_scalar,
                    .taps_y = taps_y_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {.linear_x = linear_x_avx2,
                  .linear_y = linear_y_avx2,
                  .area_x = area_x_avx2,
                  .area_y = area_y_avx2,
                  .area_round = area_round_avx2,
                  .half = half_avx2,
                  .resample_y = resample_y_avx2,
                  .resample_x = resample_x_avx2,
                  .taps_x = taps_x_avx2,
                  .cubic_y = cubic_y_avx2,
                  .taps_y = taps_y_avx2},
    [CPU_AVX512] = {.linear_x = linear_x_avx512,
                    .linear_y = linear_y_avx512,
                    .area_x = area_x_avx512,
                    .area_y = area_y_avx512,
                    .area_round = area_round_avx512,
                    .half = half_avx2,
                    .resample_y = resample_y_avx512,
                    .resample_x = resample_x_avx512,
                    .taps_x = taps_x_avx512,
                    .cubic_y = cubic_y_avx512,
                    .taps_y = taps_y_avx512},
#endif
};
