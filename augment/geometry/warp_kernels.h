/* augment/geometry/warp_kernels.h - the variants of a row of a warp. */
#ifndef IMREC_AUGMENT_GEOMETRY_WARP_KERNELS_H
#define IMREC_AUGMENT_GEOMETRY_WARP_KERNELS_H

#include "augment/geometry/warp.h"
#include "base/cpu.h"

struct warp_kernels {
    warp_row_fn *row;
};

/* A line a level: base/cpu.h. */
extern const struct warp_kernels warp_kernels[CPU_LEVELS];
#endif
