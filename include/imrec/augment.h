/* imrec/augment.h - how augmentation is chosen, and what it draws for a sample. */
#ifndef IMREC_AUGMENT_H
#define IMREC_AUGMENT_H

#include "imrec/types.h"

enum imrec_rrc_style { IMREC_RRC_MXNET, IMREC_RRC_TORCH };
enum imrec_resize_style { IMREC_RESIZE_OPENCV, IMREC_RESIZE_PILLOW };
enum imrec_scale_decode { IMREC_SCALE_OFF, IMREC_SCALE_AUTO };
enum imrec_erase_mode { IMREC_ERASE_CONSTANT, IMREC_ERASE_COLOR, IMREC_ERASE_PIXEL };
enum imrec_rand_augment_style {
    IMREC_RAND_AUGMENT_TORCH,
    IMREC_RAND_AUGMENT_TIMM,
    IMREC_RAND_AUGMENT_TIMM_INC, /* all strengths grow with the magnitude */
};
enum imrec_crop_emit { IMREC_EMIT_CENTER, IMREC_EMIT_OVERLAP };
enum imrec_resize_mode { IMREC_RESIZE_FORCE, IMREC_RESIZE_SHRINK, IMREC_RESIZE_FIT };

/* Operations of RandAugment (Cubuk et al. 2019), TrivialAugment (Mueller, Hutter 2021) and
 * AutoAugment. */
enum imrec_op {
    IMREC_OP_IDENTITY,
    IMREC_OP_SHEAR_X,
    IMREC_OP_SHEAR_Y,
    IMREC_OP_TRANSLATE_X,
    IMREC_OP_TRANSLATE_Y,
    IMREC_OP_ROTATE,
    IMREC_OP_BRIGHTNESS,
    IMREC_OP_COLOR,
    IMREC_OP_CONTRAST,
    IMREC_OP_SHARPNESS,
    IMREC_OP_POSTERIZE,
    IMREC_OP_SOLARIZE,
    IMREC_OP_AUTOCONTRAST,
    IMREC_OP_EQUALIZE,
    IMREC_OPS, /* those above are RandAugment's and TrivialAugment's */
    IMREC_OP_INVERT = IMREC_OPS,
    IMREC_OP_SOLARIZE_ADD, /* adds to values below 128 */
    IMREC_ALL_OPS,
};

/* Data sets that AutoAugment (Cubuk et al. 2018) has operations for. */
enum imrec_policy {
    IMREC_POLICY_NONE,
    IMREC_POLICY_IMAGENET,
    IMREC_POLICY_CIFAR10,
    IMREC_POLICY_SVHN,
};

/* The draws of a sample (docs/guide/augmentation.md); those of augmenters that are off are neutral.
 */
struct imrec_draw {
    uint32_t x, y;          /* top-left corner of the crop in the image it is cut from, px */
    uint32_t width, height; /* of that image: resized, rotated, padded, upright, px */
    bool mirror;            /* left-right */
    bool warped;            /* by the matrix, and tilt */
    uint8_t resize_method, warp_method, crop_method; /* inter_method, 0..4 */
    uint8_t light_order[3];           /* 0 brightness, 1 contrast, 2 saturation: the first, ... */
    uint32_t crop_width, crop_height; /* of the crop, px; resized to data_shape if it differs */
    int32_t angle;                    /* degrees, counter-clockwise */
    float shear, scale, aspect;
    float matrix[6];                        /* forward: x' = m0 x + m1 y + m2, y' = m3 x + ... */
    uint32_t canvas_width, canvas_height;   /* of the rotated image, px */
    float brightness, contrast, saturation; /* factors */
    int32_t shift_h, shift_l, shift_s;      /* added to hue, lightness, saturation */
    float light[3];                         /* added to red, green, blue */
    float value_contrast;                   /* factor of the slot's values, */
    float value_illumination;               /* and what is added, in units of a pixel */
    uint8_t op_count;      /* operations of Rand-, Trivial- and AutoAugment, and their */
    uint8_t op[4];         /* enum imrec_op and */
    float op_magnitude[4]; /* strength: factor, px, degrees, bits, threshold */
    float hue;             /* turns */
    bool grey;
    bool flip;                                            /* top-bottom */
    bool solarized;                                       /* by random_solarize */
    float blur_sigma;                                     /* px; 0: none */
    uint32_t erase_x, erase_y, erase_width, erase_height; /* of the slot, px; 0: nothing */
    float mix_share;      /* mixup, cutmix: share of the sample itself; 1: all of it */
    uint32_t mix_partner; /* the slot of the rest */
    uint32_t cut_x, cut_y, cut_width, cut_height; /* the partner's rectangle, px */
    /* Detection: width and height above are those of the canvas. */
    uint32_t pad_x, pad_y;          /* position of the image on it, px */
    uint32_t fit_width, fit_height; /* of the image in the slot, px */
    int32_t crop_sampler;           /* the sampler of the crop, from 0; -1: not cropped */
    uint32_t crop_trials;           /* crops tried, by all samplers */
    uint32_t boxes;                 /* that remain */
    int64_t sound_begin;            /* audio: first sample of the crop; below 0: silence */
    float sound_gain;               /* factor */
    /* Detection, with an affine move: x' = (m0 x + m1 y + m2) / (1 + t0 x + t1 y), y' likewise, of
     * places in the fitted image, in px from the middle of its first pixel; m is `matrix`. */
    float tilt[2];
    /* Detection, of a mosaic: width and height are those of its canvas, and `warped` is true. */
    bool mosaic;
    uint32_t mosaic_x, mosaic_y; /* where the four images meet on the canvas, px */
    float mosaic_scale;
    uint32_t pasted; /* Detection: objects of another sample, of those in `boxes` */
};

/* Where the places of a slot are in the image of its record (record_places=1), through all that
 * moved it. A place (u, v) of the slot is (x, y) in the image:
 *     x = (m0 u + m1 v + m2) / z, y = (m3 u + m4 v + m5) / z, z = m6 u + m7 v + m8
 * in px from the left upper corner: edges of an image of w px are 0 and w. The image is upright, by
 * auto_orient. All is 0 where there is no such image: padding, failed samples, mosaics of four. */
struct imrec_place {
    float matrix[9];        /* row by row */
    uint32_t width, height; /* of the image, px */
};
#endif
