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
#endif
