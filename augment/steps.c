/* augment/steps.c - an image's way as steps: planned backwards, run forwards; and its paints. */
#include "augment/steps.h"

#include "augment/colour/blur.h"
#include "augment/colour/colour.h"
#include "augment/colour/ops.h"
#include "augment/paint_ops.h"
#include "augment/resize/scratch.h"
#include "base/error.h"
#include "base/math.h"

#include <string.h>

/* ---- planning ----------------------------------------------------------------------------- */

struct plan {
    struct step step[MAX_STEPS + 1]; /* with the crop, which is no step of the result */
    uint32_t n;
    uint32_t w, h;                           /* px, so far */
    struct resize_size after[MAX_STEPS + 1]; /* px, of each one's whole result */
};

static struct step *add(struct plan *p, enum step_kind kind, uint32_t width, uint32_t height)
{
    struct step *s = &p->step[p->n];
    p->after[p->n++] = (struct resize_size){width, height};
    *s = (struct step){.kind = kind};
    p->w = width;
    p->h = height;
    return s;
}

static void
add_resize(struct plan *p, const struct recipe *r, uint32_t width, uint32_t height, uint8_t method)
{
    const uint32_t w = p->w, h = p->h;
    const enum resample_filter filter = method == RESIZE_CUBIC ? RESAMPLE_CUBIC : RESAMPLE_TRIANGLE;
    if (w == width && h == height)
        return;
    if (r->o->resize_style == IMREC_RESIZE_PILLOW && method != RESIZE_NEAREST) {
        add(p, STEP_PILLOW, width, height)->u.pillow =
            (struct pillow_job){.from_width = w,
                                .from_height = h,
                                .to_width = width,
                                .to_height = height,
                                .method = (enum resize_method)method};
        return;
    }
    if (r->o->antialias && (method == RESIZE_BILINEAR || method == RESIZE_CUBIC)) {
        struct step *s = add(p, STEP_RESAMPLE, width, height);
        s->u.resample.from_width = w;
        s->u.resample.from_height = h;
        s->u.resample.job =
            (struct resample_job){.to_width = width, .to_height = height, .filter = filter};
        return;
    }
    add(p, STEP_RESIZE, width, height)->u.resize =
        (struct resize_job){.from_width = w,
                            .from_height = h,
                            .to_width = width,
                            .to_height = height,
                            .method = (enum resize_method)method};
}

static void set_fill(const struct recipe *r, uint8_t fill[4])
{
    memset(fill, (int)r->o->fill_value, 3);
    fill[3] = 0; /* alpha */
}

static void add_warp(struct plan *p, const struct recipe *r, const struct imrec_draw *d)
{
    const uint32_t w = p->w, h = p->h;
    struct warp_job *j = &add(p, STEP_WARP, d->canvas_width, d->canvas_height)->u.warp;
    *j = (struct warp_job){.from_width = w,
                           .from_height = h,
                           .to_width = d->canvas_width,
                           .to_height = d->canvas_height,
                           .method = (enum resize_method)d->warp_method};
    memcpy(j->matrix, d->matrix, sizeof(j->matrix));
    memcpy(j->tilt, d->tilt, sizeof(j->tilt));
    set_fill(r, j->fill);
}

/* The image lies at (x, y) of it. */
static void add_canvas(struct plan *p, const struct recipe *r, uint32_t x, uint32_t y,
                       uint32_t width, uint32_t height)
{
    const uint32_t w = p->w, h = p->h;
    if (w == width && h == height)
        return;
    struct pad_job *j = &add(p, STEP_PAD, width, height)->u.pad;
    *j = (struct pad_job){.from_width = w, .from_height = h, .left = x, .top = y};
    set_fill(r, j->fill);
}

static void add_border(struct plan *p, const struct recipe *r)
{
    const uint32_t border = (uint32_t)r->o->pad;
    add_canvas(p, r, border, border, p->w + 2 * border, p->h + 2 * border);
}

