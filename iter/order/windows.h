/* iter/order/windows.h - how a sweep's order is cut into windows. Pure numbers. */
#ifndef IMREC_ITER_ORDER_WINDOWS_H
#define IMREC_ITER_ORDER_WINDOWS_H

#include <stdint.h>

/* Windows tumble: each place of the order is in exactly one. The first is small, so that its
 * records are there soon; the others are equally large, so that none is a poor rest. */
struct windows {
    uint64_t units; /* of the partition, or places of the order */
    uint64_t first; /* units in window 0 */
    uint64_t count; /* windows of a sweep, at least 1, even if it is empty */
};

/* Units of `unit_bytes` into windows of at most `most_bytes`, the first of at most
 * `first_bytes`; at least one unit each. What fits into the first is one window; what is less
 * than twice that is two equal ones. */
struct windows
windows_plan(uint64_t units, uint64_t unit_bytes, uint64_t most_bytes, uint64_t first_bytes);
void windows_extent(const struct windows *w, uint64_t number, uint64_t *first, uint64_t *count);
/* The window that holds a place of the order, which is below w->units. */
uint64_t windows_at(const struct windows *w, uint64_t place);
#endif
