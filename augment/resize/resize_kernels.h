/* augment/resize/resize_kernels.h - the variants of the passes of resizes and resampling. */
#ifndef IMREC_AUGMENT_RESIZE_RESIZE_KERNELS_H
#define IMREC_AUGMENT_RESIZE_RESIZE_KERNELS_H

#include "augment/resize/pillow.h"
#include "augment/resize/resample_passes.h"
#include "augment/resize/resize_passes.h"
#include "augment/resize/resize_taps.h"
#include "base/cpu.h"

struct resize_kernels {
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
    pillow_x_fn *pillow_x;
    pillow_y_fn *pillow_y;
};

/* A line a level: base/cpu.h. */
extern const struct resize_kernels resize_kernels[CPU_LEVELS];
#endif
