/* augment/normalize/normalize_kernels.h - the variants of what makes a slot's values. */
#ifndef IMREC_AUGMENT_NORMALIZE_NORMALIZE_KERNELS_H
#define IMREC_AUGMENT_NORMALIZE_NORMALIZE_KERNELS_H

#include "augment/normalize/blend.h"
#include "augment/normalize/normalize.h"
#include "base/cpu.h"

struct normalize_kernels {
    normalize_row_fn *row;
    blend_fn *blend;
};

/* A line a level: base/cpu.h. */
extern const struct normalize_kernels normalize_kernels[CPU_LEVELS];
#endif
