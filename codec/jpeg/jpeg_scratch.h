/* codec/jpeg/jpeg_scratch.h - a buffer that is kept from image to image, unless it is large. */
#ifndef IMREC_CODEC_JPEG_JPEG_SCRATCH_H
#define IMREC_CODEC_JPEG_JPEG_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCRATCH_KEPT_BYTES = 4 << 20, /* of each, between images */
    SCRATCH_ALIGNMENT = 64,
};

struct scratch {
    uint8_t *p;
    size_t bytes;
};

/* Room for that number of bytes; where there was less, what it held is lost. False: no memory. */
bool scratch_reserve(struct scratch *s, size_t bytes);
/* Its first aligned byte: to be reserved with SCRATCH_ALIGNMENT bytes more. */
void *scratch_aligned(const struct scratch *s);
void scratch_trim(struct scratch *s); /* after an image: lets a large one go */
void scratch_drop(struct scratch *s);
#endif
