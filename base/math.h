/* base/math.h - the smaller and the larger of two numbers, counts and sizes rounded up. */
#ifndef IMREC_BASE_MATH_H
#define IMREC_BASE_MATH_H

#include <stdint.h>

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t ceil_div(uint64_t n, uint64_t by)
{
    return (n + by - 1) / by;
}

/* The next multiple of `align`, or n itself. */
static inline uint64_t align_up(uint64_t n, uint64_t align)
{
    return ceil_div(n, align) * align;
}

static inline int32_t clamp_i32(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}
#endif
