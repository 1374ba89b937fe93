/* base/image.h - pixels that a worker owns and uses again. */
#ifndef IMREC_BASE_IMAGE_H
#define IMREC_BASE_IMAGE_H

#include "imrec/image.h"

struct image {
    struct imrec_image view; /* of the memory below, rows dense */
    size_t capacity;         /* bytes */
};

/* Makes room for width x height x channels, contents undefined; sizes are overflow-checked. */
IMREC_NODISCARD enum imrec_status image_resize_buffer(struct image *i, uint32_t width,
                                                      uint32_t height, uint32_t channels,
                                                      struct imrec_error *err);
void image_free(struct image *i); /* zeroed memory is fine */
#endif
