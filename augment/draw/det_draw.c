/* augment/draw/det_draw.c - canvas, crop, affine move, mirror and colours of an image with boxes.
 *
 * Every rectangle is made of whole pixels before boxes are measured with it or moved by it, so that
 * boxes and pixels agree. Every step is symmetric left to right, so mirroring, MXNet's first step,
 * is the last one here, where it is free. */
#include "augment/draw/det_draw.h"

#include "augment/draw/affine_draw.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"

#include <math.h>

struct px {
    uint32_t x, y, w, h;
};

static struct det_box box_of(struct px r, double width, double height)
{
    return (struct det_box){r.x / width, r.y / height, (r.x + (double)r.w) / width,
                            (r.y + (double)r.h) / height};
}

/* ---- colours ------------------------------------------------------------------------------ */

static float signed_share(uint64_t bits)
{
    return (float)(2 * draw_unit(bits) - 1);
}

static void draw_shifts(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct augment_options *o = r->o;
    const struct rng_block how = draw_block(key, DRAW_DET_SHIFT);
    const struct rng_block whether = draw_block(key, DRAW_DET_WHETHER);
    if (draw_unit(whether.v[0]) < (double)o->random_hue_prob)
        d->shift_h = (int32_t)(signed_share(how.v[0]) * (float)o->max_random_hue);
    if (draw_unit(whether.v[1]) < (double)o->random_saturation_prob)
        d->shift_s = (int32_t)(signed_share(how.v[1]) * (float)o->max_random_saturation);
    if (draw_unit(whether.v[2]) < (double)o->random_illumination_prob)
        d->shift_l = (int32_t)(signed_share(how.v[2]) * o->max_random_illumination);
    if (draw_unit(whether.v[3]) < (double)o->random_contrast_prob)
        d->value_contrast = 1 + signed_share(how.v[3]) * o->max_random_contrast;
}

/* ---- canvas ------------------------------------------------------------------------------- */

/* The largest scale whose canvas is an image that may be made. */
static double bounded_scale(const struct recipe *r, double scale, double w, double h)
{
    scale = fmin(scale, fmin(65500 / w, 65500 / h));
    scale = fmin(scale, sqrt((double)r->o->max_pixels / (w * h)));
    return scale;
}

/* The image is d->width x d->height px; less than 1.05 times as much is no canvas. */
static void
draw_canvas(const struct recipe *r, struct sample_key key, uint64_t whether, struct imrec_draw *d)
{
    const struct rng_block bits = draw_block(key, DRAW_DET_PAD);
    const double w = d->width, h = d->height;
    double scale = 1 + ((double)r->o->max_pad_scale - 1) * draw_unit(bits.v[0]);
    scale = bounded_scale(r, scale, w, h);
    if (!(draw_unit(whether) < (double)r->o->rand_pad_prob) || scale < 1.05)
        return;
    d->width = (uint32_t)(scale * w);
    d->height = (uint32_t)(scale * h);
    d->pad_x = (uint32_t)rng_below(bits.v[1], d->width - (uint64_t)w + 1);
    d->pad_y = (uint32_t)rng_below(bits.v[2], d->height - (uint64_t)h + 1);
}

/* Boxes of an image of w x h px become those of its canvas. */
static void move_to_canvas(const struct imrec_draw *d, double w, double h, struct det_label *label)
{
    const struct det_box canvas = {-(d->pad_x / w), -(d->pad_y / h), (d->width - d->pad_x) / w,
                                   (d->height - d->pad_y) / h};
    if (w != d->width || h != d->height)
        det_label_project(label, canvas, NULL);
}

/* ---- crop --------------------------------------------------------------------------------- */

/* A crop whose scale is the root of its share, and whose aspect is that of its px; false where no
 * aspect allowed fits at that scale. */
static bool draw_crop(const struct det_sampler *s, const struct rng_block *bits, double width,
                      double height, struct px *out)
{
    const double scale = (double)s->scale.low +
                         ((double)s->scale.high - (double)s->scale.low) * draw_unit(bits->v[0]);
    const double image = width / height, square = scale * scale;
    const double low = fmax((double)s->aspect.low / image, square);
    const double high = fmin((double)s->aspect.high / image, 1 / square);
    if (!(scale > 0) || low > high)
        return false;
    const double ratio = sqrt(low + (high - low) * draw_unit(bits->v[1]));
    const double w = rint(fmin(1, scale * ratio) * width);
    const double h = rint(fmin(1, scale / ratio) * height);
    if (w < 1 || h < 1)
        return false;
    out->w = (uint32_t)w;
    out->h = (uint32_t)h;
    out->x = (uint32_t)rng_below(bits->v[2], (uint64_t)width - out->w + 1);
    out->y = (uint32_t)rng_below(bits->v[3], (uint64_t)height - out->h + 1);
    return true;
}

