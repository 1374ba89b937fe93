/* augment/resize/resample.h - the packer's resampling, and the iterator's with antialias=1:
 * separable, antialiased (the filter widens with the shrink factor), fixed point, SIMD variants
 * equal to the scalar bit for bit. */
#ifndef IMREC_AUGMENT_RESIZE_RESAMPLE_H
#define IMREC_AUGMENT_RESIZE_RESAMPLE_H

#include "augment/resize/resize.h"

enum resample_filter {
    RESAMPLE_CUBIC,    /* Keys (1981), a = -1/2 */
    RESAMPLE_TRIANGLE, /* bilinear, where it enlarges */
};

/* Of a result of to_width x to_height px, a window; all of the source is needed. */
struct resample_job {
    uint32_t to_width, to_height;
    struct imrec_rect window;
    enum resample_filter filter;
    struct resize_part x, y;
};
IMREC_NODISCARD enum imrec_status
resample_window(const struct resample_job *job, const struct imrec_image *from, struct image *to,
                struct resize_scratch *scratch, struct imrec_error *err);

/* Bytes of *scratch that takes at most, of a source of that size. */
uint64_t resample_scratch_claim(const struct resample_job *job, uint32_t from_width,
                                uint32_t from_height, uint32_t channels);

/* Resamples all of `from` to to_width x to_height. Quality at least that of OpenCV's area when
 * shrinking and bilinear when enlarging. */
IMREC_NODISCARD enum imrec_status resample(const struct imrec_image *from, uint32_t to_width,
                                           uint32_t to_height, struct image *to,
                                           struct resize_scratch *scratch, struct imrec_error *err);
#endif
