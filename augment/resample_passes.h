/* augment/resample_passes.h - the inner loops of the packer's resampling, and what they read. */
#ifndef IMREC_AUGMENT_RESAMPLE_PASSES_H
#define IMREC_AUGMENT_RESAMPLE_PASSES_H

#include "augment/resample.h"
#include "augment/scratch.h"
#include "base/cpu.h"

enum {
    RESAMPLE_ONE = 1 << 14, /* what the weights of a place sum up to */
    RESAMPLE_Y_SHIFT = 8,   /* a row between the passes keeps 6 bits behind the point */
    RESAMPLE_X_SHIFT = 20,
    RESAMPLE_GROUP = 4, /* taps come in whole groups; those that fill up weigh nothing */
};

struct resample_axis {
    uint32_t from, to, taps;
    uint32_t *first;  /* of each place: its first pixel */
    int16_t *weights; /* of each place: taps of them */
};
/* Taps of one row of the result: source rows from `rows` on. */
struct resample_column {
    const uint8_t *rows;
    size_t stride;
    const int16_t *weights;
    uint32_t taps;
};

/* n values of a row. */
typedef void resample_y_fn(const struct resample_column *c, size_t n, int16_t *out);
/* A whole row; a group of taps past its end is readable. */
typedef void
resample_x_fn(const struct resample_axis *a, const int16_t *row, uint32_t channels, uint8_t *out);
resample_y_fn resample_y_scalar, resample_y_avx2;
resample_x_fn resample_x_scalar, resample_x_avx2;

/* What is left of a row: from value or pixel `begin` on. */
void resample_y_values(const struct resample_column *c, size_t begin, size_t n, int16_t *out);
void resample_x_pixels(const struct resample_axis *a, const int16_t *row, uint32_t channels,
                       uint32_t begin, uint8_t *out);

/* resample() by the variants of `level`. */
IMREC_NODISCARD enum imrec_status
resample_at(const struct imrec_image *from, uint32_t to_width, uint32_t to_height, struct image *to,
            struct resize_scratch *scratch, enum cpu_level level, struct imrec_error *err);
#endif
