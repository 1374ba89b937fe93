/* augment/colour/colour_kernels.c - which kernel of colours and neighbours runs at a level. */
#include "augment/colour/colour_kernels.h"

const struct colour_kernels colour_kernels[CPU_LEVELS] = {
    [CPU_SCALAR] = {.colour_map = colour_map_scalar,
                    .grey_sum = grey_sum_scalar,
                    .saturation = saturation_scalar,
                    .hls_shift = hls_shift_scalar,
                    .hue_turn = hue_turn_scalar,
                    .smooth = smooth_scalar,
                    .blur = blur_scalar,
                    .widen = widen_scalar,
                    .narrow = narrow_scalar,
                    .mix = mix_scalar},
#if defined(__x86_64__)
    [CPU_AVX2] = {.colour_map = colour_map_scalar,
                  .grey_sum = grey_sum_avx2,
                  .saturation = saturation_avx2,
                  .hls_shift = hls_shift_avx2,
                  .hue_turn = hue_turn_avx2,
                  .smooth = smooth_avx2,
                  .blur = blur_avx2,
                  .widen = widen_avx2,
                  .narrow = narrow_avx2,
                  .mix = mix_avx2},
    [CPU_AVX512] = {.colour_map = colour_map_avx512,
                    .grey_sum = grey_sum_avx512,
                    .saturation = saturation_avx512,
                    .hls_shift = hls_shift_avx512,
                    .hue_turn = hue_turn_avx2,
                    .smooth = smooth_avx2,
                    .blur = blur_avx512,
                    .widen = widen_avx2,
                    .narrow = narrow_avx2,
                    .mix = mix_avx2},
#endif
};
