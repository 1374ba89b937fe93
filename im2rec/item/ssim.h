/* im2rec/item/ssim.h - how alike two images of luma are: the mean structural similarity of Wang,
 * Bovik, Sheikh and Simoncelli, "Image Quality Assessment: From Error Visibility to Structural
 * Similarity", IEEE Transactions on Image Processing 13(4), 2004.
 *
 * A Gaussian window of 11 x 11 px with deviation 1.5, K1 = 0.01, K2 = 0.03, L = 255; windows lie
 * wholly inside the image. Along a side below 11 px the window has as many px as the side. The
 * order of every operation is fixed, so that the result is the same on every processor. */
#ifndef IMREC_IM2REC_ITEM_SSIM_H
#define IMREC_IM2REC_ITEM_SSIM_H

#include "base/image.h"
#include "im2rec/item/ssim_kernels.h"

/* An image that others are compared with, and what is known of it. Zeroed at first. */
struct ssim {
    const struct ssim_kernels *kernels;
    uint32_t width, height;
    float *memory;
    size_t room;                      /* values in it */
    float *reference, *mean, *energy; /* a value a px; a value a window of both */
    float *rows, *line, *sums;
    float across[SSIM_WINDOW], down[SSIM_WINDOW]; /* weights; 0 where a side is shorter */
};

/* Values of memory that images of this size take. */
uint64_t ssim_values(uint32_t width, uint32_t height);
/* One channel; its pixels are not looked at later. */
IMREC_NODISCARD enum imrec_status
ssim_begin(struct ssim *s, const struct imrec_image *reference, struct imrec_error *err);
/* Of an image of the same size: 1 = equal. */
double ssim_of(struct ssim *s, const struct imrec_image *image);
void ssim_free(struct ssim *s);
#endif
