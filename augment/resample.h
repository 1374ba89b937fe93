/* augment/resample.h - the packer's resampling: separable, antialiased (the filter widens with
 * the shrink factor), fixed point, SIMD variants equal to the scalar bit for bit. */
#ifndef IMREC_AUGMENT_RESAMPLE_H
#define IMREC_AUGMENT_RESAMPLE_H

#include "augment/resize.h"

/* Resamples all of `from` to to_width x to_height. Quality at least that of OpenCV's area when
 * shrinking and bilinear when enlarging. */
IMREC_NODISCARD enum imrec_status resample(const struct imrec_image *from, uint32_t to_width,
                                           uint32_t to_height, struct image *to,
                                           struct resize_scratch *scratch, struct imrec_error *err);
#endif
