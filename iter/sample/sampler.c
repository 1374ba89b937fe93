/* iter/sample/sampler.c - one compressed image into a slot, or into several.
 *
 * The crops are drawn from the header's size alone; from each follows, step by step backwards,
 * which region of the stored image is needed, and only what holds them all is decoded. Images that
 * are upright and only cropped go row by row from the decoder through the kernel into their slots.
 */
#include "iter/sample/sampler.h"

#include "augment/erase.h"
#include "augment/geometry/orient.h"
#include "augment/paint_ops.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "base/rng.h"
#include "iter/sample/sample_targets.h"

#include <math.h>
#include <string.h>

#define KEPT_BYTES ((uint64_t)32 << 20) /* of buffers, between images */

/* ---- life -------------------------------------------------------------------------------- */

/* Of one image. */
struct view_plan {
    struct steps steps;
    struct normalize_job *job, own; /* one of the kind's, or `own` */
};

static enum imrec_status prepare(struct sampler_kind *k, bool mirror, const float *mean_image,
                                 bool stream, struct imrec_error *err)
{
    const struct augment_options *o = k->recipe->o;
    struct normalize_job *j = &k->jobs[mirror];
    *j = (struct normalize_job){
        .width = o->data_shape.width,
        .height = o->data_shape.height,
        .channels = o->data_shape.channels,
        .how = {.mean = {o->mean_r, o->mean_g, o->mean_b, o->mean_a},
                .std = {o->std_r, o->std_g, o->std_b, o->std_a},
                .scale = o->scale,
                .mean_image = mean_image,
                .dtype = o->dtype,
                .layout = o->layout,
                .mirror = mirror},
        .stream = stream,
    };
    return normalize_prepare(j, err);
}

