/* augment/draw/draw.c - what is random about a sample, as a function of its key.
 *
 * The size of the image is followed through the steps: resize, warp, border, then one of three
 * kinds of crops. */
#include "augment/draw/draw_ops.h"

#include "augment/resize/resize.h"
#include "base/rng.h"

#include <math.h>

struct size {
    uint32_t w, h;
};

/* ---- methods ------------------------------------------------------------------------------ */

uint8_t augment_method_by_size(uint32_t from_width, uint32_t from_height, uint32_t to_width,
                               uint32_t to_height)
{
    if (to_width > from_width && to_height > from_height)
        return RESIZE_CUBIC;
    return to_width < from_width && to_height < from_height ? RESIZE_AREA : RESIZE_BILINEAR;
}

uint8_t draw_method(const struct recipe *r, uint64_t bits, uint32_t from_width,
                    uint32_t from_height, uint32_t to_width, uint32_t to_height)
{
    if (r->o->inter_method == 10)
        return (uint8_t)rng_below(bits, RESIZE_METHODS);
    if (r->o->inter_method == 9)
        return augment_method_by_size(from_width, from_height, to_width, to_height);
    return (uint8_t)r->o->inter_method;
}

static uint8_t method(const struct recipe *r, uint64_t bits, struct size from, struct size to)
{
    return draw_method(r, bits, from.w, from.h, to.w, to.h);
}

/* ---- the warp ----------------------------------------------------------------------------- */

static int32_t angle(const struct recipe *r, uint64_t bits)
{
    if (r->angle_count != 0)
        return r->angles[rng_below(bits, r->angle_count)];
    if (r->o->rotate > 0)
        return (int32_t)r->o->rotate;
    const int64_t most = r->o->max_rotate_angle;
    return (int32_t)((int64_t)rng_below(bits, 2 * (uint64_t)most + 1) - most);
}

static float canvas(const struct recipe *r, float side)
{
    const float v = fmaxf(r->o->min_img_size, fminf(r->o->max_img_size, side));
    return v < 1 ? 1 : v < 65500 ? v : 65500;
}

/* The forward matrix of angle, shear, scale and aspect, which keeps the centre (float32). */
void draw_set_warp(const struct recipe *r, uint32_t width, uint32_t height, struct imrec_draw *d)
{
    const double turn = d->angle / 180.0 * 3.14159265358979323846;
    const float a = (float)cos(turn), b = (float)sin(turn), w = (float)width, h = (float)height;
    const float hs = 2 * d->scale / (1 + d->aspect), ws = d->aspect * hs;
    const float to_width = canvas(r, d->scale * w), to_height = canvas(r, d->scale * h);
    float *m = d->matrix;
    m[0] = hs * a - d->shear * b * ws;
    m[1] = hs * b + d->shear * a * ws;
    m[3] = -b * ws;
    m[4] = a * ws;
    m[2] = (to_width - (m[0] * w + m[1] * h)) / 2;
    m[5] = (to_height - (m[3] * w + m[4] * h)) / 2;
    d->canvas_width = (uint32_t)to_width;
    d->canvas_height = (uint32_t)to_height;
}

static struct size
draw_warp(const struct recipe *r, struct sample_key key, struct size from, struct imrec_draw *d)
{
    const struct augment_options *o = r->o;
    const struct rng_block bits = draw_block(key, DRAW_WARP);
    d->warped = true;
    d->angle = angle(r, bits.v[0]);
    d->shear = draw_between(bits.v[1], -o->max_shear_ratio, o->max_shear_ratio);
    d->scale = draw_between(bits.v[2], o->min_random_scale, o->max_random_scale);
    if (!o->random_resized_crop)
        d->aspect = draw_between(bits.v[3], r->aspect_low, r->aspect_high);
    draw_set_warp(r, from.w, from.h, d);
    return (struct size){d->canvas_width, d->canvas_height};
}

/* ---- crops -------------------------------------------------------------------------------- */

/* Random in such room, or in the middle, by integer division or to the nearest, ties to even. */
static uint32_t
corner(const struct recipe *r, bool random, uint64_t bits, uint32_t size, uint32_t crop)
{
    const uint32_t room = size > crop ? size - crop : 0, half = room / 2;
    if (random)
        return (uint32_t)rng_below(bits, (uint64_t)room + 1);
    return half + (r->o->rrc_style == IMREC_RRC_TORCH && room % 2 != 0 && half % 2 != 0);
}