/* A crop of another size is resized; one of data_shape may need a larger image first. */
static void add_crop(struct plan *p, const struct recipe *r, const struct imrec_draw *d)
{
    const struct imrec_shape *out = &r->o->data_shape;
    const bool exact = d->crop_width == out->width && d->crop_height == out->height;
    struct resize_size to[2];
    const uint32_t passes = exact ? resize_to_cover(p->w, p->h, out->width, out->height, to) : 0;
    for (uint32_t i = 0; i < passes; i++)
        add_resize(p, r, to[i].width, to[i].height, d->crop_method);
    add(p, STEP_CROP, d->crop_width, d->crop_height)->u.crop =
        (struct imrec_rect){d->x, d->y, d->crop_width, d->crop_height};
    add_resize(p, r, out->width, out->height, d->crop_method);
}

/* The slot's mirroring comes last: what is to lie on its left begins on its right; a flip
 * likewise. An affine move fills the slot. */
static void add_boxed(struct plan *p, const struct recipe *r, const struct imrec_draw *d)
{
    const struct imrec_shape *out = &r->o->data_shape;
    add_canvas(p, r, d->pad_x, d->pad_y, d->width, d->height);
    add(p, STEP_CROP, d->crop_width, d->crop_height)->u.crop =
        (struct imrec_rect){d->x, d->y, d->crop_width, d->crop_height};
    add_resize(p, r, d->fit_width, d->fit_height, d->crop_method);
    if (d->warped)
        add_warp(p, r, d);
    add_canvas(p, r, d->mirror ? out->width - d->fit_width : 0,
               d->flip ? out->height - d->fit_height : 0, out->width, out->height);
}

/* The window of a step's result is given; returns the region of its source. */
static struct imrec_rect source_of(struct step *s, struct imrec_rect window)
{
    s->window = window;
    switch (s->kind) {
    case STEP_RESIZE:
        s->u.resize.window = window;
        return resize_source_region(&s->u.resize);
    case STEP_RESAMPLE:
        s->u.resample.job.window = window;
        return (struct imrec_rect){0, 0, s->u.resample.from_width, s->u.resample.from_height};
    case STEP_PILLOW:
        s->u.pillow.window = window;
        return pillow_source_region(&s->u.pillow);
    case STEP_WARP:
        s->u.warp.window = window;
        return warp_source_region(&s->u.warp);
    case STEP_PAD:
        s->u.pad.window = window;
        return pad_source_region(&s->u.pad);
    case STEP_CROP:
        window.x += s->u.crop.x;
        window.y += s->u.crop.y;
        break;
    }
    return window;
}

/* Returns at which step shifts of colours come. */
static uint32_t make_plan(struct plan *p, const struct recipe *r, const struct imrec_draw *d)
{
    uint32_t w = p->w, h = p->h;
    if (!d->mosaic) /* its images were resized, each by itself */
        resize_shorter_side(p->w, p->h, r->o->resize, &w, &h);
    add_resize(p, r, w, h, d->resize_method);
    const uint32_t shift_at = p->n;
    if (d->warped && !r->det.on)
        add_warp(p, r, d);
    if (r->o->pad > 0)
        add_border(p, r);
    if (r->det.on)
        add_boxed(p, r, d);
    else
        add_crop(p, r, d);
    return shift_at;
}

void steps_plan(struct steps *s, const struct recipe *r, const struct imrec_draw *d, uint32_t width,
                uint32_t height)
{
    struct plan p = {.w = width, .h = height};
    s->shift_at = make_plan(&p, r, d);
    struct imrec_rect need = {0, 0, p.w, p.h};
    for (uint32_t i = p.n; i-- > 0;) /* backwards: what each step is made from */
        need = source_of(&p.step[i], need);
    s->upright = need;
    s->n = 0;
    for (uint32_t i = 0; i < p.n; i++)
        if (p.step[i].kind != STEP_CROP)
            s->step[s->n++] = p.step[i];
}

