/* augment/normalize.h - the fused kernel: one row of pixels -> mirrored, normalized values of a
 * slot. Variants (scalar, avx2, avx512) stand in one table; all equal bit for bit. */
#ifndef IMREC_AUGMENT_NORMALIZE_H
#define IMREC_AUGMENT_NORMALIZE_H

#include "imrec/image.h"

#include <stddef.h>

struct normalize_job {
    uint32_t width, height;  /* of the slot, px */
    uint32_t channels;       /* of source and slot: 1, 3, 4 */
    struct imrec_normalize how;
    float gain[4];           /* scale / std, float32; filled by normalize_prepare() */
    int32_t shift[4];        /* round(mean) for int8 */
    void *out;               /* the slot */
};

/* Checks and fills the derived fields. */
IMREC_NODISCARD enum imrec_status normalize_prepare(struct normalize_job *job,
                                                    struct imrec_error *err);

/* Writes row y (0 <= y < height) of the slot; src is the first pixel of that row of the crop.
 * Reads no byte past the row's width * channels. */
typedef void normalize_row_fn(const struct normalize_job *job, const uint8_t *src, uint32_t y);

struct normalize_variant {
    const char *name;
    normalize_row_fn *row;
    bool (*supported)(void);
};
extern const struct normalize_variant normalize_variants[]; /* best first, scalar last */
extern const size_t normalize_variant_count;

/* The best variant of this CPU; IMREC_CPU=<name> in the environment pins one. */
normalize_row_fn *normalize_row(void);

/* bytes of one value */
size_t dtype_size(enum imrec_dtype dtype);
#endif
