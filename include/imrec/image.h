/* imrec/image.h - pixels: views, resize, crop + mirror + normalize, orientation. */
#ifndef IMREC_IMAGE_H
#define IMREC_IMAGE_H

#include "imrec/error.h"
#include "imrec/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points at 8-bit interleaved pixels; channels are grey, or R, G, B, or R, G, B, A. */
struct imrec_image {
    uint8_t *pixels;        /* top-left; row y begins at pixels + y * stride */
    size_t stride;          /* bytes from one row to the next, >= width * channels */
    uint32_t width, height; /* px */
    uint32_t channels;      /* 1, 3 or 4 */
};

struct imrec_rect {
    uint32_t x, y, width, height; /* px */
};

/* How pixels become values of a slot: value = (x - mean[c]) * (scale / std[c]), float32, with one
 * rounding after each operation. float16 and bfloat16 round that to nearest even, int8 saturates
 * x - round(mean), uint8 takes x. */
struct imrec_normalize {
    float mean[4], std[4], scale;
    const float *mean_image; /* C x H x W of the slot, not mirrored; NULL: mean[] is used */
    enum imrec_dtype dtype;
    enum imrec_layout layout;
    bool mirror;
};

/* Resizes `from` to the size of `to` (same channel count, no overlap); inter_method 0 nearest,
 * 1 bilinear, 2 cubic, 3 area, 4 Lanczos, with the arithmetic of OpenCV 3.4
 * (docs/guide/resampling.md). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_image_resize(const struct imrec_image *from, const struct imrec_image *to, int inter_method,
                   struct imrec_error *err);

/* Crops `crop` from `from`, mirrors and normalizes it, and writes crop.width * crop.height *
 * channels values of `how->dtype`, dense in `how->layout`, to `out`. Any alignment is allowed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_image_crop_normalize(const struct imrec_image *from, struct imrec_rect crop,
                           const struct imrec_normalize *how, void *out, struct imrec_error *err);

/* Mirrors the image left-right in place. */
IMREC_API void imrec_image_mirror(const struct imrec_image *image);

#ifdef __cplusplus
}
#endif
#endif
