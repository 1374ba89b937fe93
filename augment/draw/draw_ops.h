/* augment/draw/draw_ops.h - operations drawn: of RandAugment, TrivialAugment, AutoAugment and
 * AugMix. */
#ifndef IMREC_AUGMENT_DRAW_DRAW_OPS_H
#define IMREC_AUGMENT_DRAW_DRAW_OPS_H

#include "augment/draw/draw.h"

/* Fills the operations of *d; AugMix's are none of them. */
void draw_ops(const struct recipe *r, struct sample_key key, struct imrec_draw *d);

/* ---- AugMix ------------------------------------------------------------------------------- */

enum { AUGMIX_WIDTH = 8, AUGMIX_DEPTH = 8 };

/* Of a sample: more than a draw reports, so it is drawn where the pixels are changed. */
struct augmix {
    float share;    /* of the image itself */
    uint32_t width; /* chains */
    struct augmix_chain {
        float share;
        uint32_t depth; /* operations */
        uint8_t op[AUGMIX_DEPTH];
        float magnitude[AUGMIX_DEPTH];
    } chains[AUGMIX_WIDTH];
};
struct augmix draw_augmix(const struct recipe *r, struct sample_key key);

/* ---- inside ------------------------------------------------------------------------------- */

/* Strengths at the last bin; operations of signed strength go either way. */
struct op_space {
    float shear, translate_x, translate_y, degrees, factor;
    float bits, bits_less; /* of posterize at the first bin, and by which they go down */
};
/* Of an operation, `share` of its space; one channel has no colour to change. */
float op_strength(const struct op_space *s, enum imrec_op op, float share, bool negative);
enum imrec_op op_of_channels(const struct recipe *r, enum imrec_op op);
#endif
