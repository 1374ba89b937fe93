/* augment/resize/resize_blocks.c - tables of 16 values at a time, out of a window of 64 bytes. */
#include "augment/resize/resize_passes.h"

#include "base/math.h"

#include <string.h>

/* Bytes of a row from which the pixels of a block are made: up to the last tap's first byte. */
struct reach {
    uint32_t low, high;
};

static struct reach
reach_of(const struct resize_run *r, const uint32_t *first, const uint32_t *second, uint32_t begin)
{
    const uint32_t channels = r->to->channels, values = r->to->width * channels;
    const uint32_t end = values - begin < RESIZE_BLOCK ? values : begin + RESIZE_BLOCK;
    struct reach k = {UINT32_MAX, 0};
    for (uint32_t at = begin / channels; at * channels < end; at++) {
        const uint32_t last = second != NULL ? second[at] : first[at];
        k.low = first[at] < k.low ? first[at] : k.low;
        k.high = last > k.high ? last : k.high;
    }
    return k;
}

static bool find_windows(const struct resize_run *r, const uint32_t *first, const uint32_t *second,
                         uint32_t *window, struct resize_blocks *b)
{
    const uint32_t channels = r->to->channels;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct reach k = reach_of(r, first, second, i * RESIZE_BLOCK);
        if (k.high - k.low + channels > RESIZE_WINDOW)
            return false;
        window[i] = k.low;
        if ((uint64_t)k.low + (uint64_t)(b->taps - 1) * channels + RESIZE_WINDOW <= b->row_bytes)
            b->safe = i + 1;
    }
    return true;
}

static void fill_picks(const struct resize_run *r, const uint32_t *first, const uint32_t *second,
                       const struct resize_blocks *b, uint8_t *picks)
{
    const uint32_t channels = r->to->channels;
    uint32_t value = 0;
    memset(picks, 0, (size_t)b->count * RESIZE_WINDOW);
    for (uint32_t at = 0; at < r->to->width; at++)
        for (uint32_t c = 0; c < channels; c++, value++) {
            const uint32_t window = b->window[value / RESIZE_BLOCK];
            picks[4 * (size_t)value] = (uint8_t)(first[at] + c - window);
            if (second != NULL)
                picks[4 * (size_t)value + 2] = (uint8_t)(second[at] + c - window);
        }
}

bool resize_make_blocks(const struct resize_run *r, const uint32_t *first, const uint32_t *second,
                        uint32_t taps, struct resize_blocks *b, void **weights)
{
    *b = (struct resize_blocks){.taps = taps};
    if (!cpu_picks_bytes(r->level) || taps > RESIZE_WINDOW) /* which bounds the tables */
        return true;
    b->count = ceil_div(r->to->width * r->to->channels, RESIZE_BLOCK);
    b->row_bytes = r->region.width * r->to->channels;
    uint32_t *window = scratch_room(r->scratch, ROOM_WINDOW, b->count, sizeof(*window));
    if (window == NULL)
        return false;
    b->window = window;
    if (!find_windows(r, first, second, window, b)) {
        b->count = 0;
        return true;
    }
    uint8_t *picks = scratch_room(r->scratch, ROOM_PICKS, b->count, RESIZE_WINDOW);
    const size_t cells = (size_t)b->count * taps;
    *weights = scratch_room(r->scratch, ROOM_SHARES, cells, RESIZE_BLOCK * sizeof(uint32_t));
    if (picks == NULL || *weights == NULL)
        return false;
    memset(*weights, 0, cells * RESIZE_BLOCK * sizeof(uint32_t)); /* +0 in float32 as well */
    fill_picks(r, first, second, b, picks);
    b->picks = picks;
    b->weights = *weights;
    return true;
}
