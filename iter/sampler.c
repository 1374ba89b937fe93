/*
 * iter/sampler.c - one compressed picture into a slot.
 *
 * The crop is drawn from the header's size alone; from it follows, step by step backwards, which
 * region of the stored picture is needed, and only that is decoded. A picture that is upright
 * and needs no resize goes row by row from the decoder through the kernel into the slot.
 */
#include "iter/sampler.h"

#include "augment/orient.h"
#include "base/clock.h"
#include "base/error.h"

#include <string.h>

#define KEPT_BYTES ((uint64_t)32 << 20) /* of buffers, between pictures */

enum { MAX_STEPS = 3 }; /* shorter side, then up to two passes that let it cover the crop */

struct steps {
    uint32_t n;
    struct resize_job job[MAX_STEPS];
    struct imrec_rect upright; /* region of the upright picture that all begins with */
};

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

enum imrec_status sampler_init(struct sampler *p, const struct imrec_iter_options *options,
                               struct headroom *headroom, const float *mean_image, bool stream,
                               struct imrec_error *err)
{
    *p = (struct sampler){.options = options, .headroom = headroom, .row = normalize_row()};
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
    *p = (struct sampler){0};
}

uint64_t sampler_memory(const struct sampler *p)
{
    return codec_memory(p->codec) + resize_scratch_memory(p->scratch) + p->images[0].capacity +
           p->images[1].capacity;
}

/* ---- which region, which steps -------------------------------------------------------------- */

static void add_step(struct steps *s, const struct imrec_iter_options *o, uint32_t *width,
                     uint32_t *height, uint32_t to_width, uint32_t to_height)
{
    if (*width == to_width && *height == to_height)
        return;
    s->job[s->n++] = (struct resize_job){
        .from_width = *width,
        .from_height = *height,
        .to_width = to_width,
        .to_height = to_height,
        .method = (enum resize_method)o->inter_method,
    };
    *width = to_width;
    *height = to_height;
}

static struct imrec_draw plan(struct steps *s, const struct imrec_iter_options *o,
                              struct sample_key key, uint32_t width, uint32_t height)
{
    struct resize_size cover[2];
    uint32_t w = width, h = height, to_w, to_h;
    s->n = 0;
    resize_shorter_side(w, h, o->resize, &to_w, &to_h);
    add_step(s, o, &w, &h, to_w, to_h);
    const uint32_t passes = resize_to_cover(w, h, o->data_shape.width, o->data_shape.height, cover);
    for (uint32_t i = 0; i < passes; i++)
        add_step(s, o, &w, &h, cover[i].width, cover[i].height);
    const struct imrec_draw draw = augment_draw(o, key, w, h);
    s->upright = (struct imrec_rect){draw.x, draw.y, o->data_shape.width, o->data_shape.height};
    for (uint32_t i = s->n; i-- > 0;) { /* backwards: what each step is made from */
        s->job[i].window = s->upright;
        s->upright = resize_source_region(&s->job[i]);
    }
    return draw;
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

static enum imrec_status through_steps(struct sampler *p, const struct steps *s, uint32_t at,
                                       const struct normalize_job *job, struct imrec_error *err)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct imrec_image *from = &p->images[at].view;
        at ^= 1;
        IMREC_TRY(resize_window(&s->job[i], from, &p->images[at], p->scratch, err));
    }
    const struct imrec_image *made = &p->images[at].view;
    for (uint32_t y = 0; y < job->height; y++)
        p->row(job, made->pixels + y * made->stride, y);
    return IMREC_OK;
}

static enum imrec_status
decode_and_resize(struct sampler *p, const struct steps *s, const struct imrec_picture_info *info,
                  uint32_t orientation, const struct normalize_job *job, struct imrec_error *err)
{
    uint32_t at = 0;
    const struct imrec_rect region =
        orient_region(orientation, info->width, info->height, s->upright);
    IMREC_TRY(codec_decode_image(p->codec, region, job->channels, &p->images[at], NULL, err));
    const uint64_t decoded = clock_ns();
    IMREC_TRY(orient(p, orientation, &at, err));
    IMREC_TRY(through_steps(p, s, at, job, err));
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
    for (uint32_t i = 0; i < s->n; i++)
        bytes += (uint64_t)s->job[i].window.width * s->job[i].window.height * channels;
    return bytes;
}

/* One large picture is no reason to hold its memory for ever. */
static void trim(struct sampler *p, uint64_t claimed)
{
    if (claimed <= KEPT_BYTES)
        return;
    image_free(&p->images[0]);
    image_free(&p->images[1]);
}

enum imrec_status sampler_make(struct sampler *p, struct bytes image, struct sample_key key,
                               void *slot, struct imrec_draw *draw, struct imrec_error *err)
{
    const struct imrec_iter_options *o = p->options;
    const struct codec_limits limits = {.max_pixels = o->max_pixels};
    const uint64_t begin = clock_ns();
    struct imrec_picture_info info;
    struct steps steps;

    p->augment_ns = 0;
    IMREC_TRY(codec_begin(p->codec, image, &limits, &info, err));
    const uint32_t orientation = o->auto_orient ? info.orientation : 1;
    const bool swap = orient_swaps(orientation);
    *draw = plan(&steps, o, key, swap ? info.height : info.width, swap ? info.width : info.height);
    struct normalize_job *job = &p->jobs[draw->mirror];
    const bool straight = steps.n == 0 && orientation == 1;
    const uint64_t claimed =
        codec_claim(p->codec, 1) + claim(p, &steps, straight, orientation != 1);
    job->out = slot;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    const enum imrec_status st = straight
                                     ? decode_straight(p, job, steps.upright, err)
                                     : decode_and_resize(p, &steps, &info, orientation, job, err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    normalize_finish(job);
    p->decode_ns = clock_ns() - begin - p->augment_ns;
    return st;
}

/* ---- decoded pictures ----------------------------------------------------------------------- */

static enum imrec_status values_to_slot(struct sampler *p, const struct planes *picture,
                                        const struct steps *s, const struct normalize_job *job,
                                        struct imrec_error *err)
{
    if (s->n != 0 || p->options->dtype != IMREC_FLOAT32)
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                              "its values are not whole numbers from 0 to 255: they can be "
                              "cropped, mirrored and normalized to dtype=float32, not %s",
                              s->n != 0 ? "resized" : "made another dtype");
    planes_to_slot(picture, s->upright, job);
    return IMREC_OK;
}

enum imrec_status sampler_make_decoded(struct sampler *p, const struct planes *picture,
                                       struct sample_key key, void *slot, struct imrec_draw *draw,
                                       struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    struct steps steps;
    *draw = plan(&steps, p->options, key, picture->width, picture->height);
    struct normalize_job *job = &p->jobs[draw->mirror];
    const uint64_t claimed = claim(p, &steps, false, false);
    job->out = slot;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    enum imrec_status st =
        planes_to_bytes(picture, steps.upright, job->channels, &p->images[0], err);
    p->decode_ns = clock_ns() - begin;
    if (st == IMREC_OK)
        st = through_steps(p, &steps, 0, job, err);
    else if (st == IMREC_END)
        st = values_to_slot(p, picture, &steps, job, err);
    trim(p, claimed);
    headroom_give(p->headroom, claimed);
    normalize_finish(job);
    p->augment_ns = clock_ns() - begin - p->decode_ns;
    return st;
}
