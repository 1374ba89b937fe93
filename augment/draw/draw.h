/* augment/draw/draw.h - what is random about a sample, as a pure function of its key. */
#ifndef IMREC_AUGMENT_DRAW_DRAW_H
#define IMREC_AUGMENT_DRAW_DRAW_H

#include "augment/draw/recipe.h"
#include "augment/resize/resize.h"

/* The source of a sample's randomness: the place of its record, never an id out of its
 * header. */
struct sample_key {
    uint64_t seed, sweep;
    uint64_t shard, offset; /* number in the expanded list; byte of the record's head */
    uint32_t view;          /* of several images made of it; 0: the first, or the only one */
};

/* Draws for an upright image of width x height px. Equal arguments, equal draw; any thread. */
struct imrec_draw
augment_draw(const struct recipe *r, struct sample_key key, uint32_t width, uint32_t height);

/* Computed from the drawn numbers: matrix and canvas of a warp of an image of this size,
 * from angle, shear, scale and aspect; the crop that is not random. */
void draw_set_warp(const struct recipe *r, uint32_t width, uint32_t height, struct imrec_draw *d);
void draw_set_crop(const struct recipe *r, uint32_t width, uint32_t height, struct imrec_draw *d);

/* px of a slot that show the image: with boxes it may be smaller than its slot. Its labels are
 * fractions of them. */
struct resize_size draw_shown(const struct recipe *r, const struct imrec_draw *d);

/* inter_method 9: cubic to enlarge, area to shrink, bilinear for what is neither. */
uint8_t augment_method_by_size(uint32_t from_width, uint32_t from_height, uint32_t to_width,
                               uint32_t to_height);

/* ---- inside: blocks of 256 bits ----------------------------------------------------------- */

/* Numbers of blocks; never renumbered: pixels depend on them. All draws of a block are made
 * whether used or not, so that switching one option on does not change another's draw. */
enum draw_block {
    DRAW_GEOMETRY = 0,        /* column, row, mirror */
    DRAW_WARP = 1,            /* angle, shear, scale, aspect */
    DRAW_METHOD = 2,          /* of resize, warp, crop */
    DRAW_CROP_SIZE = 3,       /* side */
    DRAW_LIGHT = 4,           /* brightness, contrast, saturation, order */
    DRAW_HLS = 5,             /* two numbers of 32 bits for each of h, s, l */
    DRAW_PCA = 6,             /* two pairs of normal numbers */
    DRAW_TONE = 7,            /* contrast, illumination */
    DRAW_HUE = 8,             /* hue, whether grey, whether blurred, how much */
    DRAW_MIX = 10,            /* order, mixup or cutmix, middle of the rectangle */
    DRAW_FLIP = 11,           /* whether flipped, jittered, solarized */
    DRAW_ERASE = 9,           /* whether; the rectangle has ten blocks of its own */
    DRAW_AREA = 16,           /* area, aspect, swap; a block for each of ten tries */
    DRAW_HOLE = 32,           /* area, aspect, column, row; likewise */
    DRAW_OP = 48,             /* operation, sign, strength; a block for each operation */
    DRAW_POLICY = 52,         /* pair, whether of each; a second block: signs */
    DRAW_RAND_OP = 56,        /* whether, two numbers of a normal one; for each of RandAugment's */
    DRAW_BETA = 1000,         /* two pairs; a block for each of a thousand tries */
    DRAW_DET_SHIFT = 128,     /* hue, saturation, lightness, contrast ... */
    DRAW_DET_WHETHER = 129,   /* ... and whether, of each */
    DRAW_DET_GEOMETRY = 130,  /* whether mirrored, on a canvas, cropped */
    DRAW_DET_PAD = 131,       /* scale, column, row */
    DRAW_DET_ORDER = 136,     /* of the samplers; eight blocks */
    DRAW_SOUND = 144,         /* crop, shift, gain */
    DRAW_AFFINE = 160,        /* angle, scale, shear along rows, along columns */
    DRAW_AFFINE_MOVE = 161,   /* shift, and tilt, along both */
    DRAW_IF_AFFINE = 162,     /* whether */
    DRAW_MOSAIC = 163,        /* whether, column, row, scale */
    DRAW_MOSAIC_WITH = 164,   /* three partners */
    DRAW_PASTE = 165,         /* whether, partner, how many */
    DRAW_AUGMIX = 2048,       /* depth, then a block for each operation; 16 for each chain */
    DRAW_AUGMIX_SHARE = 4096, /* a gamma number; 16 tries of each */
    DRAW_DET_CROP = 1 << 20,  /* scale, aspect, column, row; a block for each trial of each */
    DRAW_PASTE_OBJECT = 1 << 21, /* whether it is pasted; a block for four objects */
    DRAW_NOISE = 1 << 24,        /* of what is erased; a block for each pixel */
};
/* The resampling of inter_method, of which bits choose one. */
uint8_t draw_method(const struct recipe *r, uint64_t bits, uint32_t from_width,
                    uint32_t from_height, uint32_t to_width, uint32_t to_height);
struct rng_block draw_block(struct sample_key key, uint32_t block);
double draw_unit(uint64_t bits); /* [0, 1), 53 bits */
float draw_between(uint64_t bits, float low, float high);
/* Box and Muller (1958): two independent normal numbers. */
void draw_normals(uint64_t a, uint64_t b, double out[2]);
/* RandAugment and what is younger than MXNet. */
void draw_modern(const struct recipe *r, struct sample_key key, struct imrec_draw *d);
/* Everything about colours and values. */
void draw_colours(const struct recipe *r, struct sample_key key, struct imrec_draw *d);
#endif
