/* augment/colour/colour_kernels.h - the variants of what is done to colours and neighbours. */
#ifndef IMREC_AUGMENT_COLOUR_COLOUR_KERNELS_H
#define IMREC_AUGMENT_COLOUR_COLOUR_KERNELS_H

#include "augment/colour/blur.h"
#include "augment/colour/colour.h"
#include "augment/colour/weigh.h"
#include "base/cpu.h"

struct colour_kernels {
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
    weigh_fn *weigh;
};

/* A line a level: base/cpu.h. */
extern const struct colour_kernels colour_kernels[CPU_LEVELS];
#endif
