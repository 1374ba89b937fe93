/* iter/order/window_order.c - in which order the records of a shuffled window are given. */
#include "iter/order/window_order.h"

/* record_ref.key is a copy of `unit` without an index: it holds the record's place while sorting.
 */

static void swap(struct record_ref *a, struct record_ref *b)
{
    const struct record_ref r = *a;
    *a = *b;
    *b = r;
}

static bool before(const struct record_ref *a, const struct record_ref *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->shard != b->shard ? a->shard < b->shard : a->offset < b->offset;
}

static void insertion_sort(struct record_ref *r, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t k = i; k > 0 && before(&r[k], &r[k - 1]); k--)
            swap(&r[k], &r[k - 1]);
}

/* Quicksort: the keys are random, so the middle one is as good as any. */
static void sort(struct record_ref *r, uint64_t n)
{
    while (n > 12) {
        const struct record_ref pivot = r[n / 2];
        uint64_t i = 0, k = n - 1;
        for (;; i++, k--) {
            while (before(&r[i], &pivot))
                i++;
            while (before(&pivot, &r[k]))
                k--;
            if (i >= k)
                break;
            swap(&r[i], &r[k]);
        }
        /* r[0..i) <= pivot <= r[i..n): the smaller part by a call, the larger one by the loop */
        if (i < n - i) {
            sort(r, i);
            r += i;
            n -= i;
        } else {
            sort(r + i, n - i);
            n = i;
        }
    }
    insertion_sort(r, n);
}

static void place_anywhere(struct record_ref *r, uint64_t n, struct rng_key key)
{
    for (uint64_t i = 0; i < n; i++)
        r[i].key = rng_block(key, r[i].shard, r[i].offset, 0, RNG_RECORD_ORDER).v[0];
}

/* Where records are left to chance within their n-th, a batch meets twins. */
#define FEW_CELLS 256u

static uint64_t cell_of(const struct record_ref *r, uint64_t cell_bytes)
{
    return r->offset / cell_bytes;
}

/* The record after the last one of the cell that r[0] is in. */
static uint64_t cell_end(const struct record_ref *r, uint64_t n, uint64_t cell_bytes)
{
    uint64_t end = 1;
    while (end < n && r[end].shard == r[0].shard &&
           cell_of(&r[end], cell_bytes) == cell_of(&r[0], cell_bytes))
        end++;
    return end;
}

/* Shuffles the records of one cell and puts each into its own n-th of the window: anywhere, or
 * all at the same place of theirs. */
static void spread(struct record_ref *r, uint64_t n, uint64_t cell, struct rng_key key, bool even)
{
    const uint64_t step = UINT64_MAX / n;
    const uint64_t phase = rng_block(key, r[0].shard, cell, 0, RNG_RECORD_ORDER).v[2];
    for (uint64_t k = n; k-- > 0;) {
        const struct rng_block bits =
            rng_block(key, r[0].shard, cell, (uint32_t)k, RNG_RECORD_ORDER);
        swap(&r[k], &r[rng_below(bits.v[0], k + 1)]);
        r[k].key = k * step + rng_below(even ? phase : bits.v[1], step);
    }
}

static void place_evenly(struct record_ref *r, uint64_t n, uint64_t cell_bytes, struct rng_key key)
{
    uint64_t cells = 0;
    for (uint64_t i = 0; i < n; cells++)
        i += cell_end(&r[i], n - i, cell_bytes);
    for (uint64_t i = 0, count; i < n; i += count) {
        count = cell_end(&r[i], n - i, cell_bytes);
        spread(&r[i], count, cell_of(&r[i], cell_bytes), key, cells < FEW_CELLS);
    }
}

void order_window(struct record_ref *r, uint64_t n, struct rng_key key, uint64_t cell_bytes,
                  bool whole)
{
    if (whole)
        place_anywhere(r, n, key);
    else
        place_evenly(r, n, cell_bytes, key);
    sort(r, n);
    for (uint64_t i = 0; i < n; i++)
        r[i].key = r[i].unit;
}
