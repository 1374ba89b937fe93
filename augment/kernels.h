/* augment/kernels.h - the one table of variants that dispatch, tests and benchmark walk. */
#ifndef IMREC_AUGMENT_KERNELS_H
#define IMREC_AUGMENT_KERNELS_H

#include "augment/blend.h"
#include "augment/blur.h"
#include "augment/colour.h"
#include "augment/normalize.h"
#include "augment/resample_passes.h"
#include "augment/resize_passes.h"
#include "augment/resize_taps.h"
#include "augment/warp.h"
#include "base/cpu.h"

/* Every variant of a kernel gives the same bits. A level without a variant of its own has the
 * one below. */
struct kernels {
    normalize_row_fn *normalize_row;
    linear_x_fn *linear_x;
    linear_y_fn *linear_y;
    area_x_fn *area_x;
    area_y_fn *area_y;
    area_round_fn *area_round;
    half_fn *half;
    resample_y_fn *resample_y;
    resample_x_fn *resample_x;
    taps_x_fn *taps_x;
    cubic_y_fn *cubic_y;
    taps_y_fn *taps_y;
    warp_row_fn *warp_row;
    colour_map_fn *colour_map;
    grey_sum_fn *grey_sum;
    saturation_fn *saturation;
    hls_shift_fn *hls_shift;
    hue_turn_fn *hue_turn;
    smooth_fn *smooth;
    blur_fn *blur;
    widen_fn *widen;
    narrow_fn *narrow;
    mix_fn *mix;
    blend_fn *blend;
};

/* Those of a level that cpu_has(). */
const struct kernels *kernels_of(enum cpu_level level);
/* Those of cpu_level(). */
const struct kernels *kernels_best(void);
#endif