static void place(const struct recipe *r, struct imrec_draw *d, bool random,
                  const struct rng_block *bits, struct size in, struct size crop)
{
    d->x = corner(r, random, bits->v[0], in.w, crop.w);
    d->y = corner(r, random, bits->v[1], in.h, crop.h);
    d->width = in.w, d->height = in.h;
    d->crop_width = crop.w, d->crop_height = crop.h;
}

static float draw_aspect(const struct recipe *r, uint64_t bits)
{
    if (r->o->rrc_style == IMREC_RRC_MXNET)
        return draw_between(bits, r->aspect_low, r->aspect_high);
    return expf(draw_between(bits, logf(r->aspect_low), logf(r->aspect_high)));
}

/* A share of the area, of a random aspect; false: none of ten fitted. */
static bool
draw_area(const struct recipe *r, struct sample_key key, struct size in, struct size *crop)
{
    const float whole = (float)((uint64_t)in.w * in.h);
    for (uint32_t i = 0; i < 10; i++) {
        const struct rng_block bits = draw_block(key, DRAW_AREA + i);
        const float area =
            whole * draw_between(bits.v[0], r->o->min_random_area, r->o->max_random_area);
        const float aspect = draw_aspect(r, bits.v[1]);
        const bool swap = bits.v[2] >> 63 != 0 && r->o->rrc_style == IMREC_RRC_MXNET;
        const float a = roundf(sqrtf(area * aspect)), b = roundf(sqrtf(area / aspect));
        const float w = swap ? b : a, h = swap ? a : b;
        if (w >= 1 && h >= 1 && w <= (float)in.w && h <= (float)in.h) {
            *crop = (struct size){(uint32_t)w, (uint32_t)h};
            return true;
        }
    }
    return false;
}

/* torchvision's way out: the largest crop in the middle whose aspect is allowed. */
static struct size largest_area(const struct recipe *r, struct size in)
{
    const float aspect = (float)in.w / (float)in.h;
    struct size crop = in;
    if (aspect < r->aspect_low)
        crop.h = (uint32_t)rintf((float)in.w / r->aspect_low);
    else if (aspect > r->aspect_high)
        crop.w = (uint32_t)rintf((float)in.h * r->aspect_high);
    crop.w = crop.w < 1 ? 1 : crop.w < in.w ? crop.w : in.w;
    crop.h = crop.h < 1 ? 1 : crop.h < in.h ? crop.h : in.h;
    return crop;
}

/* A square; an image that is smaller gives what it has. */
static struct size draw_square(const struct recipe *r, struct sample_key key, struct size in)
{
    const uint64_t bits = draw_block(key, DRAW_CROP_SIZE).v[0];
    uint32_t n = r->crop_low + (uint32_t)rng_below(bits, r->crop_high - r->crop_low + 1);
    n = n < in.w ? n : in.w;
    n = n < in.h ? n : in.h;
    return (struct size){n, n};
}

/* Crops of data_shape: an image that is smaller is enlarged first. */
static struct size covering(struct size in, struct size crop)
{
    struct resize_size to[2];
    const uint32_t passes = resize_to_cover(in.w, in.h, crop.w, crop.h, to);
    return passes != 0 ? (struct size){to[passes - 1].width, to[passes - 1].height} : in;
}

static void plain_crop(const struct recipe *r, bool random, const struct rng_block *bits,
                       struct size in, struct imrec_draw *d)
{
    const struct size out = {r->o->data_shape.width, r->o->data_shape.height};
    place(r, d, random, bits, covering(in, out), out);
}

void draw_set_crop(const struct recipe *r, uint32_t width, uint32_t height, struct imrec_draw *d)
{
    const struct rng_block none = {{0}};
    plain_crop(r, false, &none, (struct size){width, height}, d);
}

static void draw_crop(const struct recipe *r, struct sample_key key, struct size in, uint64_t which,
                      struct imrec_draw *d)
{
    const struct augment_options *o = r->o;
    const struct rng_block bits = draw_block(key, DRAW_GEOMETRY);
    struct size from = in, crop;
    if (r->random_crop_resized && draw_area(r, key, in, &crop)) {
        place(r, d, true, &bits, in, crop);
        from = crop;
    } else if (r->random_crop_resized && o->rrc_style == IMREC_RRC_TORCH) {
        from = crop = largest_area(r, in);
        place(r, d, false, &bits, in, crop);
    } else if (r->crop_high != 0) {
        from = crop = draw_square(r, key, in);
        place(r, d, o->rand_crop, &bits, in, crop);
    } else {
        plain_crop(r, o->rand_crop, &bits, in, d);
    }
    d->crop_method =
        method(r, which, from, (struct size){o->data_shape.width, o->data_shape.height});
    const double most = o->rand_mirror_prob > 0 ? (double)o->rand_mirror_prob : 0.5;
    const bool mirrors = o->rand_mirror || o->rand_mirror_prob > 0;
    d->mirror = o->mirror || (mirrors && draw_unit(bits.v[2]) >= 1 - most);
}