enum imrec_status sampler_init(struct sampler *p, const struct view_kinds *views,
                               struct headroom *headroom, const float *mean_image, bool stream,
                               struct imrec_error *err)
{
    *p = (struct sampler){.options = &views->kinds[0].o,
                          .headroom = headroom,
                          .most = view_kinds_count(views),
                          .row = normalize_row()};
    p->kinds = imrec_zalloc(views->kind_count, sizeof(*p->kinds));
    p->plans = imrec_zalloc(p->most, sizeof(*p->plans));
    if (p->kinds == NULL || p->plans == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the plans of %u images", p->most);
    for (uint32_t i = 0; i < views->kind_count; i++) {
        p->kinds[i].recipe = &views->kinds[i].recipe;
        IMREC_TRY(prepare(&p->kinds[i], false, mean_image, stream, err));
        IMREC_TRY(prepare(&p->kinds[i], true, mean_image, stream, err));
    }
    IMREC_TRY(codec_new(&p->codec, err));
    return resize_scratch_new(&p->scratch, err);
}

static void free_images(struct sampler *p)
{
    for (int i = 0; i < 2; i++) {
        image_free(&p->source[i]);
        image_free(&p->images[i]);
        mask_free(&p->moved[i]);
    }
    mask_free(&p->mask);
}

void sampler_free(struct sampler *p)
{
    codec_free(p->codec);
    if (p->scratch != NULL)
        resize_scratch_free(p->scratch);
    free_images(p);
    IMREC_FREE(p->mean, p->kinds, p->plans);
    *p = (struct sampler){0};
}

/* ---- tones ---------------------------------------------------------------------------------- */

/* The mean image of a slot, moved. */
static const float *moved_mean(struct sampler *p, const struct normalize_job *job, float by)
{
    const size_t values = (size_t)job->width * job->height * job->channels;
    if (p->mean == NULL)
        p->mean = imrec_realloc(NULL, values, sizeof(*p->mean));
    for (size_t i = 0; p->mean != NULL && i < values; i++)
        p->mean[i] = job->how.mean_image[i] - by;
    return p->mean;
}

/* (x - mean) * c * gain + i * gain is (x - (mean - i / c)) * (c * gain). */
static enum imrec_status set_tone(struct sampler *p, const struct imrec_draw *d,
                                  struct normalize_job *job, struct imrec_error *err)
{
    const float contrast = fmaxf(d->value_contrast, 1e-6f);
    const float shift = d->value_illumination / contrast;
    job->how.scale *= contrast;
    for (int c = 0; c < 4; c++)
        job->how.mean[c] -= shift;
    if (job->how.mean_image != NULL && shift != 0 &&
        (job->how.mean_image = moved_mean(p, job, shift)) == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a mean image");
    return normalize_prepare(job, err);
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* For an upright image of width x height px. */
static enum imrec_status plan(struct sampler *p, struct sampler_view *v, uint32_t width,
                              uint32_t height, struct view_plan *k, struct imrec_error *err)
{
    const struct recipe *r = recipe_of(p, v);
    const int64_t most = r->o->max_pixels;
    const bool canvas = v->mosaic != NULL || (v->drawn && v->draw.mosaic);
    if (!canvas) /* whose own images were resized */
        IMREC_TRY(steps_check(r, NULL, width, height, most, err));
    if (v->mosaic != NULL)
        det_draw_mosaic(r, v->sample.key, v->mosaic, &v->label, &v->draw);
    else if (!v->drawn && r->det.on)
        IMREC_TRY(det_draw(r, v->sample.key, width, height, &v->label, &v->draw, err));
    else if (!v->drawn)
        v->draw = augment_draw(r, v->sample.key, width, height);
    IMREC_TRY(steps_check(r, &v->draw, width, height, most, err));
    steps_plan(&k->steps, r, &v->draw, width, height);
    if (v->sample.targets != NULL)
        sample_targets_begin(p, v, width, height);
    k->job = &p->kinds[v->kind].jobs[v->draw.mirror];
    return IMREC_OK;
}

/* The kernel for this image; a moved mean image is the one of the view aimed last. */
static enum imrec_status
aim(struct sampler *p, const struct sampler_view *v, struct view_plan *k, struct imrec_error *err)
{
    const bool toned = recipe_of(p, v)->tones;
    if (toned || p->most > 1) {
        k->own = *k->job;
        k->job = &k->own;
    }
    k->job->out = v->slot;
    k->job->flip = v->draw.flip;
    return toned ? set_tone(p, &v->draw, k->job, err) : IMREC_OK;
}

/* All views of an image have as many. */
static uint32_t channels_of(const struct sampler *p, const struct sampler_view *views)
{
    return recipe_of(p, &views[0])->o->data_shape.channels;
}

static struct imrec_rect both(struct imrec_rect a, struct imrec_rect b)
{
    const uint32_t x = a.x < b.x ? a.x : b.x, y = a.y < b.y ? a.y : b.y;
    const uint32_t right = a.x + a.width > b.x + b.width ? a.x + a.width : b.x + b.width;
    const uint32_t bottom = a.y + a.height > b.y + b.height ? a.y + a.height : b.y + b.height;
    return (struct imrec_rect){x, y, right - x, bottom - y};
}

/* The region that holds what every view is made from. */
static struct imrec_rect common_region(const struct view_plan *plans, uint32_t n)
{
    struct imrec_rect r = plans[0].steps.upright;
    for (uint32_t i = 1; i < n; i++)
        r = both(r, plans[i].steps.upright);
    return r;
}

/* scale_decode=auto: all views are planned for the image at the scale that each of them allows;
 * returns its denominator. */
static uint32_t scale_plans(struct sampler *p, uint32_t n)
{
    uint32_t least = 8;
    if (p->options->scale_decode == IMREC_SCALE_OFF || !codec_scales(p->codec))
        return 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t d = steps_denominator(&p->plans[i].steps);
        least = d < least ? d : least;
    }
    /* what a smaller image has beyond the last column and row, as it is stored, comes first where
     * that is turned round */
    const uint32_t o = p->orientation;
    const bool swaps = orient_swaps(o);
    const bool left = swaps ? orient_flips_row(o) : orient_flips_column(o);
    const bool top = swaps ? orient_flips_column(o) : orient_flips_row(o);
    const uint32_t beyond_x = (uint32_t)align_up(p->width, least) - p->width;
    const uint32_t beyond_y = (uint32_t)align_up(p->height, least) - p->height;
    for (uint32_t i = 0; i < n; i++)
        steps_scale(&p->plans[i].steps, least, left ? beyond_x : 0, top ? beyond_y : 0);
    return least;
}

/* ---- straight into the slots -------------------------------------------------------------- */

/* Only cropped. A mean image that is moved for one view is in use until its last row. */
static bool is_straight(const struct sampler *p, const struct sampler_view *views, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct recipe *r = recipe_of(p, &views[i]);
        if (p->plans[i].steps.n != 0 || recipe_paints(r) ||
            (n > 1 && r->tones && p->kinds[views[i].kind].jobs[0].how.mean_image != NULL))
            return false;
    }
    return true;
}

struct row_target {
    const struct sampler *p;
    uint32_t n;
    struct imrec_rect region;
};

static void row_to_slots(void *context, uint32_t y, const uint8_t *row)
{
    const struct row_target *t = context;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct view_plan *k = &t->p->plans[i];
        const struct imrec_rect crop = k->steps.upright;
        const uint32_t line = t->region.y + y - crop.y; /* wraps above the crop */
        if (line < crop.height)
            t->p->row(k->job, row + (size_t)(crop.x - t->region.x) * k->job->channels, line);
    }
}

