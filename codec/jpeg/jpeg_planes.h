/* codec/jpeg/jpeg_planes.h - samples of an image's MCU rows, and rows of pixels of a region made
 * from them: what a decoder fills, whatever order its coefficients come in.
 *
 * MCU rows go through a ring that holds two of them as planes of samples, or all: upsampled chroma
 * needs the row above and the row below. Of each MCU row only the columns around the region are
 * there; rows of pixels leave as soon as their neighbours are there. At the image's edges
 * (of its real samples, not of the padding in its last blocks) samples are repeated, as
 * libjpeg-turbo does. */
#ifndef IMREC_CODEC_JPEG_JPEG_PLANES_H
#define IMREC_CODEC_JPEG_JPEG_PLANES_H

#include "codec/jpeg/baseline.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/geometry.h"
#include "codec/jpeg/jpeg_scratch.h"
#include "codec/jpeg/kernels/jpeg_kernels.h"

struct jpeg_planes {
    const struct frame *frame;
    const struct baseline_request *request;
    const struct baseline_kernels *kernels; /* to be set once */
    idct_kernel *idct[MOST_COMPONENTS];     /* of the size of a component's blocks */
    struct geometry g;
    struct scratch samples;
    uint32_t next_row; /* of pixels, to be given */
};

/* Measures what `request` needs of an image, and makes room for its samples. False: no memory.
 * Both are looked at until the last row has been given. */
bool planes_begin(struct jpeg_planes *s, const struct frame *frame,
                  const struct baseline_request *request);
/* The same with room for all MCU rows that are needed, so that their blocks may come in any order.
 * False also where they take more than `most` bytes. */
bool planes_begin_all(struct jpeg_planes *s, const struct frame *frame,
                      const struct baseline_request *request, size_t most);
/* The restart intervals of the image that it was begun for, in these bytes of it. */
struct intervals planes_intervals(const struct jpeg_planes *s, struct bytes image);
/* Samples of blocks of a component. */
void planes_transform(const struct jpeg_planes *s, uint32_t component, const struct block_run *r);
/* The samples of MCU row `y` are there: gives all rows of pixels that can be made now. */
void planes_give(struct jpeg_planes *s, uint32_t y);

/* Bytes of samples of an image of this width, whose components have `down` rows of blocks in an
 * MCU together, maximum. */
uint64_t planes_claim(uint32_t width, uint32_t down);

/* Is one of the MCU rows or columns that a component is needed of. */
static inline bool span_holds(struct span s, uint32_t i)
{
    return i >= s.from && i < s.end;
}
#endif