/* ---- brightness, contrast, saturation ----------------------------------------------------- */

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

/* ---- HLS ---------------------------------------------------------------------------------- */

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

/* ---- light along the principal components ------------------------------------------------- */

/* Eigenvalues and eigenvectors of the colours of ImageNet (Krizhevsky et al. 2012, 4.1). */
static void draw_pca(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    static const float value[3] = {55.46f, 4.794f, 1.148f};
    static const float vector[3][3] = {{-0.5675f, 0.7192f, 0.4009f},
                                       {-0.5808f, -0.0045f, -0.8140f},
                                       {-0.5836f, -0.6948f, 0.4203f}};
    const struct rng_block bits = draw_block(key, DRAW_PCA);
    double n[4];
    draw_normals(bits.v[0], bits.v[1], n);
    draw_normals(bits.v[2], bits.v[3], n + 2);
    for (int c = 0; c < 3; c++) {
        float sum = 0;
        for (int i = 0; i < 3; i++)
            sum += value[i] * vector[c][i] * (float)(n[i] * (double)r->o->pca_noise);
        d->light[c] = sum;
    }
}

static bool jitters(const struct recipe *r, struct sample_key key)
{
    return draw_unit(draw_block(key, DRAW_FLIP).v[1]) < (double)r->o->jitter_prob;
}

void draw_colours(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    d->brightness = d->contrast = d->saturation = d->value_contrast = 1;
    d->light_order[1] = 1;
    d->light_order[2] = 2;
    if (r->lights && jitters(r, key))
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

/* ---- erasing ------------------------------------------------------------------------------ */

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

void draw_modern(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct augment_options *o = r->o;
    if (r->ops)
        draw_ops(r, key, d);
    if (r->hue || r->greys || r->blurs) {
        const struct rng_block bits = draw_block(key, DRAW_HUE);
        d->hue = jitters(r, key) ? draw_between(bits.v[0], -o->hue, o->hue) : 0;
        d->grey = draw_unit(bits.v[1]) < (double)o->random_grayscale;
        if (draw_unit(bits.v[2]) < (double)o->gaussian_blur)
            d->blur_sigma = draw_between(bits.v[3], o->min_blur_sigma, o->max_blur_sigma);
    }
    if (o->rand_flip > 0 || r->solarizes) {
        const struct rng_block bits = draw_block(key, DRAW_FLIP);
        d->flip = draw_unit(bits.v[0]) < (double)o->rand_flip;
        d->solarized = draw_unit(bits.v[2]) < (double)o->random_solarize;
    }
    if (o->random_erasing > 0)
        draw_hole(r, key, d);
}

struct resize_size draw_shown(const struct recipe *r, const struct imrec_draw *d)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const bool smaller = r->det.on && !d->warped;
    return (struct resize_size){smaller ? d->fit_width : s->width,
                                smaller ? d->fit_height : s->height};
}

/* ---- all ---------------------------------------------------------------------------------- */

struct imrec_draw
augment_draw(const struct recipe *r, struct sample_key key, uint32_t width, uint32_t height)
{
    struct imrec_draw d = {.scale = 1, .aspect = 1, .value_contrast = 1, .mix_share = 1};
    const uint32_t border = 2 * (uint32_t)r->o->pad;
    const struct rng_block which =
        r->o->inter_method == 10 ? draw_block(key, DRAW_METHOD) : (struct rng_block){{0}};
    struct size in = {width, height}, to;
    resize_shorter_side(width, height, r->o->resize, &to.w, &to.h);
    d.resize_method = method(r, which.v[0], in, to);
    in = to;
    if (r->warps) {
        to = draw_warp(r, key, in, &d);
        d.warp_method = method(r, which.v[1], in, to);
        in = to;
    }
    in = (struct size){in.w + border, in.h + border};
    draw_crop(r, key, in, which.v[2], &d);
    draw_colours(r, key, &d);
    draw_modern(r, key, &d);
    return d;
}