static bool within(double v, struct det_bounds b)
{
    return v >= (double)b.low && v <= (double)b.high;
}

static bool suits(const struct det_sampler *s, struct det_box crop, struct det_box box)
{
    const double both = det_box_shared_area(crop, box);
    const double a = det_box_area(crop), b = det_box_area(box);
    return (!s->asks_overlap || within(both / (a + b - both), s->overlap)) &&
           (!s->asks_sample || within(both / a, s->sample)) &&
           (!s->asks_object || within(both / b, s->object));
}

/* Whether some box suits the sampler and some box stays; keep[] says which ones do. An image
 * without boxes suits every crop. */
static bool accept(const struct recipe *r, const struct det_sampler *s, struct det_box crop,
                   const struct det_label *label, bool *keep)
{
    const uint32_t n = det_label_count(label);
    const bool by_centre = r->o->crop_emit_mode == IMREC_EMIT_CENTER;
    bool suited = !s->asks_overlap && !s->asks_sample && !s->asks_object, any = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct det_box b = det_label_box(label, i);
        const double share = det_box_shared_area(crop, b) / det_box_area(b);
        suited = suited || suits(s, crop, b);
        keep[i] = by_centre ? det_box_contains_centre(crop, b) && share > 0
                            : share > (double)r->o->emit_overlap_thresh;
        any = any || keep[i];
    }
    return n == 0 || (suited && any);
}

/* The samplers in random order: sorted by 64 random bits each. */
static void draw_order(const struct recipe *r, struct sample_key key, uint32_t order[DET_SAMPLERS])
{
    uint64_t rank[DET_SAMPLERS];
    for (uint32_t i = 0; i < r->det.sampler_count; i++) {
        const uint64_t bits = draw_block(key, DRAW_DET_ORDER + i / 4).v[i % 4];
        uint32_t at = i;
        for (; at > 0 && rank[at - 1] > bits; at--) {
            rank[at] = rank[at - 1];
            order[at] = order[at - 1];
        }
        rank[at] = bits;
        order[at] = i;
    }
}

static bool try_sampler(const struct recipe *r, struct sample_key key, uint32_t sampler,
                        struct det_label *label, bool *keep, struct imrec_draw *d)
{
    const struct det_sampler *s = &r->det.samplers[sampler];
    for (uint32_t t = 0; t < s->trials; t++) {
        const struct rng_block bits = draw_block(key, DRAW_DET_CROP + sampler * DET_TRIALS + t);
        struct px crop;
        d->crop_trials++;
        if (!draw_crop(s, &bits, d->width, d->height, &crop))
            continue;
        const struct det_box box = box_of(crop, d->width, d->height);
        if (!accept(r, s, box, label, keep))
            continue;
        det_label_project(label, box, keep);
        d->crop_sampler = (int32_t)sampler;
        d->x = crop.x, d->y = crop.y;
        d->crop_width = crop.w, d->crop_height = crop.h;
        return true;
    }
    return false;
}

static enum imrec_status try_samplers(const struct recipe *r, struct sample_key key,
                                      struct det_label *label, struct imrec_draw *d,
                                      struct imrec_error *err)
{
    enum { AT_HAND = 256 };
    bool few[AT_HAND], *keep = few;
    uint32_t order[DET_SAMPLERS];
    const uint32_t boxes = det_label_count(label);
    if (boxes > AT_HAND && (keep = imrec_realloc(NULL, boxes, sizeof(*keep))) == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u boxes", boxes);
    draw_order(r, key, order);
    for (uint32_t i = 0; i < r->det.sampler_count; i++)
        if (try_sampler(r, key, order[i], label, keep, d))
            break;
    if (keep != few)
        imrec_free(keep);
    return IMREC_OK;
}

/* ---- into the slot ------------------------------------------------------------------------ */

static void draw_fit(const struct recipe *r, struct imrec_draw *d)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const float w = (float)d->crop_width, h = (float)d->crop_height;
    const float ratio = fminf((float)s->height / h, (float)s->width / w);
    d->fit_width = s->width, d->fit_height = s->height;
    if (r->o->resize_mode == IMREC_RESIZE_FORCE)
        return;
    const float by = r->o->resize_mode == IMREC_RESIZE_SHRINK && ratio > 1 ? 1 : ratio;
    const uint32_t fit_w = (uint32_t)(by * w), fit_h = (uint32_t)(by * h);
    d->fit_width = fit_w < 1 ? 1 : fit_w < s->width ? fit_w : s->width;
    d->fit_height = fit_h < 1 ? 1 : fit_h < s->height ? fit_h : s->height;
}