static enum imrec_status decode_straight(struct sampler *p, const struct sampler_view *views,
                                         uint32_t n, struct imrec_rect region,
                                         struct imrec_error *err)
{
    struct row_target target = {p, n, region};
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(aim(p, &views[i], &p->plans[i], err));
    return codec_decode_rows(p->codec, region, channels_of(p, views), row_to_slots, &target, NULL,
                             err);
}

/* ---- by way of images --------------------------------------------------------------------- */

static enum imrec_status
orient(struct image room[2], uint32_t orientation, uint32_t *at, struct imrec_error *err)
{
    if (orientation == 1)
        return IMREC_OK;
    const struct imrec_image *from = &room[*at].view;
    *at ^= 1;
    return orient_image(orientation, from, &room[*at], err);
}

static void
finish(const struct sampler *p, const struct sampler_view *v, const struct normalize_job *job)
{
    normalize_finish(job);
    erase_slot(recipe_of(p, v), &v->draw, v->sample.key, job);
}

/* The image is images[at]. */
static enum imrec_status paint_to_slot(struct sampler *p, const struct sampler_view *v,
                                       struct view_plan *k, uint32_t at, struct imrec_error *err)
{
    IMREC_TRY(steps_paint(recipe_of(p, v), &v->draw, &v->sample, p->images, &at, p->scratch, err));
    const struct imrec_image *made = &p->images[at].view;
    for (uint32_t y = 0; y < k->job->height; y++)
        p->row(k->job, made->pixels + y * made->stride, y);
    finish(p, v, k->job);
    return IMREC_OK;
}

/* The steps from the first-th on. What it is made from is images[at], and nobody else's. */
static enum imrec_status through_steps(struct sampler *p, const struct sampler_view *v,
                                       struct view_plan *k, uint32_t first, uint32_t at,
                                       struct imrec_error *err)
{
    const struct steps *s = &k->steps;
    const struct recipe *r = recipe_of(p, v);
    IMREC_TRY(aim(p, v, k, err));
    for (uint32_t i = first; i < s->n; i++) {
        if (i == s->shift_at)
            steps_shift(r, &v->draw, &p->images[at].view);
        const struct imrec_image *from = &p->images[at].view;
        at ^= 1;
        IMREC_TRY(step_run(&s->step[i], from, &p->images[at], p->scratch, err));
    }
    if (s->shift_at >= s->n)
        steps_shift(r, &v->draw, &p->images[at].view);
    return paint_to_slot(p, v, k, at, err);
}

static enum imrec_status
copy_image(const struct imrec_image *from, struct image *to, struct imrec_error *err)
{
    IMREC_TRY(image_resize_buffer(to, from->width, from->height, from->channels, err));
    for (uint32_t y = 0; y < from->height; y++)
        memcpy(to->view.pixels + y * to->view.stride, from->pixels + y * from->stride,
               to->view.stride);
    return IMREC_OK;
}

