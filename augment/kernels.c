/* augment/kernels.c - the families of kernels, and where each has its table. */
#include "augment/kernels.h"

#include "augment/colour/colour_kernels.h"
#include "augment/geometry/warp_kernels.h"
#include "augment/normalize/normalize_kernels.h"
#include "augment/resize/resize_kernels.h"

const struct kernel_family kernel_families[KERNEL_FAMILIES] = {
    {.name = "resize", .table = resize_kernels, .bytes = sizeof(resize_kernels[0])},
    {.name = "warp", .table = warp_kernels, .bytes = sizeof(warp_kernels[0])},
    {.name = "colour", .table = colour_kernels, .bytes = sizeof(colour_kernels[0])},
    {.name = "normalize", .table = normalize_kernels, .bytes = sizeof(normalize_kernels[0])},
};
