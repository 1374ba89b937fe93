/* augment/normalize/normalize.h - the fused kernel: one row of pixels -> mirrored, normalized
 * values of a slot. Variants (scalar, avx2, avx512, neon) are in
 * augment/normalize/normalize_kernels.h; all equal bit for bit. */
#ifndef IMREC_AUGMENT_NORMALIZE_NORMALIZE_H
#define IMREC_AUGMENT_NORMALIZE_NORMALIZE_H

#include "imrec/image.h"

#include <stddef.h>

/* Values one after another, as a vector sees them: NCHW: 16 of each channel; NHWC: those of 16
 * pixels. */
enum { NORMALIZE_LANES = 64 };

/* How the bytes of a block of pixels become its values: value i of the block is byte from[i] of
 * its source, mirrored or not. Two windows of 16 bytes for shuffles that see no more. */
struct normalize_picks {
    uint8_t wide[NORMALIZE_LANES];   /* 16 pixels */
    uint8_t first[NORMALIZE_LANES];  /* 8 pixels: byte of the first 16, or 0x80 */
    uint8_t second[NORMALIZE_LANES]; /* byte of those from normalize_second_window() on, or 0x80 */
};

struct normalize_job {
    uint32_t width, height;     /* of the slot, px */
    uint32_t channels;          /* of source and slot: 1, 3, 4 */
    struct imrec_normalize how; /* borrowed: mean_image */
    void *out;                  /* the slot; may change without preparing again */
    bool stream;                /* write around the caches: for batches larger than they are */
    bool flip;                  /* row y goes to row height - 1 - y of the slot */
    /* filled by normalize_prepare(): */
    float gain[4];    /* scale / std, float32 */
    int32_t shift[4]; /* round(mean) for int8 */
    float lane_mean[NORMALIZE_LANES], lane_gain[NORMALIZE_LANES];
    int32_t lane_shift[NORMALIZE_LANES];
    struct normalize_picks picks;
};

/* Checks and fills the derived fields. */
IMREC_NODISCARD enum imrec_status
normalize_prepare(struct normalize_job *job, struct imrec_error *err);

/* Writes row y (0 <= y < height) into the slot; src is the first pixel of that row of the crop.
 * Reads no byte past the row's width * channels, writes none outside the row's values. */
typedef void normalize_row_fn(const struct normalize_job *job, const uint8_t *src, uint32_t y);

/* The best variant of this CPU; IMREC_CPU=<name> in the environment pins one. */
normalize_row_fn *normalize_row(void);

/* After the last row of an image, before another thread may look at the slot: what went around
 * the caches is ordered before what follows. */
void normalize_finish(const struct normalize_job *job);

/* Writes one value of a slot, rounded; whole numbers from -128 to 255 are those of the bytes. */
void normalize_put(enum imrec_dtype dtype, float value, void *out);

/* bytes of one value */
size_t dtype_size(enum imrec_dtype dtype);
static inline bool dtype_is_real(enum imrec_dtype dtype)
{
    return dtype == IMREC_FLOAT32 || dtype == IMREC_FLOAT16 || dtype == IMREC_BFLOAT16;
}

normalize_row_fn normalize_row_scalar, normalize_row_avx2, normalize_row_avx512, normalize_row_neon;

/* Where row y goes. */
static inline size_t normalize_slot_row(const struct normalize_job *j, uint32_t y)
{
    return j->flip ? j->height - 1 - y : y;
}

/* Mean images have vector rows where they lie as the slot does and values are real. */
static inline bool normalize_image_is_fast(const struct normalize_job *j)
{
    return j->how.layout == IMREC_NCHW && j->how.dtype != IMREC_INT8;
}

/* Rows of whole, aligned cache lines of float32 can go around the caches. */
static inline bool normalize_streams(const struct normalize_job *j)
{
    return j->stream && (uintptr_t)j->out % 64 == 0 && j->width % 16 == 0;
}

/* Where the second window of 16 bytes begins in a block of 8 pixels. */
static inline uint32_t normalize_second_window(uint32_t channels)
{
    return channels == 3 ? 8 : 16;
}
#endif