/* One of several views, of an image that must stay as it is: its first step makes one that is the
 * view's own, or else a copy is. */
static enum imrec_status from_shared(struct sampler *p, const struct sampler_view *v,
                                     struct view_plan *k, const struct imrec_image *shared,
                                     struct imrec_rect region, struct imrec_error *err)
{
    const struct steps *s = &k->steps;
    const struct imrec_rect crop = s->upright;
    struct imrec_image part = *shared;
    part.pixels += (crop.y - region.y) * part.stride + (size_t)(crop.x - region.x) * part.channels;
    part.width = crop.width;
    part.height = crop.height;
    const bool copies = s->n == 0 || (s->shift_at == 0 && recipe_of(p, v)->det.shifts);
    IMREC_TRY(copies ? copy_image(&part, &p->images[0], err)
                     : step_run(&s->step[0], &part, &p->images[0], p->scratch, err));
    return through_steps(p, v, k, copies ? 0 : 1, 0, err);
}

/* How the image is stored, and which part of it, at which scale, is wanted. */
struct wanted {
    const struct imrec_image_info *info;
    uint32_t orientation, denominator;
    struct imrec_rect upright;
};

/* The part of the image as it is stored. */
static struct imrec_rect stored_region(const struct wanted *w)
{
    const uint32_t width = (uint32_t)ceil_div(w->info->width, w->denominator);
    const uint32_t height = (uint32_t)ceil_div(w->info->height, w->denominator);
    return orient_region(w->orientation, width, height, w->upright);
}

static enum imrec_status decode_and_augment(struct sampler *p, const struct sampler_view *views,
                                            uint32_t n, const struct wanted *w,
                                            struct imrec_error *err)
{
    uint32_t at = 0;
    struct image *room = n > 1 ? p->source : p->images;
    IMREC_TRY(codec_decode_scaled_region(p->codec, w->denominator, stored_region(w),
                                         channels_of(p, views), &room[0], NULL, err));
    const uint64_t decoded = clock_ns();
    IMREC_TRY(orient(room, w->orientation, &at, err));
    if (n == 1)
        IMREC_TRY(through_steps(p, &views[0], &p->plans[0], 0, at, err));
    for (uint32_t i = 0; n > 1 && i < n; i++)
        IMREC_TRY(from_shared(p, &views[i], &p->plans[i], &room[at].view, w->upright, err));
    p->augment_ns = clock_ns() - decoded;
    return IMREC_OK;
}

/* ---- memory ------------------------------------------------------------------------------- */

static uint64_t pixels_of(struct imrec_rect r)
{
    return (uint64_t)r.width * r.height;
}

/* Maximum bytes of a view's images besides its slot, with the tables and rows of its resizes. */
static uint64_t
view_claim(const struct sampler *p, const struct sampler_view *v, const struct view_plan *k)
{
    const struct recipe *r = recipe_of(p, v);
    const uint64_t channels = r->o->data_shape.channels;
    const uint64_t slot = (uint64_t)r->o->data_shape.width * r->o->data_shape.height;
    return steps_bytes(&k->steps, (uint32_t)channels) +
           steps_scratch_claim(&k->steps, (uint32_t)channels) +
           paint_ops_claim(r, slot * channels) + (r->blurs ? 2 * slot * channels : 0);
}

/* Maximum bytes that the sample will hold besides its slots and its decoder: the decoded region, if
 * one is held at all, turned if it must be, and the images of one view after the other. */
static uint64_t claim(const struct sampler *p, const struct sampler_view *views, uint32_t n,
                      struct imrec_rect region, bool straight, bool turn)
{
    const uint64_t channels = channels_of(p, views);
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t copy = n > 1 ? pixels_of(p->plans[i].steps.upright) * channels : 0;
        const uint64_t bytes = view_claim(p, &views[i], &p->plans[i]) + (straight ? 0 : copy);
        most = bytes > most ? bytes : most;
    }
    return most + (straight ? 0 : pixels_of(region) * channels * (turn ? 2 : 1));
}

