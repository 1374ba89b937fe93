/* augment/draw/draw_augmix.c - AugMix (Hendrycks et al. 2019) drawn: chains of operations, and the
 * shares in which they are blended. */
#include "augment/draw/draw_ops.h"
#include "base/rng.h"

#include <math.h>

enum { BINS = 10, TRIES = 16, MOST_DEPTH = 3 };

/* Those of all_ops come last. */
static const uint8_t ops[] = {
    IMREC_OP_SHEAR_X,   IMREC_OP_SHEAR_Y,    IMREC_OP_TRANSLATE_X, IMREC_OP_TRANSLATE_Y,
    IMREC_OP_ROTATE,    IMREC_OP_POSTERIZE,  IMREC_OP_SOLARIZE,    IMREC_OP_AUTOCONTRAST,
    IMREC_OP_EQUALIZE,  IMREC_OP_BRIGHTNESS, IMREC_OP_COLOR,       IMREC_OP_CONTRAST,
    IMREC_OP_SHARPNESS,
};
enum { ALL = sizeof(ops) / sizeof(ops[0]), FEWER = 9 };

/* ---- shares ------------------------------------------------------------------------------- */

/* Marsaglia and Tsang (2000), of an alpha of 1 or more. Each try succeeds with 95 % or more. */
static bool gamma_try(const struct rng_block *bits, double alpha, double *out)
{
    const double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
    double normal[2];
    draw_normals(bits->v[0], bits->v[1], normal);
    const double x = normal[0], v = pow(1 + c * x, 3);
    *out = d * v;
    return v > 0 && log(1 - draw_unit(bits->v[2])) < 0.5 * x * x + d - d * v + d * log(v);
}

/* The logarithm of a number from Gamma(alpha, 1): for a small alpha the number itself vanishes. */
static double log_gamma_number(struct sample_key key, uint32_t which, double alpha)
{
    struct rng_block bits = {{0}};
    double v = 1;
    for (uint32_t i = 0; i < TRIES; i++) {
        bits = draw_block(key, DRAW_AUGMIX_SHARE + which * TRIES + i);
        if (gamma_try(&bits, alpha < 1 ? alpha + 1 : alpha, &v))
            break;
        v = alpha;
    }
    return alpha < 1 ? log(v) + log(1 - draw_unit(bits.v[3])) / alpha : log(v);
}

/* n numbers from Dirichlet(alpha, ...), the which-th and following ones of the sample. */
static void
dirichlet(struct sample_key key, uint32_t which, uint32_t n, double alpha, double *shares)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        shares[i] = log_gamma_number(key, which + i, alpha);
        most = fmax(most, shares[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        sum += shares[i] = exp(shares[i] - most);
    for (uint32_t i = 0; i < n; i++)
        shares[i] /= sum;
}

/* ---- chains ------------------------------------------------------------------------------- */

static void draw_chain(const struct recipe *r, struct sample_key key, uint32_t first,
                       struct augmix_chain *chain)
{
    const struct augment_options *o = r->o;
    const struct op_space space = {.shear = 0.3f,
                                   .translate_x = (float)o->data_shape.width / 3,
                                   .translate_y = (float)o->data_shape.height / 3,
                                   .degrees = 30,
                                   .factor = 0.9f,
                                   .bits = 4,
                                   .bits_less = 4};
    chain->depth = (uint32_t)o->augmix_depth;
    if (chain->depth == 0)
        chain->depth = 1 + (uint32_t)rng_below(draw_block(key, first).v[0], MOST_DEPTH);
    for (uint32_t i = 0; i < chain->depth; i++) {
        const struct rng_block bits = draw_block(key, first + 1 + i);
        const enum imrec_op op = op_of_channels(
            r, (enum imrec_op)ops[rng_below(bits.v[0], o->augmix_all_ops ? ALL : FEWER)]);
        const uint64_t bin = rng_below(bits.v[2], (uint64_t)o->augmix_severity);
        chain->op[i] = (uint8_t)op;
        chain->magnitude[i] =
            op_strength(&space, op, (float)bin / (BINS - 1), bits.v[1] >> 63 != 0);
    }
}

struct augmix draw_augmix(const struct recipe *r, struct sample_key key)
{
    struct augmix m = {.width = (uint32_t)r->o->augmix_width};
    const double alpha = (double)r->o->augmix_alpha;
    double whole[2], shares[AUGMIX_WIDTH];
    dirichlet(key, 0, 2, alpha, whole);
    dirichlet(key, 2, m.width, alpha, shares);
    m.share = (float)whole[0];
    for (uint32_t i = 0; i < m.width; i++) {
        m.chains[i].share = (float)(whole[1] * shares[i]);
        draw_chain(r, key, DRAW_AUGMIX + i * (2 * AUGMIX_DEPTH), &m.chains[i]);
    }
    return m;
}
