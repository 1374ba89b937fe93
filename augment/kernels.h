/* augment/kernels.h - the families of kernels, for tests that walk all of them. */
#ifndef IMREC_AUGMENT_KERNELS_H
#define IMREC_AUGMENT_KERNELS_H

#include <stddef.h>

/* Kernels that one table has the variants of: by level a struct of nothing but pointers to them. */
struct kernel_family {
    const char *name;
    const void *table; /* CPU_LEVELS of them */
    size_t bytes;      /* of one */
};
enum { KERNEL_FAMILIES = 4 };
extern const struct kernel_family kernel_families[KERNEL_FAMILIES];
#endif
