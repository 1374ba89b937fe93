/* augment/draw/recipe.h - what an iterator's options ask of the augmenters, read once. */
#ifndef IMREC_AUGMENT_DRAW_RECIPE_H
#define IMREC_AUGMENT_DRAW_RECIPE_H

#include "augment/draw/det_recipe.h"
#include "augment/draw/user_augmenter.h"

enum { RECIPE_ANGLES = 256, RECIPE_AUGMENTERS = 8, RECIPE_PAIRS = 512, RECIPE_STEPS = 64 };

/* What is done to the pixels of the crop, in the order of aug_default. */
enum paint {
    PAINT_OPS,    /* RandAugment, TrivialAugment */
    PAINT_LIGHTS, /* brightness, contrast, saturation */
    PAINT_HUE,
    PAINT_HLS,
    PAINT_PCA,
    PAINT_GREY,
    PAINT_BLUR,
    PAINT_SOLARIZE,
    PAINTS, /* and more: augmenters[paint - PAINTS] */
};

struct recipe {
    const struct augment_options *o; /* borrowed; its texts are not looked at again */
    bool warps;                      /* turning, shearing, scaling: an affine warp */
    bool random_crop_resized;        /* random_resized_crop with something random about it */
    bool lights, hls, pca;           /* brightness, contrast or saturation; shifts; noise */
    bool tones;                      /* max_random_contrast, max_random_illumination */
    bool ops, hue, greys, blurs;     /* RandAugment and its like; and what is named so */
    bool solarizes;
    enum paint paints[PAINTS + RECIPE_AUGMENTERS]; /* what is on, in the order of aug_seq */
    uint32_t paint_count;
    struct user_augmenter augmenters[RECIPE_AUGMENTERS];
    uint32_t augmenter_count;
    float aspect_low, aspect_high;
    uint32_t crop_low, crop_high; /* of max_crop_size, px; 0: none */
    uint32_t angle_count;         /* of rotate_list */
    int32_t angles[RECIPE_ANGLES];
    struct magnitude_step { /* of RandAugment, from that sweep on */
        uint64_t since;
        float magnitude;
    } steps[RECIPE_STEPS];
    uint32_t step_count;
    float erase_value[4];  /* of each channel */
    struct det_recipe det; /* aug_seq=det_aug_default */
    bool boxes;            /* labels are boxes, with det_aug_default or boxes=1 */
    uint32_t keypoints;    /* that a label or an object ends in */
    uint32_t pair_count;
    uint16_t pairs[RECIPE_PAIRS][2]; /* of keypoints that change places in a mirror */
};

/* Labels are boxes: aug_seq=det_aug_default, or boxes=1. */
bool recipe_has_boxes(const char *aug_seq, bool boxes);

/* Pixels of the crop are changed before they are normalized. */
static inline bool recipe_paints(const struct recipe *r)
{
    return r->paint_count != 0 || r->det.shifts;
}

/* What contradicts or cannot be is refused in one sentence. *o must outlive *r. */
IMREC_NODISCARD enum imrec_status
recipe_init(struct recipe *r, const struct augment_options *o, struct imrec_error *err);
#endif
