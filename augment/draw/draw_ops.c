/* augment/draw/draw_ops.c - operations of RandAugment, TrivialAugment and AutoAugment drawn, with
 * torchvision's strengths. */
#include "augment/draw/draw_ops.h"

#include "augment/draw/policies.h"
#include "base/rng.h"

#include <math.h>

enum { BINS = 31, POLICY_BINS = 10 }; /* of magnitudes */

float op_strength(const struct op_space *s, enum imrec_op op, float share, bool negative)
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
        return s->bits - rintf(share * s->bits_less);
    case IMREC_OP_SOLARIZE:
        return 255 * (1 - share);
    default:
        return 0;
    }
}

enum imrec_op op_of_channels(const struct recipe *r, enum imrec_op op)
{
    return op == IMREC_OP_COLOR && r->o->data_shape.channels == 1 ? IMREC_OP_IDENTITY : op;
}

/* torchvision's RandAugment and AutoAugment: translations are shares of 331 px; and
 * TrivialAugmentWide. */
static struct op_space space_of(const struct recipe *r)
{
    const struct imrec_shape *s = &r->o->data_shape;
    if (r->o->trivial_augment)
        return (struct op_space){0.99f, 32, 32, 135, 0.99f, 8, 6};
    return (struct op_space){
        0.3f, 150.0f / 331 * (float)s->width, 150.0f / 331 * (float)s->height, 30, 0.9f, 8, 4};
}

static void add(const struct recipe *r, struct imrec_draw *d, enum imrec_op op, float magnitude)
{
    const enum imrec_op possible = op_of_channels(r, op);
    d->op[d->op_count] = (uint8_t)possible;
    d->op_magnitude[d->op_count++] = possible == op ? magnitude : 0;
}

static void draw_policy(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct op_space space = space_of(r);
    const struct rng_block whether = draw_block(key, DRAW_POLICY);
    const struct rng_block signs = draw_block(key, DRAW_POLICY + 1);
    const struct policy_op *pair =
        policies[r->o->auto_augment - 1][rng_below(whether.v[0], POLICY_PAIRS)];
    for (int i = 0; i < 2; i++) {
        const enum imrec_op op = (enum imrec_op)pair[i].op;
        const float share = (float)pair[i].bin / (POLICY_BINS - 1);
        if (draw_unit(whether.v[1 + i]) * 10 < pair[i].tenths)
            add(r, d, op, op_strength(&space, op, share, signs.v[i] >> 63 != 0));
    }
}

/* ---- RandAugment -------------------------------------------------------------------------- */

/* Those of timm; it has no identity. */
static const uint8_t timm_ops[] = {
    IMREC_OP_AUTOCONTRAST, IMREC_OP_EQUALIZE,    IMREC_OP_INVERT,       IMREC_OP_ROTATE,
    IMREC_OP_POSTERIZE,    IMREC_OP_SOLARIZE,    IMREC_OP_SOLARIZE_ADD, IMREC_OP_COLOR,
    IMREC_OP_CONTRAST,     IMREC_OP_BRIGHTNESS,  IMREC_OP_SHARPNESS,    IMREC_OP_SHEAR_X,
    IMREC_OP_SHEAR_Y,      IMREC_OP_TRANSLATE_X, IMREC_OP_TRANSLATE_Y,
};
enum { TIMM_OPS = sizeof(timm_ops) / sizeof(timm_ops[0]), TIMM_TOP = 10 };