/* One large image is no reason to hold its memory for ever. */
static void trim(struct sampler *p, uint64_t claimed)
{
    if (claimed <= KEPT_BYTES)
        return;
    free_images(p);
    codec_trim(p->codec, KEPT_BYTES);
    resize_scratch_trim(p->scratch, KEPT_BYTES);
}

/* ---- compressed images -------------------------------------------------------------------- */

/* All of the data, to its end. */
static enum imrec_status verify(struct sampler *p, struct bytes image,
                                const struct codec_limits *limits, struct imrec_error *err)
{
    struct imrec_image_info info;
    uint32_t warnings = 0;
    if (!p->options->verify_decode)
        return IMREC_OK;
    IMREC_TRY(codec_begin(p->codec, image, limits, &info, err));
    IMREC_TRY(codec_check(p->codec, &warnings, err));
    if (warnings == 0)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the image decodes only with %u faults mended (verify_decode=1)", warnings);
}

static enum imrec_status straight_to_slots(struct sampler *p, const struct sampler_view *views,
                                           uint32_t n, struct imrec_rect region,
                                           struct imrec_error *err)
{
    const enum imrec_status st = decode_straight(p, views, n, region, err);
    for (uint32_t i = 0; i < n && st == IMREC_OK; i++)
        finish(p, &views[i], p->plans[i].job);
    if (st != IMREC_OK)
        normalize_finish(p->plans[0].job);
    return st;
}

/* As it is to be seen from here on. */
static void note(struct sampler *p, const struct imrec_image_info *info)
{
    p->orientation = p->options->auto_orient ? info->orientation : 1;
    const bool swap = orient_swaps(p->orientation);
    p->width = swap ? info->height : info->width;
    p->height = swap ? info->width : info->height;
}

enum imrec_status sampler_look(struct sampler *p, struct bytes image, struct imrec_image_info *info,
                               struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = p->options->max_pixels};
    IMREC_TRY(verify(p, image, &limits, err));
    IMREC_TRY(codec_begin(p->codec, image, &limits, info, err));
    note(p, info);
    return IMREC_OK;
}

enum imrec_status sampler_look_at_pixels(struct sampler *p, const struct imrec_image *pixels,
                                         struct imrec_image_info *info, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = -1};
    IMREC_TRY(codec_begin_pixels(p->codec, pixels, &limits, info, err));
    note(p, info);
    return IMREC_OK;
}

/* Whether this sample is one of those that self_check=N compares. */
static bool is_compared(const struct sampler *p, const struct sample_key *key)
{
    const uint64_t of = (uint64_t)p->options->self_check;
    const struct rng_key k = {key->seed, key->sweep};
    return of == 1 ||
           (of > 1 &&
            rng_below(rng_block(k, key->shard, key->offset, key->view, RNG_SELF_CHECK).v[0], of) ==
                0);
}

