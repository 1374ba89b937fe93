/* augment/map_slot.c - maps into slots: one value a place, none blended with its neighbours. */
#include "augment/map_slot.h"

#include <string.h>

enum { SPAN = 256 }; /* px at once */

static void store(enum imrec_image_type type, const uint16_t *row, uint32_t n, uint8_t *out)
{
    if (type == IMREC_IMAGE_UINT16) {
        memcpy(out, row, (size_t)n * sizeof(*row));
        return;
    }
    for (uint32_t x = 0; x < n; x++) {
        const int32_t whole = row[x];
        const float real = (float)row[x];
        if (type == IMREC_IMAGE_UINT8)
            out[x] = (uint8_t)row[x];
        else
            memcpy(out + (size_t)x * sizeof(whole),
                   type == IMREC_IMAGE_INT32 ? (const void *)&whole : &real, sizeof(whole));
    }
}

/* Of values that do not all fit into a byte the first that does not. */
static bool find_large(const uint16_t *row, uint32_t n, uint16_t *found)
{
    uint16_t all = 0;
    for (uint32_t x = 0; x < n; x++)
        all |= row[x];
    for (uint32_t x = 0; all > UINT8_MAX && x < n; x++)
        if (row[x] > UINT8_MAX) {
            *found = row[x];
            return true;
        }
    return false;
}

static size_t size_of(enum imrec_image_type type)
{
    return type == IMREC_IMAGE_UINT8 ? 1 : type == IMREC_IMAGE_UINT16 ? 2 : 4;
}

bool map_write(const struct path_mask *way, enum imrec_image_type type, void *slot,
               uint16_t *too_large)
{
    const uint32_t width = way->path->width;
    uint16_t span[SPAN];
    uint8_t *out = slot;
    for (uint32_t y = 0; y < way->path->height; y++)
        for (uint32_t x = 0; x < width; x += SPAN) {
            const uint32_t n = width - x < SPAN ? width - x : SPAN;
            path_mask_row(way, x, y, n, span);
            if (type == IMREC_IMAGE_UINT8 && find_large(span, n, too_large))
                return false;
            store(type, span, n, out);
            out += n * size_of(type);
        }
    return true;
}
