#include "augment/kernels.h"

static const struct kernels table[CPU_LEVELS] = {
    [CPU_SCALAR] = {normalize_row_scalar, linear_x_scalar,   linear_y_scalar, area_x_scalar,
                    area_y_scalar,        area_round_scalar, half_scalar,     resample_y_scalar,
                    resample_x_scalar,    taps_x_scalar,     cubic_y_scalar,  taps_y_scalar,
                    warp_row_scalar,      colour_map_scalar, grey_sum_scalar, saturation_scalar,
                    hls_shift_scalar,     hue_turn_scalar,   smooth_scalar,   blur_scalar,
                    widen_scalar,         narrow_scalar,     mix_scalar,      blend_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {normalize_row_avx2, linear_x_avx2,     linear_y_avx2, area_x_avx2,
                  area_y_avx2,        area_round_avx2,   half_avx2,     resample_y_avx2,
                  resample_x_avx2,    taps_x_avx2,       cubic_y_avx2,  taps_y_avx2,
                  warp_row_avx2,      colour_map_scalar, grey_sum_avx2, saturation_avx2,
                  hls_shift_avx2,     hue_turn_avx2,     smooth_avx2,   blur_avx2,
                  widen_avx2,         narrow_avx2,       mix_avx2,      blend_avx2},
    [CPU_AVX512] = {normalize_row_avx512, linear_x_avx512,   linear_y_avx512, area_x_avx512,
                    area_y_avx512,        area_round_avx512, half_avx2,       resample_y_avx512,
                    resample_x_avx512,    taps_x_avx512,     cubic_y_avx512,  taps_y_avx512,
                    warp_row_avx512,      colour_map_avx512, grey_sum_avx512, saturation_avx512,
                    hls_shift_avx512,     hue_turn_avx2,     smooth_avx2,     blur_avx512,
                    widen_avx2,           narrow_avx2,       mix_avx2,        blend_avx2},
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