/* ---- of a smaller image ---------------------------------------------------------------------- */

/* What an antialiased resize makes of what; false: the step is none. Others take few pixels of
 * many, and of a smaller image they would take others; so does Pillow's box, of one and a half. */
static bool sizes_of(const struct step *s, struct resize_size *from, struct resize_size *to)
{
    if (s->kind == STEP_RESAMPLE) {
        *from = (struct resize_size){s->u.resample.from_width, s->u.resample.from_height};
        *to = (struct resize_size){s->u.resample.job.to_width, s->u.resample.job.to_height};
    } else if (s->kind == STEP_PILLOW && s->u.pillow.method != RESIZE_AREA) {
        *from = (struct resize_size){s->u.pillow.from_width, s->u.pillow.from_height};
        *to = (struct resize_size){s->u.pillow.to_width, s->u.pillow.to_height};
    }
    return s->kind == STEP_RESAMPLE ||
           (s->kind == STEP_PILLOW && s->u.pillow.method != RESIZE_AREA);
}

uint32_t steps_denominator(const struct steps *s)
{
    struct resize_size from, to;
    uint32_t d = RESIZE_PARTS;
    if (s->n == 0 || !sizes_of(&s->step[0], &from, &to))
        return 1;
    while (d > 1 && (from.width < (uint64_t)d * to.width || from.height < (uint64_t)d * to.height))
        d /= 2;
    return d;
}

/* Along an axis: the whole pixels that hold `size` px from `begin` on, once they are made smaller,
 * and what of them is meant. Returns the first of them. */
static uint32_t
scale_axis(uint32_t begin, uint32_t denominator, uint32_t *size, struct resize_part *part)
{
    const uint32_t first = begin / denominator, parts = RESIZE_PARTS / denominator;
    *part = (struct resize_part){(begin - first * denominator) * parts, *size * parts};
    *size = (uint32_t)ceil_div(begin + *size, denominator) - first;
    return first;
}

void steps_scale(struct steps *s, uint32_t denominator, uint32_t left, uint32_t top)
{
    struct step *first = &s->step[0];
    if (denominator == 1)
        return;
    struct imrec_rect need =
        source_of(first, first->window); /* of what it takes, which begins at */
    left += s->upright.x - need.x;
    top += s->upright.y - need.y;
    const bool pillow = first->kind == STEP_PILLOW;
    uint32_t *width = pillow ? &first->u.pillow.from_width : &first->u.resample.from_width;
    uint32_t *height = pillow ? &first->u.pillow.from_height : &first->u.resample.from_height;
    const uint32_t x = scale_axis(left, denominator, width,
                                  pillow ? &first->u.pillow.x : &first->u.resample.job.x);
    const uint32_t y = scale_axis(top, denominator, height,
                                  pillow ? &first->u.pillow.y : &first->u.resample.job.y);
    need = source_of(first, first->window);
    need.x += x;
    need.y += y;
    s->upright = need;
}

static enum imrec_status
refuse(const char *what, struct resize_size to, int64_t max_pixels, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_LIMIT,
                      "%s it would have %u x %u px; a side is limited to %d px, an image to "
                      "max_pixels=%lld",
                      what, to.width, to.height, IMAGE_MOST_SIDE, (long long)max_pixels);
}

enum imrec_status steps_check(const struct recipe *r, const struct imrec_draw *d, uint32_t width,
                              uint32_t height, int64_t max_pixels, struct imrec_error *err)
{
    struct plan p = {.w = width, .h = height};
    struct resize_size to;
    resize_shorter_side(width, height, r->o->resize, &to.width, &to.height);
    const bool resized = to.width != width || to.height != height;
    if (d == NULL && resized && !image_is_within(to.width, to.height, max_pixels))
        return refuse("resized", to, max_pixels, err);
    if (d == NULL)
        return IMREC_OK;
    (void)make_plan(&p, r, d);
    for (uint32_t i = 0; i < p.n; i++) {
        const bool last = p.after[i].width == r->o->data_shape.width &&
                          p.after[i].height == r->o->data_shape.height;
        if (p.step[i].kind != STEP_CROP && !last &&
            !image_is_within(p.after[i].width, p.after[i].height, max_pixels))
            return refuse("augmented", p.after[i], max_pixels, err);
    }
    return IMREC_OK;
}

