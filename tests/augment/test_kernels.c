/* tests/augment/test_kernels.c - the tables of kernels: of every family, at every level, all of
 * them.
 */
#include "augment/kernels.h"
#include "base/cpu.h"
#include "tests/support/suite.h"

#include <string.h>

typedef void kernel_fn(void);

static kernel_fn *kernel_at(const struct kernel_family *f, int level, size_t i)
{
    kernel_fn *k;
    memcpy(&k, (const char *)f->table + (size_t)level * f->bytes + i * sizeof(k), sizeof(k));
    return k;
}

static size_t kernels_of(const struct kernel_family *f)
{
    return f->bytes / sizeof(kernel_fn *);
}

LOOP_TEST(every_kernel_of_a_family_is_there_at_every_level, 0, KERNEL_FAMILIES) /* _i: families */
{
    const struct kernel_family *f = &kernel_families[_i];
    ck_assert_uint_ge(kernels_of(f), 1);
    for (int level = 0; level < CPU_LEVELS; level++)
        for (size_t i = 0; i < kernels_of(f); i++)
            ck_assert_msg(kernel_at(f, level, i) != NULL, "%s: kernel %zu is missing at %s",
                          f->name, i, cpu_level_name((enum cpu_level)level));
}

/* A variant of some level below, but not of the next: one between was forgotten. */
LOOP_TEST(a_level_without_a_variant_of_its_own_has_the_one_below, 0,
          KERNEL_FAMILIES) /* _i: families */
{
    const struct kernel_family *f = &kernel_families[_i];
    for (int level = 2; level < CPU_LEVELS; level++)
        for (size_t i = 0; i < kernels_of(f); i++)
            for (int below = 0; below < level - 1; below++)
                ck_assert_msg(kernel_at(f, level, i) != kernel_at(f, below, i) ||
                                  kernel_at(f, level, i) == kernel_at(f, level - 1, i),
                              "%s: kernel %zu of %s is that of %s", f->name, i,
                              cpu_level_name((enum cpu_level)level),
                              cpu_level_name((enum cpu_level)below));
}
