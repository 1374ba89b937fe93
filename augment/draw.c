/* augment/draw.c - what is random about a sample's geometry, as a function of its key.
 *
 * The size of the picture is followed through the steps: resize, warp, border, then one of three
 * kinds of crops. */
#include "augment/draw.h"

#include "augment/resize.h"
#include "base/rng.h"

#include <math.h>

struct rng_block draw_block(struct sample_key key, uint32_t block)
{
    return rng_block((struct rng_key){key.seed, key.sweep}, key.shard, key.offset,
                     (uint64_t)key.view << 32 | block, RNG_AUGMENT);
}

double draw_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

float draw_between(uint64_t bits, float low, float high)
{
    const float v = (float)((double)low + ((double)high - (double)low) * draw_unit(bits));
    return v < high ? v : high;
}

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

/* ---- the warp ------------------------------------------------------------------------------ */

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
    const struct imrec_iter_options *o = r->o;
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

/* ---- crops --------------------------------------------------------------------------------- */

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

/* A square; a picture that is smaller gives what it has. */
static struct size draw_square(const struct recipe *r, struct sample_key key, struct size in)
{
    const uint64_t bits = draw_block(key, DRAW_CROP_SIZE).v[0];
    uint32_t n = r->crop_low + (uint32_t)rng_below(bits, r->crop_high - r->crop_low + 1);
    n = n < in.w ? n : in.w;
    n = n < in.h ? n : in.h;
    return (struct size){n, n};
}

/* Crops of data_shape: a picture that is smaller is enlarged first. */
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
    const struct imrec_iter_options *o = r->o;
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
    d->mirror = o->mirror || (o->rand_mirror && bits.v[2] >> 63 != 0);
}

/* ---- all ----------------------------------------------------------------------------------- */

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