/* What a step takes of the scratch. */
static uint64_t scratch_of(const struct step *s, uint32_t channels)
{
    enum { WARP_TABLES = 256 << 10, OF_PLACE = 2 * sizeof(int32_t) };
    switch (s->kind) {
    case STEP_RESIZE:
        return resize_scratch_claim(resize_source_region(&s->u.resize).width, s->window.width,
                                    channels);
    case STEP_RESAMPLE:
        return resample_scratch_claim(&s->u.resample.job, s->u.resample.from_width,
                                      s->u.resample.from_height, channels);
    case STEP_PILLOW:
        return pillow_scratch_claim(&s->u.pillow, channels);
    case STEP_WARP:
        return WARP_TABLES + (uint64_t)s->window.width * OF_PLACE;
    case STEP_PAD:
    case STEP_CROP:
        break;
    }
    return 0;
}

uint64_t steps_scratch_claim(const struct steps *s, uint32_t channels)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++)
        bytes += scratch_of(&s->step[i], channels);
    return bytes;
}

uint64_t steps_bytes(const struct steps *s, uint32_t channels)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++)
        bytes += (uint64_t)s->step[i].window.width * s->step[i].window.height * channels;
    return bytes;
}

/* ---- places ------------------------------------------------------------------------------- */

static void add_to_path(struct path *path, const struct step *s, struct resize_size after)
{
    double m[9];
    switch (s->kind) {
    case STEP_RESIZE:
    case STEP_RESAMPLE:
    case STEP_PILLOW:
        path_add_resize(path, after.width, after.height);
        break;
    case STEP_WARP:
        warp_projection(s->u.warp.matrix, s->u.warp.tilt, m);
        path_add_edge(path);
        path_add_map(path, m, after.width, after.height);
        break;
    case STEP_PAD:
        path_add_edge(path);
        path_add_shift(path, s->u.pad.left, s->u.pad.top, after.width, after.height);
        break;
    case STEP_CROP:
        path_add_shift(path, -(double)s->u.crop.x, -(double)s->u.crop.y, after.width, after.height);
        break;
    }
}

void steps_path(struct path *path, const struct recipe *r, const struct imrec_draw *d,
                uint32_t width, uint32_t height)
{
    struct plan p = {.w = width, .h = height};
    (void)make_plan(&p, r, d);
    path_begin(path, width, height);
    for (uint32_t i = 0; i < p.n; i++)
        add_to_path(path, &p.step[i], p.after[i]);
}

/* ---- running ------------------------------------------------------------------------------ */

enum imrec_status step_run(const struct step *step, const struct imrec_image *from,
                           struct image *to, struct resize_scratch *scratch,
                           struct imrec_error *err)
{
    switch (step->kind) {
    case STEP_RESIZE:
        return resize_window(&step->u.resize, from, to, scratch, err);
    case STEP_RESAMPLE:
        return resample_window(&step->u.resample.job, from, to, scratch, err);
    case STEP_PILLOW:
        return pillow_window(&step->u.pillow, from, to, scratch, err);
    case STEP_WARP:
        return warp_window(&step->u.warp, from, to, scratch, err);
    case STEP_PAD:
        return pad_window(&step->u.pad, from, to, err);
    case STEP_CROP:
        break;
    }
    return IMREC_OK;
}

