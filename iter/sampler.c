/*
 * iter/sampler.c - one compressed picture into a slot.
 *
 * The crop is drawn from the header's size alone; from it follows, step by step backwards, which
 * region of the stored picture is needed, and only that is decoded. A picture that is upright
 * and only cropped goes row by row from the decoder through the kernel into the slot.
 */
#include "iter/sampler.h"

#include "augment/orient.h"
#include "augment/steps.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <math.h>

#define KEPT_BYTES ((uint64_t)32 << 20) /* of buffers, between pictures */

/* ---- life -------------------------------------------------------------------------------- */

static enum imrec_status prepare(struct sampler *p, bool mirror, const float *mean_image,
                                 bool stream, struct imrec_error *err)
{
    const struct imrec_iter_options *o = p->options;
    struct normalize_job *j = &p->jobs[mirror];
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

enum imrec_status sampler_init(struct sampler *p, const struct recipe *recipe,
                               struct headroom *headroom, const float *mean_image, bool stream,
                               struct imrec_error *err)
{
    *p = (struct sampler){.options = recipe->o, .recipe = recipe, .headroom = headroom};
    p->row = normalize_row();
    IMREC_TRY(prepare(p, false, mean_image, stream, err));
    IMREC_TRY(prepare(p, true, mean_image, stream, err));
    IMREC_TRY(codec_new(&p->codec, err));
    return resize_scratch_new(&p->scratch, err);
}

void sampler_free(struct sampler *p)
{
    codec_free(p->codec);
    if (p->scratch != NULL)
        resize_scratch_free(p->scratch);
    image_free(&p->images[0]);
    image_free(&p->images[1]);
    imrec_free(p->mean);
    *p = (struct sampler){0};
}

uint64_t sampler_memory(const struct sampler *p)
{
    return codec_memory(p->codec) + resize_scratch_memory(p->scratch) + p->images[0].capacity +
           p->images[1].capacity;
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
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for a mean image");
    return normalize_prepare(job, err);
}

/* ---- a picture's plan ------------------------------------------------------------------------ */

struct plan {
    struct steps steps;
    struct normalize_job *job, toned;
};

/* For an upright picture of width x height px. */
static enum imrec_status plan(struct sampler *p, struct sample_key key, uint32_t width,
                              uint32_t height, struct plan *k, struct imrec_draw *draw,
                              struct imrec_error *err)
{
    p->sample.key = key;
    if (p->recipe->det.on)
        IMREC_TRY(det_draw(p->recipe, key, width, height, p->label, draw, err));
    else
        *draw = augment_draw(p->recipe, key, width, height);
    steps_plan(&k->steps, p->recipe, draw, width, height);
    k->job = &p->jobs[draw->mirror];
    if (!p->recipe->tones)
        return IMREC_OK;
    k->toned = *k->job;
    k->job = &k->toned;
    return set_tone(p, draw, k->job, err);
}

/* ---- pixels ------------------------------------------------------------------------------- */

struct row_target {
    const struct normalize_job *job;
    normalize_row_fn *row;
};

static void row_to_slot(void *context, uint32_t y, const uint8_t *row)
{
    const struct row_target *t = context;
    t->row(t->job, row, y);
}

static enum imrec_status decode_straight(struct sampler *p, const struct normalize_job *job,
                                         struct imrec_rect region, struct imrec_error *err)
{
    struct row_target target = {job, p->row};
    return codec_decode_rows(p->codec, region, job->channels, row_to_slot, &target, NULL, err);
}

static enum imrec_status
orient(struct sampler *p, uint32_t orientation, uint32_t *at, struct imrec_error *err)
{
    if (orientation == 1)
        return IMREC_OK;
    const struct imrec_image *from = &p->images[*at].view;
    *at ^= 1;
    return orient_image(orientation, from, &p->images[*at], err);
}

static enum imrec_status through_steps(struct sampler *p, const struct steps *s,
                                       const struct imrec_draw *draw, uint32_t at,
                                       const struct normalize_job *job, struct imrec_error *err)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == s->shift_at)
            steps_shift(p->recipe, draw, &p->images[at].view);
        const struct imrec_image *from = &p->images[at].view;
        at ^= 1;
        IMREC_TRY(step_run(&s->step[i], from, &p->images[at], p->scratch, err));
    }
    if (s->shift_at >= s->n)
        steps_shift(p->recipe, draw, &p->images[at].view);
    IMREC_TRY(steps_paint(p->recipe, draw, &p->sample, p->images, &at, p->scratch, err));
    const struct imrec_image *made = &p->images[at].view;
    for (uint32_t y = 0; y < job->height; y++)
        p->row(job, made->pixels + y * made->stride, y);
    return IMREC_OK;
}

static enum imrec_status
decode_and_augment(struct sampler *p, const struct steps *s, const struct imrec_draw *draw,
                   const struct imrec_picture_info *info, uint32_t orientation,
                   const struct normalize_job *job, struct imrec_error *err)
{
    uint32_t at = 0;
    const struct imrec_rect region =
        orient_region(orientation, info->width, info->height, s->upright);
    IMREC_TRY(codec_decode_image(p->codec, region, job->channels, &p->images[at], NULL, err));
    const uint64_t decoded = clock_ns();
    IMREC_TRY(orient(p, orientation, &at, err));
    IMREC_TRY(through_steps(p, s, draw, at, job, err));
    p->augment_ns = clock_ns() - decoded;
    return IMREC_OK;
}

