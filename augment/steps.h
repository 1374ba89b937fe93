/* augment/steps.h - the way of an image from the decoder to the crop of data_shape, as steps that
 * each make only the window that the next one needs; and what is done to its colours. */
#ifndef IMREC_AUGMENT_STEPS_H
#define IMREC_AUGMENT_STEPS_H

#include "augment/draw/draw.h"
#include "augment/geometry/pad.h"
#include "augment/geometry/warp.h"
#include "augment/resize/pillow.h"
#include "augment/resize/resample.h"
#include "augment/targets.h"

enum step_kind { STEP_RESIZE, STEP_RESAMPLE, STEP_PILLOW, STEP_WARP, STEP_PAD, STEP_CROP };

struct step {
    enum step_kind kind;
    union {
        struct resize_job resize;
        struct {
            uint32_t from_width, from_height;
            struct resample_job job;
        } resample;
        struct pillow_job pillow;
        struct warp_job warp;
        struct pad_job pad;
        struct imrec_rect crop; /* costs nothing: the step before it makes no more than this */
    } u;
    struct imrec_rect window; /* of the result, that is wanted */
};

enum { MAX_STEPS = 7 }; /* resize, warp, border, two passes to cover the crop, crop, resize */

struct steps {
    uint32_t n; /* without crops: each makes an image of its own */
    struct step step[MAX_STEPS];
    uint32_t shift_at;         /* steps before steps_shift() */
    struct imrec_rect upright; /* region of the upright image that all begins with */
};

/* The steps of a draw for an upright image of width x height px. */
void steps_plan(struct steps *s, const struct recipe *r, const struct imrec_draw *d, uint32_t width,
                uint32_t height);

/* How much smaller than it is a decoder may make the image: 2, 4 or 8, where the first step is an
 * antialiased resize that shrinks what it takes at least by that both ways; else 1. */
uint32_t steps_denominator(const struct steps *s);
/* The same steps for the image made smaller by 1/denominator, its sides rounded up. left, top: how
 * much of the image as it was, in px, that lets come before its first column and row: nothing,
 * unless it is stored mirrored. */
void steps_scale(struct steps *s, uint32_t denominator, uint32_t left, uint32_t top);

/* Whether all that a draw makes of such an image on its way to the crop is within bounds
 * (image_is_within()); d NULL: what resize makes of it, which is to be known before anything is
 * drawn. data_shape is the user's own. IMREC_ERR_LIMIT otherwise; nothing was allocated. */
IMREC_NODISCARD enum imrec_status steps_check(const struct recipe *r, const struct imrec_draw *d,
                                              uint32_t width, uint32_t height, int64_t max_pixels,
                                              struct imrec_error *err);

/* Where the pixels of such an image go by these steps: up to the slot, not mirrored. */
void steps_path(struct path *path, const struct recipe *r, const struct imrec_draw *d,
                uint32_t width, uint32_t height);

/* Bytes that the results of all steps take together, at most. */
uint64_t steps_bytes(const struct steps *s, uint32_t channels);
/* And of the scratch, which is given back only when it is asked for. */
uint64_t steps_scratch_claim(const struct steps *s, uint32_t channels);

/* *to becomes the window of the step, made of its source's region `from`. */
IMREC_NODISCARD enum imrec_status step_run(const struct step *step, const struct imrec_image *from,
                                           struct image *to, struct resize_scratch *scratch,
                                           struct imrec_error *err);

/* Shifts of colours of images with boxes: before what is filled. In place. */
void steps_shift(const struct recipe *r, const struct imrec_draw *d, const struct imrec_image *p);

/* Facts for the user's augmenters, besides the image. */
struct paint_sample {
    struct sample_key key;
    float *labels; /* or NULL */
    uint32_t label_count;
    struct targets *targets; /* what moves with the image; NULL: nothing does */
};

/* All that is not planned geometry, in the order of the recipe. The image is images[*at]; the
 * other one is room, and may become the image. `sample` may be NULL without augmenters of the
 * user's; AugMix then draws for a key of zeros. */
IMREC_NODISCARD enum imrec_status
steps_paint(const struct recipe *r, const struct imrec_draw *d, const struct paint_sample *sample,
            struct image images[2], uint32_t *at, struct resize_scratch *scratch,
            struct imrec_error *err);
#endif
