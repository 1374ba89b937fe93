/* augment/geometry/warp.h - affine warps as OpenCV 3.4 does them, and projective ones of the same
 * arithmetic, of a window of the result. */
#ifndef IMREC_AUGMENT_GEOMETRY_WARP_H
#define IMREC_AUGMENT_GEOMETRY_WARP_H

#include "augment/resize/resize.h"
#include "base/cpu.h"

#include <string.h>

/* A warp of which only `window` (of the result) is wanted; area means bilinear. */
struct warp_job {
    uint32_t from_width, from_height; /* of the whole source image */
    uint32_t to_width, to_height;     /* of the whole result */
    struct imrec_rect window;         /* of the result */
    float matrix[6];                  /* forward: x' = m0 x + m1 y + m2, y' = m3 x + m4 y + m5 */
    enum resize_method method;
    uint8_t fill[4]; /* of each channel, where the source does not reach */
    float tilt[2];   /* x' and y' are divided by 1 + t0 x + t1 y; zeros: affine */
};

/* Its nine numbers: augment/geometry/projection.h. */
static inline void warp_projection(const float matrix[6], const float tilt[2], double m[9])
{
    for (int i = 0; i < 6; i++)
        m[i] = (double)matrix[i];
    m[6] = (double)tilt[0], m[7] = (double)tilt[1], m[8] = 1;
}

/* The part of the source that the window's pixels are made from, at least one pixel. */
struct imrec_rect warp_source_region(const struct warp_job *job);

/* `from` holds that part of the source; *to becomes the window. Bit-identical to warping the whole
 * image and cropping. */
IMREC_NODISCARD enum imrec_status
warp_window(const struct warp_job *job, const struct imrec_image *from, struct image *to,
            struct resize_scratch *scratch, struct imrec_error *err);

/* ---- inside ------------------------------------------------------------------------------- */

/* Source places have 10 bits after the point; blending uses 5 of them. */
enum { WARP_BITS = 10, WARP_FRACTION_BITS = 5, WARP_FRACTIONS = 1 << WARP_FRACTION_BITS };

/* What a place gets before what does not count is cut off. */
static inline int32_t warp_rounding(uint32_t taps)
{
    return taps == 1 ? 1 << (WARP_BITS - 1) : 1 << (WARP_BITS - WARP_FRACTION_BITS - 1);
}

/* A row of the window, under way. */
struct warp_row {
    const int32_t *u, *v; /* of each pixel: its share of the place */
    int32_t u0, v0;       /* the row's share */
    uint32_t width;       /* pixels */
    const uint8_t *from;  /* the source's region; (0, 0) of the image may lie outside */
    size_t stride;
    int32_t x0, y0, x1, y1; /* the region [x0, x1) x [y0, y1) in the image */
    uint32_t channels;
    uint32_t taps;          /* 1, 2, 4, 8 */
    const int16_t *weights; /* [v fraction][u fraction][taps][taps], of 4 and 8 taps */
    uint8_t fill[4];
};
/* Whether a place in the region is an int32_t. */
static inline bool warp_fits_32_bits(const struct warp_row *r)
{
    return (uint64_t)(r->y1 - r->y0) * r->stride <= INT32_MAX;
}

/* Writes width * channels values. Reads no byte outside the region's rows. */
typedef void warp_row_fn(const struct warp_row *r, uint8_t *out);
warp_row_fn warp_row_scalar, warp_row_avx2, warp_row_avx512, warp_row_neon;

/* warp_window() into an image of the window's size, by the variants of `level`. */
IMREC_NODISCARD enum imrec_status
warp_window_into(const struct warp_job *job, const struct imrec_image *from,
                 const struct imrec_image *to, struct resize_scratch *scratch, enum cpu_level level,
                 struct imrec_error *err);

/* One pixel of a row, as the scalar does it. */
void warp_pixel(const struct warp_row *r, uint32_t x, uint8_t *out);
/* Pixels [from, to), at the border, or all outside of the image: `only_fill`. */
static inline void
warp_pixels(const struct warp_row *r, uint32_t from, uint32_t to, uint8_t *out, bool only_fill)
{
    for (uint32_t x = from; x < to; x++, out += r->channels) {
        if (only_fill)
            memcpy(out, r->fill, r->channels);
        else
            warp_pixel(r, x, out);
    }
}
#endif
