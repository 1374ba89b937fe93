/* augment/draw_modern.c - what is random about the augmenters that are younger than the original.
 */
#include "augment/draw.h"
#include "base/rng.h"

#include <math.h>

enum { BINS = 31 }; /* of magnitudes */

/* ---- RandAugment, TrivialAugment ------------------------------------------------------------- */

/* Strengths at bin 30; operations of signed strength go either way. */
struct space {
    float shear, translate_x, translate_y, degrees, factor;
    float bits; /* by which bins 0 to 30 of posterize go down from 8 */
};

/* torchvision's RandAugment: translations are shares of 331 px; and TrivialAugmentWide. */
static struct space space_of(const struct recipe *r)
{
    const struct imrec_shape *s = &r->o->data_shape;
    if (r->o->trivial_augment)
        return (struct space){0.99f, 32, 32, 135, 0.99f, 6};
    return (struct space){
        0.3f, 150.0f / 331 * (float)s->width, 150.0f / 331 * (float)s->height, 30, 0.9f, 4};
}

static float strength(const struct space *s, enum imrec_op op, float share, bool negative)
{
    const float sign = negative ? -share : share;
    switch (op) {
    case IMREC_OP_SHEAR_X:
    case IMREC_OP_SHEAR_Y:
        return sign * s->shear;
    case IMREC_OP_TRANSLATE_X:
        return truncf(sign * s->translate_x);
    case IMREC_OP_TRANSLATE_Y:
        return truncf(sign * s->translate_y);
    case IMREC_OP_ROTATE:
        return sign * s->degrees;
    case IMREC_OP_BRIGHTNESS:
    case IMREC_OP_COLOR:
    case IMREC_OP_CONTRAST:
    case IMREC_OP_SHARPNESS:
        return 1 + sign * s->factor;
    case IMREC_OP_POSTERIZE:
        return 8 - rintf(share * s->bits);
    case IMREC_OP_SOLARIZE:
        return 255 * (1 - share);
    default:
        return 0;
    }
}

/* One channel has no colour to change. */
static enum imrec_op operation(const struct recipe *r, uint64_t bits)
{
    const enum imrec_op op = (enum imrec_op)rng_below(bits, IMREC_OPS);
    return op == IMREC_OP_COLOR && r->o->data_shape.channels == 1 ? IMREC_OP_IDENTITY : op;
}

static void draw_ops(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct space space = space_of(r);
    d->op_count = (uint8_t)(r->o->trivial_augment ? 1 : r->o->rand_augment);
    for (uint32_t i = 0; i < d->op_count; i++) {
        const struct rng_block bits = draw_block(key, DRAW_OP + i);
        const enum imrec_op op = operation(r, bits.v[0]);
        const uint64_t bin = r->o->trivial_augment ? rng_below(bits.v[2], BINS)
                                                   : (uint64_t)r->o->rand_augment_magnitude;
        d->op[i] = (uint8_t)op;
        d->op_magnitude[i] = strength(&space, op, (float)bin / (BINS - 1), bits.v[1] >> 63 != 0);
    }
}

/* ---- erasing ----------------------------------------------------------------------------------
 */

/* torchvision's RandomErasing: aspect 0.3 to 3.3, uniform in its logarithm; ten tries. */
static void draw_hole(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const float whole = (float)s->width * (float)s->height;
    if (draw_unit(draw_block(key, DRAW_ERASE).v[0]) >= (double)r->o->random_erasing)
        return;
    for (uint32_t i = 0; i < 10; i++) {
        const struct rng_block bits = draw_block(key, DRAW_HOLE + i);
        const float area =
            whole * draw_between(bits.v[0], r->o->min_erase_area, r->o->max_erase_area);
        const float aspect = expf(draw_between(bits.v[1], logf(0.3f), logf(3.3f)));
        const float h = rintf(sqrtf(area * aspect)), w = rintf(sqrtf(area / aspect));
        if (w < 1 || h < 1 || w >= (float)s->width || h >= (float)s->height)
            continue;
        d->erase_width = (uint32_t)w;
        d->erase_height = (uint32_t)h;
        d->erase_x = (uint32_t)rng_below(bits.v[2], s->width - d->erase_width + 1);
        d->erase_y = (uint32_t)rng_below(bits.v[3], s->height - d->erase_height + 1);
        return;
    }
}

/* ---- all --------------------------------------------------------------------------------------
 */

void draw_modern(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct imrec_iter_options *o = r->o;
    if (r->ops)
        draw_ops(r, key, d);
    if (r->hue || r->greys || r->blurs) {
        const struct rng_block bits = draw_block(key, DRAW_HUE);
        d->hue = draw_between(bits.v[0], -o->hue, o->hue);
        d->grey = draw_unit(bits.v[1]) < (double)o->random_grayscale;
        if (draw_unit(bits.v[2]) < (double)o->gaussian_blur)
            d->blur_sigma = draw_between(bits.v[3], o->min_blur_sigma, o->max_blur_sigma);
    }
    if (o->random_erasing > 0)
        draw_hole(r, key, d);
}
