/* formats/set/mean_image.h - MXNet's mean_img file: one float32 array, C x H x W.
 * docs/formats/mean_image.md is the specification. */
#ifndef IMREC_FORMATS_SET_MEAN_IMAGE_H
#define IMREC_FORMATS_SET_MEAN_IMAGE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

#define MEAN_IMAGE_MAX_SIDE 65535u

struct mean_image { /* a view into the file */
    uint32_t channels, height, width;
    struct bytes values; /* channels * height * width little-endian floats, maybe unaligned */
};

/* Checks every field and value; `name` is the file's, for messages. */
IMREC_NODISCARD enum imrec_status mean_image_read(const char *name, struct bytes file,
                                                  struct mean_image *out, struct imrec_error *err);
/* All values into out[channels * height * width]. */
void mean_image_values(const struct mean_image *m, float *out);

/* Appends the whole file. */
IMREC_NODISCARD enum imrec_status mean_image_write(struct buf *out, const float *values,
                                                   uint32_t channels, uint32_t height,
                                                   uint32_t width, struct imrec_error *err);
#endif
