/* augment/draw/det_recipe.h - what the options ask of images with boxes, read once. */
#ifndef IMREC_AUGMENT_DRAW_DET_RECIPE_H
#define IMREC_AUGMENT_DRAW_DET_RECIPE_H

#include "augment/draw/augment_options.h"

enum { DET_SAMPLERS = 32, DET_TRIALS = 10000 };

struct det_bounds {
    float low, high;
};

struct det_sampler {
    struct det_bounds scale, aspect;             /* of a crop */
    struct det_bounds overlap, sample, object;   /* that some box must have with it */
    bool asks_overlap, asks_sample, asks_object; /* less than everything will do */
    uint32_t trials;
};

struct det_recipe {
    bool on;     /* aug_seq=det_aug_default */
    bool shifts; /* of colours */
    uint32_t sampler_count;
    struct det_sampler samplers[DET_SAMPLERS];
};

/* Reads the lists of the samplers, refuses what contradicts and augmenters that would move pixels
 * without their boxes. */
IMREC_NODISCARD enum imrec_status
det_recipe_init(struct det_recipe *d, const struct augment_options *o, struct imrec_error *err);
/* Refuses affine moves, mosaics and pastes that are not asked for as they must be; `on`:
 * aug_seq=det_aug_default. */
IMREC_NODISCARD enum imrec_status
det_recipe_check_moves(const struct augment_options *o, bool on, struct imrec_error *err);
#endif
