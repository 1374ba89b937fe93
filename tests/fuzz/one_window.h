/* tests/fuzz/one_window.h - a loader that gives a whole partition at once, in its order. */
#ifndef IMREC_FUZZ_ONE_WINDOW_H
#define IMREC_FUZZ_ONE_WINDOW_H

#include "iter/load/loader.h"

static inline void
all_units(void *context, const struct window *w, uint64_t *first, uint64_t *count)
{
    *first = w->number;
    *count = ((const struct container *)context)->unit_count;
}

static inline uint64_t in_order(void *context, const struct window *w, uint64_t i)
{
    (void)context, (void)w;
    return i;
}

static inline uint64_t touch(struct bytes b) /* a sanitizer sees what is not there */
{
    uint64_t sum = b.n;
    for (size_t i = 0; i < b.n; i++)
        sum = sum * 31 + b.p[i];
    return sum;
}
#endif