void steps_shift(const struct recipe *r, const struct imrec_draw *d, const struct imrec_image *p)
{
    if (!r->det.shifts)
        return;
    if (d->shift_h != 0 || d->shift_l != 0 || d->shift_s != 0)
        colour_hls(p, d->shift_h, d->shift_l, d->shift_s, cpu_level());
    if (d->value_contrast != 1)
        colour_brightness(p, d->value_contrast, cpu_level());
}

static void paint_lights(const struct recipe *r, const struct imrec_draw *d,
                         const struct imrec_image *p, enum cpu_level level)
{
    const struct grey_weights *w =
        r->o->rrc_style == IMREC_RRC_TORCH ? &grey_of_pillow : &grey_of_original;
    for (int i = 0; i < 3; i++)
        if (d->light_order[i] == 0 && d->brightness != 1)
            colour_brightness(p, d->brightness, level);
        else if (d->light_order[i] == 1 && d->contrast != 1)
            colour_contrast(p, w, d->contrast, level);
        else if (d->light_order[i] == 2 && d->saturation != 1)
            colour_saturation(p, w, d->saturation, level);
}

static enum imrec_status paint_one(const struct recipe *r, enum paint what,
                                   const struct imrec_draw *d, const struct imrec_image *p,
                                   struct resize_scratch *scratch, enum cpu_level level,
                                   struct imrec_error *err)
{
    switch (what) {
    case PAINT_LIGHTS:
        paint_lights(r, d, p, level);
        break;
    case PAINT_HUE:
        colour_hue(p, d->hue, level);
        break;
    case PAINT_HLS:
        colour_hls(p, d->shift_h, d->shift_l, d->shift_s, level);
        break;
    case PAINT_PCA:
        colour_light(p, d->light, level);
        break;
    case PAINT_GREY:
        if (d->grey)
            colour_grey(p, level);
        break;
    case PAINT_BLUR:
        return d->blur_sigma > 0 ? blur(p, d->blur_sigma, scratch, level, err) : IMREC_OK;
    case PAINT_SOLARIZE:
        if (d->solarized)
            return op_paint(IMREC_OP_SOLARIZE, (float)r->o->solarize_threshold, p, scratch, level,
                            err);
        break;
    default:
        break;
    }
    return IMREC_OK;
}

static enum imrec_status paint_by_user(const struct user_augmenter *a, const struct imrec_draw *d,
                                       const struct paint_sample *s, const struct imrec_image *p,
                                       struct imrec_error *err)
{
    struct imrec_augmenter_call call = {.image = *p,
                                        .key = {.seed = s->key.seed,
                                                .sweep = s->key.sweep,
                                                .shard = s->key.shard,
                                                .offset = s->key.offset,
                                                .view = s->key.view},
                                        .labels = s->labels,
                                        .label_count = s->label_count,
                                        .draw = d};
    if (s->targets != NULL)
        IMREC_TRY(targets_show(s->targets, &call, err));
    IMREC_TRY(user_augmenter_run(a, &call, err));
    return s->targets != NULL ? targets_take_back(s->targets, &call, err) : IMREC_OK;
}

enum imrec_status steps_paint(const struct recipe *r, const struct imrec_draw *d,
                              const struct paint_sample *sample, struct image images[2],
                              uint32_t *at, struct resize_scratch *scratch, struct imrec_error *err)
{
    const enum cpu_level level = cpu_level();
    for (uint32_t i = 0; i < r->paint_count; i++) {
        IMREC_TRY(stop_check(scratch->stop, err));
        if (r->paints[i] == PAINT_OPS)
            IMREC_TRY(paint_ops(r, d, sample, images, at, scratch, err));
        else if (r->paints[i] >= PAINTS)
            IMREC_TRY(paint_by_user(&r->augmenters[r->paints[i] - PAINTS], d, sample,
                                    &images[*at].view, err));
        else
            IMREC_TRY(paint_one(r, r->paints[i], d, &images[*at].view, scratch, level, err));
    }
    return IMREC_OK;
}
