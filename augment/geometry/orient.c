/* augment/geometry/orient.c - images turned upright by their EXIF orientation. */
#include "augment/geometry/orient.h"

#include "base/error.h"

#include <string.h>

enum { BLOCK = 32 }; /* px: a block of either image stays in the first cache */

/* How to walk the source while the result is written from left to right, top to bottom. */
struct walk {
    const uint8_t *start;
    ptrdiff_t right, down; /* bytes of the source for one step in the result */
};

static struct walk walk_of(uint32_t o, const struct imrec_image *from)
{
    const ptrdiff_t px = from->channels, row = (ptrdiff_t)from->stride;
    const ptrdiff_t column_step = orient_flips_column(o) ? -px : px;
    const ptrdiff_t row_step = orient_flips_row(o) ? -row : row;
    const uint8_t *start = from->pixels;
    if (orient_flips_column(o))
        start += (size_t)(from->width - 1) * from->channels;
    if (orient_flips_row(o))
        start += (size_t)(from->height - 1) * from->stride;
    return orient_swaps(o) ? (struct walk){start, row_step, column_step}
                           : (struct walk){start, column_step, row_step};
}

/* `channels` is a constant where this is called. */
static inline __attribute__((always_inline)) void
copy_block(const struct walk *w, const struct imrec_image *to, uint32_t x0, uint32_t y0,
           uint32_t channels)
{
    const uint32_t x1 = to->width - x0 < BLOCK ? to->width : x0 + BLOCK;
    const uint32_t y1 = to->height - y0 < BLOCK ? to->height : y0 + BLOCK;
    for (uint32_t y = y0; y < y1; y++) {
        uint8_t *out = to->pixels + y * to->stride + (size_t)x0 * channels;
        const uint8_t *in = w->start + (ptrdiff_t)y * w->down + (ptrdiff_t)x0 * w->right;
        for (uint32_t x = x0; x < x1; x++, out += channels, in += w->right)
            memcpy(out, in, channels);
    }
}

static void copy_all(const struct walk *w, const struct imrec_image *to)
{
    for (uint32_t y = 0; y < to->height; y += BLOCK)
        for (uint32_t x = 0; x < to->width; x += BLOCK) {
            if (to->channels == 3)
                copy_block(w, to, x, y, 3);
            else if (to->channels == 1)
                copy_block(w, to, x, y, 1);
            else
                copy_block(w, to, x, y, 4);
        }
}

enum imrec_status orient_image(uint32_t orientation, const struct imrec_image *from,
                               struct image *to, struct imrec_error *err)
{
    if (orientation < 1 || orientation > 8)
        return IMREC_REFUSE(err, "an EXIF orientation is 1..8, not %u", orientation);
    const bool swaps = orient_swaps(orientation);
    IMREC_TRY(image_resize_buffer(to, swaps ? from->height : from->width,
                                  swaps ? from->width : from->height, from->channels, err));
    const struct walk w = walk_of(orientation, from);
    copy_all(&w, &to->view);
    return IMREC_OK;
}
