/* iter/sample/planes.h - images that are decoded already: planes of values, as CNTK trains on. */
#ifndef IMREC_ITER_SAMPLE_PLANES_H
#define IMREC_ITER_SAMPLE_PLANES_H

#include "augment/normalize/normalize.h"
#include "base/image.h"
#include "imrec/types.h"

/* The shape of `values` values: data_shape where these are as many, else a square of as many
 * channels, or of one that stands for all. *out has no p yet. */
IMREC_NODISCARD enum imrec_status planes_shape(uint32_t values, const struct imrec_shape *wanted,
                                               struct planes *out, struct imrec_error *err);

/* The region as interleaved bytes of `channels`. IMREC_END: a value is no whole number from 0 to
 * 255. */
IMREC_NODISCARD enum imrec_status planes_to_bytes(const struct planes *in, struct imrec_rect region,
                                                  uint32_t channels, struct image *out,
                                                  struct imrec_error *err);
/* Crops, mirrors and normalizes values as they are: what the kernel makes of bytes, float32. */
void planes_to_slot(const struct planes *in, struct imrec_rect region,
                    const struct normalize_job *job);
#endif
