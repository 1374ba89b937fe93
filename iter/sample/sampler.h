/* iter/sample/sampler.h - one compressed image into a slot, or several: what a worker owns and does
 * for it. */
#ifndef IMREC_ITER_SAMPLE_SAMPLER_H
#define IMREC_ITER_SAMPLE_SAMPLER_H

#include "augment/draw/det_draw.h"
#include "augment/normalize/normalize.h"
#include "augment/resize/resize.h"
#include "augment/steps.h"
#include "codec/codec.h"
#include "iter/options/view_kinds.h"
#include "iter/sample/headroom.h"
#include "iter/sample/planes.h"

/* An image to be made of a sample, and where. */
struct sampler_view {
    uint32_t kind; /* its shape: of those that the sampler was begun with */
    void *slot;
    struct det_label label;           /* moved with the image, where there are boxes */
    uint32_t *numbers;                /* room for those of the label; NULL: no instance masks */
    struct paint_sample sample;       /* its key says which of the sample's images it is */
    struct targets targets;           /* what moves with it, where sample.targets is this */
    struct imrec_place *place;        /* out; NULL: nobody wants it */
    void *mask_slot;                  /* NULL: no masks */
    const struct mosaic_draw *mosaic; /* the image is its canvas; NULL: it is a single image */
    const struct mask *canvas_mask;   /* of that canvas; NULL: no masks */
    bool drawn;                       /* `draw` is given: that of another image of the sample */
    struct imrec_draw draw;           /* out */
};

struct sampler_kind { /* images of one shape */
    const struct recipe *recipe;
    struct normalize_job jobs[2]; /* not mirrored, mirrored */
};

struct sampler {
    const struct augment_options *options; /* borrowed; what all kinds have in common */
    struct headroom *headroom;             /* borrowed */
    struct sampler_kind *kinds;
    uint32_t most; /* images of a sample */
    struct codec *codec;
    struct resize_scratch *scratch;
    struct view_plan *plans; /* of `most` images */
    normalize_row_fn *row;
    struct image source[2];         /* what several images are made from, and turned upright */
    struct image images[2];         /* after each step, in turns */
    struct bytes mask_png;          /* of the sample made next; NULL: no masks */
    struct mask mask, moved[2];     /* decoded, and shown to augmenters of the user's */
    float *mean;                    /* a moved mean image; NULL: not needed yet */
    uint64_t decode_ns, augment_ns; /* of the sample made last */
    uint32_t width, height;         /* of its image, upright, px */
    uint32_t orientation;           /* that it is stored in */
    uint64_t held;                  /* bytes that its caller holds for it: part of its claim */
};

static inline const struct recipe *recipe_of(const struct sampler *p, const struct sampler_view *v)
{
    return p->kinds[v->kind].recipe;
}

/* mean_image may be NULL; it, the views' kinds and the headroom must outlive the sampler. `stream`:
 * the batch is larger than the caches. */
IMREC_NODISCARD enum imrec_status sampler_init(struct sampler *p, const struct view_kinds *views,
                                               struct headroom *headroom, const float *mean_image,
                                               bool stream, struct imrec_error *err);
void sampler_free(struct sampler *p); /* zeroed memory is fine */

/* Decodes `image` once, as little of it as all views need, and turns, augments, crops, mirrors and
 * normalizes it into the slot of each. */
IMREC_NODISCARD enum imrec_status sampler_make(struct sampler *p, struct bytes image,
                                               struct sampler_view *views, uint32_t n,
                                               struct imrec_error *err);
/* The same in two steps: looks at the image, which sets width, height and orientation of *p ... */
IMREC_NODISCARD enum imrec_status sampler_look(struct sampler *p, struct bytes image,
                                               struct imrec_image_info *info,
                                               struct imrec_error *err);
/* ... and makes it. */
IMREC_NODISCARD enum imrec_status
sampler_make_seen(struct sampler *p, const struct imrec_image_info *info,
                  struct sampler_view *views, uint32_t n, struct imrec_error *err);
/* What sampler_make() is going to ask of the codec, for codec_decode_together(): begins the image
 * there. Where that cannot be said *out stays as it is. */
void sampler_foresee(struct sampler *p, struct bytes image, struct sampler_view *views, uint32_t n,
                     struct codec_wish *out);
/* Pixels, of the channels of the views: as sampler_look(), to be followed by sampler_make_seen().
 * They must stay until then. */
IMREC_NODISCARD enum imrec_status
sampler_look_at_pixels(struct sampler *p, const struct imrec_image *pixels,
                       struct imrec_image_info *info, struct imrec_error *err);
/* The same for an image that is decoded already. Values that are no pixels (whole numbers from 0
 * to 255) can be cropped, mirrored and normalized to float32; more is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
sampler_make_decoded(struct sampler *p, const struct planes *image, struct sampler_view *views,
                     uint32_t n, struct imrec_error *err);
/* One of the two: `image`, where `decoded` has no values (p is NULL). */
IMREC_NODISCARD enum imrec_status
sampler_make_either(struct sampler *p, struct bytes image, const struct planes *decoded,
                    struct sampler_view *views, uint32_t n, struct imrec_error *err);
#endif