/* What the picture will hold beside its slot and its decoder, at most. */
static uint64_t claim(const struct sampler *p, const struct steps *s, bool straight, bool turn)
{
    const uint64_t channels = p->options->data_shape.channels;
    uint64_t bytes = 0;
    if (!straight)
        bytes += (uint64_t)s->upright.width * s->upright.height * channels * (turn ? 2 : 1);
    const uint64_t slot = (uint64_t)p->options->data_shape.width * p->options->data_shape.height;
    return bytes + steps_bytes(s, (uint32_t)channels) + (p->recipe->ops ? slot * channels : 0) +
           (p->recipe->blurs ? 2 * slot * channels : 0);
}

/* One large picture is no reason to hold its memory for ever. */
static void trim(struct sampler *p, uint64_t claimed)
{
    if (claimed <= KEPT_BYTES)
        return;
    image_free(&p->images[0]);
    image_free(&p->images[1]);
}

static void finish(const struct normalize_job *job, const struct imrec_draw *d)
{
    normalize_finish(job);
    if (d->erase_width != 0)
        normalize_erase(
            job, (struct imrec_rect){d->erase_x, d->erase_y, d->erase_width, d->erase_height});
}

/* All of the data, to its end. */
static enum imrec_status verify(struct sampler *p, struct bytes image,
                                const struct codec_limits *limits, struct imrec_error *err)
{
    struct imrec_picture_info info;
    uint32_t warnings = 0;
    if (!p->options->verify_decode)
        return IMREC_OK;
    IMREC_TRY(codec_begin(p->codec, image, limits, &info, err));
    IMREC_TRY(codec_check(p->codec, &warnings, err));
    if (warnings == 0)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                          "the picture decodes only with %u faults mended (verify_decode=1)",
                          warnings);
}

enum imrec_status sampler_make(struct sampler *p, struct bytes image, struct sample_key key,
                               void *slot, struct imrec_draw *draw, struct imrec_error *err)
{
    const struct imrec_iter_options *o = p->options;
    const struct codec_limits limits = {.max_pixels = o->max_pixels};
    const uint64_t begin = clock_ns();
    struct imrec_picture_info info;

    p->augment_ns = 0;
    IMREC_TRY(verify(p, image, &limits, err));
    IMREC_TRY(codec_begin(p->codec, image, &limits, &info, err));
    const uint32_t orientation = o->auto_orient ? info.orientation : 1;
    const bool swap = orient_swaps(orientation);
    struct plan k;
    IMREC_TRY(plan(p, key, swap ? info.height : info.width, swap ? info.width : info.height, &k,
                   draw, err));
    const bool straight = k.steps.n == 0 && orientation == 1 && !recipe_paints(p->recipe);
    const uint64_t claimed =
        codec_claim(p->codec, 1) + claim(p, &k.steps, straight, orientation != 1);
    k.job->out = slot;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    const enum imrec_status st =
        straight ? decode_straight(p, k.job, k.steps.upright, err)
                 : decode_and_augment(p, &k.steps, draw, &info, orientation, k.job, err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    finish(k.job, draw);
    p->decode_ns = clock_ns() - begin - p->augment_ns;
    return st;
}

/* ---- decoded pictures ----------------------------------------------------------------------- */

static enum imrec_status values_to_slot(struct sampler *p, const struct planes *picture,
                                        const struct steps *s, const struct normalize_job *job,
                                        struct imrec_error *err)
{
    const bool changed = s->n != 0 || recipe_paints(p->recipe);
    if (changed || p->options->dtype != IMREC_FLOAT32)
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                              "its values are not whole numbers from 0 to 255: they can be "
                              "cropped, mirrored and normalized to dtype=float32, not %s",
                              changed ? "augmented otherwise" : "made another dtype");
    planes_to_slot(picture, s->upright, job);
    return IMREC_OK;
}

enum imrec_status sampler_make_decoded(struct sampler *p, const struct planes *picture,
                                       struct sample_key key, void *slot, struct imrec_draw *draw,
                                       struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    struct plan k;
    IMREC_TRY(plan(p, key, picture->width, picture->height, &k, draw, err));
    struct normalize_job *job = k.job;
    const uint64_t claimed = claim(p, &k.steps, false, false);
    job->out = slot;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    enum imrec_status st =
        planes_to_bytes(picture, k.steps.upright, job->channels, &p->images[0], err);
    p->decode_ns = clock_ns() - begin;
    if (st == IMREC_OK)
        st = through_steps(p, &k.steps, draw, 0, job, err);
    else if (st == IMREC_END)
        st = values_to_slot(p, picture, &k.steps, job, err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    finish(job, draw);
    p->augment_ns = clock_ns() - begin - p->decode_ns;
    return st;
}
