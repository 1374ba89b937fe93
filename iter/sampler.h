/* iter/sampler.h - one compressed picture into a slot: what a worker owns and does for it. */
#ifndef IMREC_ITER_SAMPLER_H
#define IMREC_ITER_SAMPLER_H

#include "augment/det_draw.h"
#include "augment/normalize.h"
#include "augment/resize.h"
#include "augment/steps.h"
#include "codec/codec.h"
#include "iter/headroom.h"
#include "iter/planes.h"

struct sampler {
    const struct imrec_iter_options *options; /* borrowed */
    const struct recipe *recipe;              /* borrowed, of these options */
    struct headroom *headroom;                /* borrowed */
    struct codec *codec;
    struct resize_scratch *scratch;
    struct det_label *label;      /* of the picture made next, which moves it; NULL: no boxes */
    struct paint_sample sample;   /* of the picture made next; the key is set here */
    struct normalize_job jobs[2]; /* not mirrored, mirrored */
    normalize_row_fn *row;
    struct image images[2];         /* of the region, and of each step after it, in turns */
    float *mean;                    /* a moved mean image; NULL: not needed yet */
    uint64_t decode_ns, augment_ns; /* of the picture made last */
};

/* mean_image may be NULL; it, the recipe and the headroom must outlive the sampler. `stream`: the
 * batch is larger than the caches. */
IMREC_NODISCARD enum imrec_status sampler_init(struct sampler *p, const struct recipe *recipe,
                                               struct headroom *headroom, const float *mean_image,
                                               bool stream, struct imrec_error *err);
void sampler_free(struct sampler *p); /* zeroed memory is fine */
uint64_t sampler_memory(const struct sampler *p);

/* Decodes, turns, augments, crops, mirrors and normalizes `image` into `slot`. */
IMREC_NODISCARD enum imrec_status sampler_make(struct sampler *p, struct bytes image,
                                               struct sample_key key, void *slot,
                                               struct imrec_draw *draw, struct imrec_error *err);
/* The same for a picture that is decoded already. Values that are no pixels (whole numbers from 0
 * to 255) can be cropped, mirrored and normalized to float32; more is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
sampler_make_decoded(struct sampler *p, const struct planes *picture, struct sample_key key,
                     void *slot, struct imrec_draw *draw, struct imrec_error *err);
#endif
