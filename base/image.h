/* base/image.h - pixels that a worker owns and uses again. */
#ifndef IMREC_BASE_IMAGE_H
#define IMREC_BASE_IMAGE_H

#include "imrec/image.h"

/* The longest side that anything makes of an image, px: JPEG's limit. */
enum { IMAGE_MOST_SIDE = 65500 };

struct image {
    struct imrec_image view; /* of the memory below, rows dense */
    size_t capacity;         /* bytes */
};

/* An image that is stored decoded. */
struct planes { /* channel after channel, rows from the top; little-endian, maybe unaligned */
    const uint8_t *p;
    bool is_double; /* else float */
    uint32_t channels, height, width;
    size_t stride; /* not 0: these are bytes, interleaved, and rows so far apart */
};

/* Makes room for width x height x channels, contents undefined; sizes are overflow-checked. */
IMREC_NODISCARD enum imrec_status image_resize_buffer(struct image *i, uint32_t width,
                                                      uint32_t height, uint32_t channels,
                                                      struct imrec_error *err);
/* Whether an image of that size may be made: its sides, and its pixels (negative: any number). */
bool image_is_within(uint64_t width, uint64_t height, int64_t max_pixels);
void image_free(struct image *i); /* zeroed memory is fine */
#endif
