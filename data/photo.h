/* data/photo.h - image number i of a set: what it shows, how large, how it is encoded. */
#ifndef IMREC_DATA_PHOTO_H
#define IMREC_DATA_PHOTO_H

#include "data/canvas.h"
#include "data/jpeg_writer.h"

struct photo {
    uint64_t seed;
    int scene;         /* index of scenes[] */
    int width, height; /* upright, px */
    struct jpeg_how jpeg;
};

/* The plan of image `number`, a pure function. `small`: about 96 px instead of 500. */
struct photo photo_plan(uint64_t seed, int number, bool small);

/* Its pixels, upright: 3 * width * height bytes, to be freed with imrec_free(); NULL without
 * memory. */
uint8_t *photo_render(const struct photo *p);

/* Its file, to be freed with imrec_free(); NULL without memory. */
uint8_t *photo_encode(const struct photo *p, const uint8_t *rgb, size_t *n);
#endif
