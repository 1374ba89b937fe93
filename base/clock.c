/* base/clock.c - time that only goes forward, for statistics. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0; /* only numbers in a report */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
