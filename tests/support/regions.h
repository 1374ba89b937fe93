/* tests/support/regions.h - regions of an image by chance, small ones often. */
#ifndef IMREC_TESTS_REGIONS_H
#define IMREC_TESTS_REGIONS_H

#include "imrec/image.h"
#include "tests/support/images.h"

static inline struct imrec_rect pick_region(uint64_t *state, uint32_t width, uint32_t height)
{
    struct imrec_rect r;
    r.width = 1 + pick(state, pick(state, 3) == 0 ? (width < 9 ? width : 9) : width);
    r.height = 1 + pick(state, pick(state, 3) == 0 ? (height < 9 ? height : 9) : height);
    r.x = pick(state, width - r.width + 1);
    r.y = pick(state, height - r.height + 1);
    return r;
}

/* Large ones as often as small ones; one time in `whole` it is all of the image. */
static inline struct imrec_rect
any_region(uint64_t *state, uint32_t width, uint32_t height, uint32_t whole)
{
    struct imrec_rect r = {pick(state, width), pick(state, height), 0, 0};
    r.width = 1 + pick(state, width - r.x);
    r.height = 1 + pick(state, height - r.y);
    return pick(state, whole) != 0 ? r : (struct imrec_rect){0, 0, width, height};
}
#endif
