/* base/mask.h - what each pixel of an image is: values of up to 16 bits that a worker owns and
 * uses again. */
#ifndef IMREC_BASE_MASK_H
#define IMREC_BASE_MASK_H

#include "base/image.h"

struct mask {
    uint32_t width, height; /* px */
    uint32_t bits;          /* 8 or 16: what the largest value may need */
    uint16_t *values;       /* dense rows */
    size_t capacity;        /* bytes */
};

/* Makes room, contents undefined; sizes are overflow-checked. */
IMREC_NODISCARD enum imrec_status
mask_resize_buffer(struct mask *m, uint32_t width, uint32_t height, struct imrec_error *err);
void mask_free(struct mask *m); /* zeroed memory is fine */
#endif
