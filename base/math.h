/* base/math.h - the smaller and the larger of two numbers, counts and sizes rounded up. */
#ifndef IMREC_BASE_MATH_H
#define IMREC_BASE_MATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* For qsort() and bsearch(), of rows that begin with the number they are sorted by. */
static inline int by_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Down to a whole number. */
static inline uint32_t root_u32(uint32_t n)
{
    uint32_t low = 0, high = 65536; /* low^2 <= n < high^2 */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)middle * middle <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Of n rows of `bytes` each, sorted by the number at byte `at` of each: the first row with at least
 * v; n: there is none. */
static inline uint64_t
first_at_least(const void *rows, size_t bytes, size_t at, uint64_t n, uint64_t v)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        uint64_t is;
        memcpy(&is, (const char *)rows + middle * bytes + at, sizeof(is));
        if (is < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where share k of n nearly equal ones of `total` things begins, 0 <= k <= n < 2^32. */
static inline uint64_t share_begin(uint64_t total, uint64_t k, uint64_t n)
{
    return total / n * k + total % n * k / n;
}
#endif
