/* augment/kernels.h - the one table of variants that dispatch, tests and benchmark walk. */
#ifndef IMREC_AUGMENT_KERNELS_H
#define IMREC_AUGMENT_KERNELS_H

#include "augment/normalize.h"
#include "base/cpu.h"

/* Every variant of a kernel gives the same bits. A level without a variant of its own has the
 * one below. */
struct kernels {
    normalize_row_fn *normalize_row;
};

/* Those of a level that cpu_has(). */
const struct kernels *kernels_of(enum cpu_level level);
/* Those of cpu_level(). */
const struct kernels *kernels_best(void);
#endif
