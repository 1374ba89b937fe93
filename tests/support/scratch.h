/* tests/support/scratch.h - one scratch of resizes for all tests of a program: its tables are used
 * again. CASE(.begin = scratch_make, .end = scratch_free) */
#ifndef IMREC_TESTS_SCRATCH_H
#define IMREC_TESTS_SCRATCH_H

#include "augment/resize/resize.h"

#include <stdlib.h>

static struct resize_scratch *scratch;

static inline bool scratch_make(void)
{
    if (resize_scratch_new(&scratch, NULL) != IMREC_OK)
        exit(EXIT_FAILURE);
    return true;
}

static inline void scratch_free(void)
{
    resize_scratch_free(scratch);
}
#endif
