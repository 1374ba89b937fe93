/* augment/draw_colour.c - what is random about a sample's colours and values. */
#include "augment/draw.h"
#include "base/rng.h"

#include <math.h>

/* ---- brightness, contrast, saturation ------------------------------------------------------ */

static float factor(uint64_t bits, float most)
{
    return 1 + draw_between(bits, -most, most);
}

static void draw_lights(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const struct rng_block bits = draw_block(key, DRAW_LIGHT);
    d->brightness = factor(bits.v[0], r->o->brightness);
    d->contrast = factor(bits.v[1], r->o->contrast);
    d->saturation = factor(bits.v[2], r->o->saturation);
    const uint8_t *order = orders[rng_below(bits.v[3], 6)];
    for (int i = 0; i < 3; i++)
        d->light_order[i] = order[i];
}

/* ---- HLS ----------------------------------------------------------------------------------- */

/* The sum of a uniform number and four times another, over five: flat, with slopes at its ends. */
static int32_t shift(uint64_t bits, int64_t most)
{
    const float u1 = (float)((double)(bits >> 32) * 0x1p-32);
    const float u2 = (float)((double)(bits & 0xffffffffu) * 0x1p-32);
    const float r = (u1 + 4 * u2) / 5, x = (float)most;
    return (int32_t)(r * x * 2 - x);
}

static void draw_hls(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct rng_block bits = draw_block(key, DRAW_HLS);
    d->shift_h = shift(bits.v[0], r->o->random_h);
    d->shift_s = shift(bits.v[1], r->o->random_s);
    d->shift_l = shift(bits.v[2], r->o->random_l);
}

/* ---- light along the principal components ---------------------------------------------------- */

/* Box and Muller (1958): two independent normal numbers. */
static void normals(uint64_t a, uint64_t b, double out[2])
{
    const double radius = sqrt(-2 * log(1 - draw_unit(a))); /* (0, 1] has a logarithm */
    const double turn = 2 * 3.14159265358979323846 * draw_unit(b);
    out[0] = radius * cos(turn);
    out[1] = radius * sin(turn);
}

/* Eigenvalues and eigenvectors of the colours of ImageNet (Krizhevsky et al. 2012, 4.1). */
static void draw_pca(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    static const float value[3] = {55.46f, 4.794f, 1.148f};
    static const float vector[3][3] = {{-0.5675f, 0.7192f, 0.4009f},
                                       {-0.5808f, -0.0045f, -0.8140f},
                                       {-0.5836f, -0.6948f, 0.4203f}};
    const struct rng_block bits = draw_block(key, DRAW_PCA);
    double n[4];
    normals(bits.v[0], bits.v[1], n);
    normals(bits.v[2], bits.v[3], n + 2);
    for (int c = 0; c < 3; c++) {
        float sum = 0;
        for (int i = 0; i < 3; i++)
            sum += value[i] * vector[c][i] * (float)(n[i] * (double)r->o->pca_noise);
        d->light[c] = sum;
    }
}

void draw_colours(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    d->brightness = d->contrast = d->saturation = d->value_contrast = 1;
    d->light_order[1] = 1;
    d->light_order[2] = 2;
    if (r->lights)
        draw_lights(r, key, d);
    if (r->hls)
        draw_hls(r, key, d);
    if (r->pca)
        draw_pca(r, key, d);
    if (r->tones) {
        const struct rng_block bits = draw_block(key, DRAW_TONE);
        d->value_contrast = factor(bits.v[0], r->o->max_random_contrast);
        d->value_illumination =
            draw_between(bits.v[1], -r->o->max_random_illumination, r->o->max_random_illumination);
    }
}