/* Colours, which depend on no geometry. */
static void begin(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    *d = (struct imrec_draw){.scale = 1, .aspect = 1, .mix_share = 1, .crop_sampler = -1};
    draw_colours(r, key, d);
    draw_modern(r, key, d);
    if (r->det.shifts)
        draw_shifts(r, key, d);
}

static struct rng_block draw_methods(const struct recipe *r, struct sample_key key)
{
    return r->o->inter_method == 10 ? draw_block(key, DRAW_METHOD) : (struct rng_block){{0}};
}

/* From d->fit_width x d->fit_height px into the slot. */
static void move_affinely(const struct recipe *r, struct sample_key key, float scale,
                          struct det_label *label, struct imrec_draw *d)
{
    const uint32_t w = d->fit_width, h = d->fit_height;
    affine_draw(r, key, w, h, affine_is_drawn(r, key), scale, d);
    affine_move(r, d, w, h, label);
    d->warp_method =
        draw_method(r, draw_methods(r, key).v[1], w, h, d->canvas_width, d->canvas_height);
}

static void
end(const struct recipe *r, uint64_t whether, struct det_label *label, struct imrec_draw *d)
{
    d->mirror = draw_unit(whether) < (double)r->o->rand_mirror_prob;
    if (d->mirror)
        det_label_mirror(label);
    if (d->flip)
        det_label_flip(label);
    d->boxes = det_label_count(label);
}

enum imrec_status det_draw(const struct recipe *r, struct sample_key key, uint32_t width,
                           uint32_t height, struct det_label *label, struct imrec_draw *d,
                           struct imrec_error *err)
{
    const struct augment_options *o = r->o;
    const struct rng_block which = draw_methods(r, key);
    const struct rng_block whether = draw_block(key, DRAW_DET_GEOMETRY);
    begin(r, key, d);
    resize_shorter_side(width, height, o->resize, &d->width, &d->height);
    d->resize_method = draw_method(r, which.v[0], width, height, d->width, d->height);
    const uint32_t w = d->width, h = d->height;
    draw_canvas(r, key, whether.v[1], d);
    move_to_canvas(d, w, h, label);
    d->crop_width = d->width, d->crop_height = d->height;
    if (draw_unit(whether.v[2]) < (double)o->rand_crop_prob)
        IMREC_TRY(try_samplers(r, key, label, d, err));
    draw_fit(r, d);
    d->crop_method =
        draw_method(r, which.v[2], d->crop_width, d->crop_height, d->fit_width, d->fit_height);
    if (affine_is_drawn(r, key))
        move_affinely(r, key, 1, label, d);
    end(r, whether.v[0], label, d);
    return IMREC_OK;
}

void det_draw_mosaic(const struct recipe *r, struct sample_key key, const struct mosaic_draw *m,
                     struct det_label *label, struct imrec_draw *d)
{
    begin(r, key, d);
    d->mosaic = true;
    d->mosaic_x = m->x, d->mosaic_y = m->y;
    d->mosaic_scale = m->scale;
    d->width = d->crop_width = d->fit_width = m->width;
    d->height = d->crop_height = d->fit_height = m->height;
    move_affinely(r, key, m->scale, label, d);
    end(r, draw_block(key, DRAW_DET_GEOMETRY).v[0], label, d);
}

void det_draw_made(const struct recipe *r, struct sample_key key, struct imrec_draw *d)
{
    const struct imrec_shape *s = &r->o->data_shape;
    begin(r, key, d);
    d->mosaic = true; /* nothing of it is resized */
    d->width = d->crop_width = d->fit_width = s->width;
    d->height = d->crop_height = d->fit_height = s->height;
    d->shift_h = d->shift_l = d->shift_s = 0;
    d->value_contrast = 1;
    d->flip = false;
}