enum imrec_status sampler_make_seen(struct sampler *p, const struct imrec_image_info *info,
                                    struct sampler_view *views, uint32_t n, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    const uint32_t orientation = p->orientation;
    p->augment_ns = 0;
    IMREC_TRY(sample_targets_check_mask(p, info, err));
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(plan(p, &views[i], p->width, p->height, &p->plans[i], err));
    struct wanted w = {.info = info, .orientation = orientation, .denominator = scale_plans(p, n)};
    const struct imrec_rect region = w.upright = common_region(p->plans, n);
    const bool straight = orientation == 1 && is_straight(p, views, n);
    const uint64_t claimed =
        codec_scaled_region_claim(p->codec, w.denominator, channels_of(p, views)) +
        sample_targets_claim(p, views, n, info) +
        claim(p, views, n, region, straight, orientation != 1) + p->held;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    codec_self_check(p->codec, is_compared(p, &views[0].sample.key));
    enum imrec_status st = sample_targets_take_mask(p, views, n, orientation, err);
    if (st == IMREC_OK && straight)
        st = straight_to_slots(p, views, n, region, err);
    else if (st == IMREC_OK)
        st = decode_and_augment(p, views, n, &w, err);
    for (uint32_t i = 0; i < n && st == IMREC_OK; i++)
        st = sample_targets_finish(p, &views[i], err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    p->decode_ns = clock_ns() - begin - p->augment_ns;
    return st;
}

enum imrec_status sampler_make(struct sampler *p, struct bytes image, struct sampler_view *views,
                               uint32_t n, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    struct imrec_image_info info;
    IMREC_TRY(sampler_look(p, image, &info, err));
    const uint64_t seen = clock_ns();
    IMREC_TRY(sampler_make_seen(p, &info, views, n, err));
    p->decode_ns += seen - begin;
    return IMREC_OK;
}

void sampler_foresee(struct sampler *p, struct bytes image, struct sampler_view *views, uint32_t n,
                     struct codec_wish *out)
{
    struct imrec_image_info info;
    struct imrec_error err;
    if (p->options->verify_decode || sampler_look(p, image, &info, &err) != IMREC_OK)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (plan(p, &views[i], p->width, p->height, &p->plans[i], &err) != IMREC_OK)
            return;
    struct wanted w = {
        .info = &info, .orientation = p->orientation, .denominator = scale_plans(p, n)};
    w.upright = common_region(p->plans, n);
    out->region = stored_region(&w);
    out->channels = channels_of(p, views);
    out->denominator = w.denominator;
}

/* ---- decoded images ----------------------------------------------------------------------- */

static enum imrec_status values_to_slot(struct sampler *p, const struct sampler_view *v,
                                        struct view_plan *k, const struct planes *image,
                                        struct imrec_error *err)
{
    const bool changed = k->steps.n != 0 || recipe_paints(recipe_of(p, v));
    if (changed || p->options->dtype != IMREC_FLOAT32)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "its values are not whole numbers from 0 to 255: they can be "
                          "cropped, mirrored and normalized to dtype=float32, not %s",
                          changed ? "augmented otherwise" : "made another dtype");
    IMREC_TRY(aim(p, v, k, err));
    planes_to_slot(image, k->steps.upright, k->job);
    finish(p, v, k->job);
    return IMREC_OK;
}

static enum imrec_status view_decoded(struct sampler *p, const struct planes *image,
                                      const struct imrec_image_info *info, struct sampler_view *v,
                                      struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    struct view_plan *k = &p->plans[0];
    IMREC_TRY(plan(p, v, image->width, image->height, k, err));
    const struct imrec_rect region = k->steps.upright;
    const uint64_t claimed =
        claim(p, v, 1, region, false, false) + sample_targets_claim(p, v, 1, info);
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    enum imrec_status st = sample_targets_take_mask(p, v, 1, p->orientation, err);
    if (st == IMREC_OK)
        st = planes_to_bytes(image, region, p->options->data_shape.channels, &p->images[0], err);
    const uint64_t decoded = clock_ns();
    if (st == IMREC_OK)
        st = through_steps(p, v, k, 0, 0, err);
    else if (st == IMREC_END)
        st = values_to_slot(p, v, k, image, err);
    if (st == IMREC_OK)
        st = sample_targets_finish(p, v, err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    p->decode_ns += decoded - begin;
    p->augment_ns += clock_ns() - decoded;
    return st;
}

enum imrec_status sampler_make_decoded(struct sampler *p, const struct planes *image,
                                       struct sampler_view *views, uint32_t n,
                                       struct imrec_error *err)
{
    p->decode_ns = p->augment_ns = 0;
    p->width = image->width;
    p->height = image->height;
    p->orientation = 1;
    const struct imrec_image_info info = {.width = image->width, .height = image->height};
    IMREC_TRY(sample_targets_check_mask(p, &info, err));
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(view_decoded(p, image, &info, &views[i], err));
    return IMREC_OK;
}

enum imrec_status sampler_make_either(struct sampler *p, struct bytes image,
                                      const struct planes *decoded, struct sampler_view *views,
                                      uint32_t n, struct imrec_error *err)
{
    return decoded->p == NULL ? sampler_make(p, image, views, n, err)
                              : sampler_make_decoded(p, decoded, views, n, err);
}
