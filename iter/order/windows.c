/* iter/order/windows.c - how a sweep's order is cut into windows. */
#include "iter/order/windows.h"

#include "base/math.h"

static uint64_t units_in(uint64_t bytes, uint64_t unit_bytes)
{
    const uint64_t n = bytes / unit_bytes;
    return n != 0 ? n : 1;
}

struct windows
windows_plan(uint64_t units, uint64_t unit_bytes, uint64_t most_bytes, uint64_t first_bytes)
{
    const uint64_t most = units_in(most_bytes, unit_bytes);
    uint64_t first = min_u64(units_in(first_bytes, unit_bytes), most);
    if (units <= first)
        return (struct windows){.units = units, .first = units, .count = 1};
    if (units - first < first)
        first = units - units / 2;
    const uint64_t rest = units - first;
    return (struct windows){units, first, 1 + rest / most + (rest % most != 0)};
}

void windows_extent(const struct windows *w, uint64_t number, uint64_t *first, uint64_t *count)
{
    *first = 0;
    *count = w->first;
    if (number == 0)
        return;
    const uint64_t rest = w->units - w->first, pieces = w->count - 1, i = number - 1;
    const uint64_t size = rest / pieces, larger = rest % pieces; /* the first ones, by one */
    *first = w->first + i * size + min_u64(i, larger);
    *count = size + (i < larger);
}

uint64_t windows_at(const struct windows *w, uint64_t place)
{
    if (place < w->first)
        return 0;
    const uint64_t rest = w->units - w->first, pieces = w->count - 1, i = place - w->first;
    const uint64_t size = rest / pieces, larger = rest % pieces, long_ones = larger * (size + 1);
    return 1 + (i < long_ones ? i / (size + 1) : larger + (i - long_ones) / size);
}
