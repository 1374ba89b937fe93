/* tests/support/baseline_variants.h - the variants of our decoder's kernels, and numbers for them.
 */
#ifndef IMREC_TESTS_BASELINE_VARIANTS_H
#define IMREC_TESTS_BASELINE_VARIANTS_H

#include "codec/jpeg/kernels/jpeg_kernels.h"

static uint32_t g_seed = 1;

static inline uint32_t rnd(uint32_t below)
{
    g_seed = g_seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(g_seed >> 4) * below >> 28);
}

#define EVERY_VARIANT(level)                                                                       \
    for (enum cpu_level level = CPU_SCALAR; level < CPU_LEVELS; level++)                           \
        if (cpu_has(level))
#endif