/* timm's, of `share` 0..1; with `grows` more of it is more of a change, for each operation. */
static float
timm_strength(const struct op_space *s, enum imrec_op op, float share, bool negative, bool grows)
{
    const float bits = truncf(share * 4), threshold = truncf(share * 256);
    switch (op) {
    case IMREC_OP_BRIGHTNESS:
    case IMREC_OP_COLOR:
    case IMREC_OP_CONTRAST:
    case IMREC_OP_SHARPNESS:
        return grows ? fmaxf(0.1f, op_strength(s, op, share, negative)) : share * 1.8f + 0.1f;
    case IMREC_OP_TRANSLATE_X: /* not truncated */
        return (negative ? -share : share) * s->translate_x;
    case IMREC_OP_TRANSLATE_Y:
        return (negative ? -share : share) * s->translate_y;
    case IMREC_OP_POSTERIZE:
        return grows ? 4 - bits : bits;
    case IMREC_OP_SOLARIZE:
        return grows ? 256 - threshold : threshold;
    case IMREC_OP_SOLARIZE_ADD:
        return truncf(share * 110);
    default:
        return op_strength(s, op, share, negative);
    }
}

static float magnitude_of(const struct recipe *r, uint64_t sweep)
{
    float m = (float)r->o->rand_augment_magnitude;
    for (uint32_t i = 0; i < r->step_count && r->steps[i].since <= sweep; i++)
        m = r->steps[i].magnitude;
    return m;
}

/* That of one operation; false: it is skipped. */
static bool
draw_magnitude(const struct recipe *r, struct sample_key key, uint32_t i, float top, float *m)
{
    double normal[2];
    if (r->o->rand_augment_prob >= 1 && r->o->rand_augment_mstd <= 0)
        return true;
    const struct rng_block bits = draw_block(key, DRAW_RAND_OP + i);
    draw_normals(bits.v[1], bits.v[2], normal);
    *m = fmaxf(0, fminf(top, *m + (float)(normal[0] * (double)r->o->rand_augment_mstd)));
    return draw_unit(bits.v[0]) < (double)r->o->rand_augment_prob;
}

static void draw_timm(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct imrec_shape *shape = &r->o->data_shape;
    const bool grows = r->o->rand_augment_style == IMREC_RAND_AUGMENT_TIMM_INC;
    const struct op_space space = {.shear = 0.3f,
                                   .translate_x = 0.45f * (float)shape->width,
                                   .translate_y = 0.45f * (float)shape->height,
                                   .degrees = 30,
                                   .factor = 0.9f};
    for (uint32_t i = 0; i < r->o->rand_augment; i++) {
        const struct rng_block bits = draw_block(key, DRAW_OP + i);
        const enum imrec_op op = (enum imrec_op)timm_ops[rng_below(bits.v[0], TIMM_OPS)];
        float m = magnitude_of(r, key.sweep);
        if (draw_magnitude(r, key, i, TIMM_TOP, &m))
            add(r, d, op, timm_strength(&space, op, m / TIMM_TOP, bits.v[1] >> 63 != 0, grows));
    }
}

static void draw_torch(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct op_space space = space_of(r);
    for (uint32_t i = 0; i < r->o->rand_augment; i++) {
        const struct rng_block bits = draw_block(key, DRAW_OP + i);
        const enum imrec_op op = (enum imrec_op)rng_below(bits.v[0], IMREC_OPS);
        float m = magnitude_of(r, key.sweep);
        if (draw_magnitude(r, key, i, BINS - 1, &m))
            add(r, d, op, op_strength(&space, op, m / (BINS - 1), bits.v[1] >> 63 != 0));
    }
}

/* ---- all ---------------------------------------------------------------------------------- */

static void draw_trivial(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct op_space space = space_of(r);
    const struct rng_block bits = draw_block(key, DRAW_OP);
    const enum imrec_op op = (enum imrec_op)rng_below(bits.v[0], IMREC_OPS);
    const float share = (float)rng_below(bits.v[2], BINS) / (BINS - 1);
    add(r, d, op, op_strength(&space, op, share, bits.v[1] >> 63 != 0));
}

void draw_ops(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    if (r->o->auto_augment != IMREC_POLICY_NONE)
        draw_policy(r, key, d);
    else if (r->o->trivial_augment)
        draw_trivial(r, key, d);
    else if (r->o->rand_augment_style == IMREC_RAND_AUGMENT_TORCH)
        draw_torch(r, key, d);
    else
        draw_timm(r, key, d);
}
