/* augment/resize/resample_passes.h - the inner loops of the packer's resampling, and what they
 * read. */
#ifndef IMREC_AUGMENT_RESIZE_RESAMPLE_PASSES_H
#define IMREC_AUGMENT_RESIZE_RESAMPLE_PASSES_H

#include "augment/resize/resample.h"
#include "augment/resize/scratch.h"
#include "base/cpu.h"

#include <string.h>

enum {
    RESAMPLE_ONE = 1 << 14, /* what the weights of a place sum up to */
    RESAMPLE_X_SHIFT = 8,   /* a row between the passes keeps 6 bits after the point */
    RESAMPLE_Y_SHIFT = 20,
    RESAMPLE_GROUP = 4,   /* taps of a place along x come in whole groups, */
    RESAMPLE_PAIR = 2,    /* along y in pairs of rows, of which the first is even; */
                          /* those that fill up weigh nothing */
    RESAMPLE_SLACK = 128, /* bytes past a source row's end that may be read */
    RESAMPLE_BLOCK = 16,  /* values of a result that are made at once, out of */
    RESAMPLE_WINDOW = 64, /* this many bytes of the source */
};

/* An axis: of each place of the result, the first source pixel and the weights. */
struct resample_axis {
    uint32_t from, to, channels; /* px of the source, places of the table, bytes a pixel */
    uint32_t whole, begin;       /* px of the whole result, and which of them is the first place */
    struct resize_part part;     /* of the source */
    enum resample_filter filter;
    uint32_t taps; /* weights of a place that are stored */
    uint32_t *first;
    uint32_t *count; /* along y: of these, how many count */
    int16_t *weights;
    /* Along x, for the permutations of AVX-512: a block's window of the row (or, wide, two), the
     * bytes of it that are the values' four taps, and by group the weights: a window's size of
     * high parts, then of low parts (weight = 256 * high + low). No blocks: they do not fit. */
    uint32_t blocks;
    bool wide;
    uint32_t *window;
    uint8_t *picks;
    int8_t *parts;
};

/* The axis of rows, and that of the columns; from, to, whole, begin, part, filter and channels are
 * given. Tables are kept in *s, with those of the blocks if wanted. False: no memory. */
bool resample_axis_x(struct resample_axis *a, bool blocks, struct resize_scratch *s);
bool resample_axis_y(struct resample_axis *a, struct resize_scratch *s);
/* What their tables take, with blocks; sets a->taps. */
uint64_t resample_axis_bytes(struct resample_axis *a, bool y);

/* As one number, which may be at an odd place. */
static inline int32_t two_weights(const int16_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof(pair));
    return pair;
}

/* Two source rows -> the value of the one, that of the other, and so on along the result. May
 * write up to a block more. */
typedef void
resample_x_fn(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out);
/* n bytes of the result out of `pairs` such rows, each with two weights. The rows have whole
 * blocks of 64 values. */
typedef void resample_y_fn(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                           size_t n, uint8_t *out);
resample_x_fn resample_x_scalar, resample_x_avx2, resample_x_avx512, resample_x_neon;
resample_y_fn resample_y_scalar, resample_y_avx2, resample_y_avx512, resample_y_neon;

/* resample() by the variants of `level`. */
IMREC_NODISCARD enum imrec_status
resample_at(const struct imrec_image *from, uint32_t to_width, uint32_t to_height, struct image *to,
            struct resize_scratch *scratch, enum cpu_level level, struct imrec_error *err);
#endif
