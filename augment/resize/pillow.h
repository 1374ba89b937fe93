/* augment/resize/pillow.h - resizes with Pillow's arithmetic, bit for bit: antialiased, weights of
 * 22 bits, rounded to bytes after each of the two passes. */
#ifndef IMREC_AUGMENT_RESIZE_PILLOW_H
#define IMREC_AUGMENT_RESIZE_PILLOW_H

#include "augment/resize/resize.h"
#include "base/cpu.h"

struct pillow_job {
    uint32_t from_width, from_height, to_width, to_height; /* px */
    struct imrec_rect window;                              /* of the result, that is wanted */
    enum resize_method method; /* bilinear, cubic, area (Pillow's box), Lanczos (of 3 lobes) */
    struct resize_part x, y;   /* Pillow's resize(box=...) */
};

/* What the window is made from. */
struct imrec_rect pillow_source_region(const struct pillow_job *job);
/* `from` is that region. */
IMREC_NODISCARD enum imrec_status
pillow_window(const struct pillow_job *job, const struct imrec_image *from, struct image *to,
              struct resize_scratch *scratch, struct imrec_error *err);
/* Bytes of *scratch that it takes. */
uint64_t pillow_scratch_claim(const struct pillow_job *job, uint32_t channels);

/* ---- inside: kernels ---------------------------------------------------------------------- */

enum { PILLOW_BITS = 22, PILLOW_SLACK = 16 };

/* Of each place of an axis: the first source pixel, how many there are, and their weights. */
struct pillow_axis {
    uint32_t from, to, begin, count; /* px of source and whole result; the places of the table */
    struct resize_part part;
    enum resize_method method;
    uint32_t taps; /* weights of a place that are stored */
    const int32_t *first, *used, *weights;
};

/* A row of the window, of a source row that begins with the pixel a->first[0]. May read
 * PILLOW_SLACK bytes past the row's last pixel, and write as many past the window's. */
typedef void
pillow_x_fn(const struct pillow_axis *a, const uint8_t *row, uint32_t channels, uint8_t *out);
/* n bytes, out of `used` rows that are `stride` bytes apart. */
typedef void pillow_y_fn(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                         size_t n, uint8_t *out);
pillow_x_fn pillow_x_scalar, pillow_x_avx2, pillow_x_neon;
pillow_y_fn pillow_y_scalar, pillow_y_avx2, pillow_y_neon;

static inline uint8_t pillow_byte(int32_t sum)
{
    const int32_t v = sum >> PILLOW_BITS;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}
#endif
