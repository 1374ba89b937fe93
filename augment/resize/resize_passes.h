/* augment/resize/resize_passes.h - the inner loops of the resizes, which have SIMD variants in
 * augment/resize/resize_kernels.h, and the tables that they read. */
#ifndef IMREC_AUGMENT_RESIZE_RESIZE_PASSES_H
#define IMREC_AUGMENT_RESIZE_RESIZE_PASSES_H

#include "augment/resize/resize_axis.h"
#include "augment/resize/scratch.h"
#include "base/cpu.h"

struct resize_kernels;

/* For the permutations of AVX-512: 16 values at a time, out of 64 bytes of the row. */
enum { RESIZE_BLOCK = 16, RESIZE_WINDOW = 64 };
struct resize_blocks {
    uint32_t count;         /* 0: none, as windows are too narrow or the variant has no use */
    uint32_t safe;          /* this many windows, of all taps, end in the row */
    uint32_t taps;          /* by which a window moves a pixel further */
    uint32_t row_bytes;     /* none further is read */
    const uint32_t *window; /* bytes of the row */
    const uint8_t *picks;   /* of the window: four a value, of the first tap, 0, the second, 0 */
    const void *weights;    /* of a value's two taps as in linear_table, or float32 by tap */
};

/* Two taps a pixel. first[] and second[] are bytes of the row; weights[] holds the first's in
 * the low 16 bits, the second's in the high ones. For pixels before `vector` 8 bytes from
 * first[] on (4 with one channel) lie in the row and second[] is the next pixel. */
struct linear_table {
    const uint32_t *first, *second, *weights;
    uint32_t count, vector, channels;
    struct resize_blocks blocks;
};
/* out[] = (sum of the two >> 4): at most 32655. May write up to whole blocks, and at least 8 values
 * more. */
typedef void linear_x_fn(const struct linear_table *t, const uint8_t *row, int16_t *out);
/* out = ((b0 * t0 >> 16) + (b1 * t1 >> 16) + 2) >> 2, saturated, of n values. */
typedef void
linear_y_fn(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1, uint8_t *out, size_t n);

/* Many taps a pixel: the weights of pixel i are weights[begin[i]] to weights[begin[i + 1] - 1],
 * its first tap is at byte first[i] of the row. For pixels before `vector` the byte after the
 * last tap lies in the row. */
struct area_table {
    const uint32_t *first, *begin;
    const float *weights;
    uint32_t count, vector, channels;
    struct resize_blocks blocks;
};
/* May write up to whole blocks, and at least a value more. */
typedef void area_x_fn(const struct area_table *t, const uint8_t *row, float *out);
/* sum = weight * row, or with `add` sum + weight * row; n values, and up to 15 more. */
typedef void area_y_fn(float *sum, const float *row, float weight, bool add, size_t n);
/* To the nearest integer, ties to even, saturated. */
typedef void area_round_fn(const float *sum, uint8_t *out, size_t n);

/* (a + b + c + d + 2) >> 2 of 2 x 2 pixels; `width` pixels of the result. */
typedef void
half_fn(const uint8_t *row0, const uint8_t *row1, uint8_t *out, uint32_t width, uint32_t channels);

linear_x_fn linear_x_scalar, linear_x_avx2, linear_x_avx512, linear_x_neon;
linear_y_fn linear_y_scalar, linear_y_avx2, linear_y_avx512, linear_y_neon;
area_x_fn area_x_scalar, area_x_avx2, area_x_avx512, area_x_neon;
area_y_fn area_y_scalar, area_y_avx2, area_y_avx512, area_y_neon;
area_round_fn area_round_scalar, area_round_avx2, area_round_avx512, area_round_neon;
half_fn half_scalar, half_avx2, half_neon;

/* A resize under way: what the passes have in common. */
struct resize_run {
    const struct resize_job *job;
    enum resize_kind kind;
    struct resize_axis x, y;
    struct imrec_rect region;       /* of the source */
    const struct imrec_image *from; /* that region */
    const struct imrec_image *to;   /* the window */
    struct resize_scratch *scratch;
    const struct resize_kernels *kernels;
    enum cpu_level level;
};
static inline const uint8_t *run_row(const struct resize_run *r, uint32_t y) /* of the source */
{
    return r->from->pixels + (size_t)(y - r->region.y) * r->from->stride;
}
static inline uint8_t *run_out(const struct resize_run *r, uint32_t y) /* of the window */
{
    return r->to->pixels + (size_t)y * r->to->stride;
}

/* resize_window() into an image of the window's size, by the variants of `level`. */
IMREC_NODISCARD enum imrec_status
resize_window_into(const struct resize_job *job, const struct imrec_image *from,
                   const struct imrec_image *to, struct resize_scratch *scratch,
                   enum cpu_level level, struct imrec_error *err);

/* The blocks of a table: those of the pixels whose first taps are at bytes first[] (and the second
 * ones at second[], or NULL); none where the level has no use for them. False: no memory. The
 * weights are left to the caller, RESIZE_BLOCK of 4 bytes a tap: room for them is in *weights. */
bool resize_make_blocks(const struct resize_run *r, const uint32_t *first, const uint32_t *second,
                        uint32_t taps, struct resize_blocks *b, void **weights);

enum imrec_status run_linear(const struct resize_run *r, struct imrec_error *err);
enum imrec_status run_area(const struct resize_run *r, struct imrec_error *err);
enum imrec_status run_taps(const struct resize_run *r, struct imrec_error *err);
enum imrec_status run_area_whole(const struct resize_run *r, struct imrec_error *err);
#endif
