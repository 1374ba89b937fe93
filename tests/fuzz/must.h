/* tests/fuzz/must.h - what a fuzz target holds to be true. */
#ifndef IMREC_FUZZ_MUST_H
#define IMREC_FUZZ_MUST_H

#include <stdbool.h>
#include <stdlib.h>

static inline void must(bool yes)
{
    if (!yes)
        abort();
}
#endif
