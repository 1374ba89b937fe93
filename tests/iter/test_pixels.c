/* Pixels and labels of the original's first batches, case by case: vectors/mxnet/pixels.json. */
#include "augment/steps.h"
#include "imrec/codec.h"
#include "imrec/records.h"
#include "iter/options/iter_options.h"
#include "tests/support/built.h"
#include "tests/support/npy.h"
#include "tests/support/shared.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <math.h>

enum { MAX_ARGS = 24, CASES = 119, DRAWN_CASES = 7, IMAGES = 4 };

static json_t *root, *cases;
static char texts[MAX_ARGS][4400];

static void value_text(const char *key, const json_t *v, char *out, size_t n)
{
    if (json_is_string(v) && strncmp(key, "path_", 5) == 0)
        snprintf(out, n, "%s=%s/vectors/mxnet/%s", key, shared_root(), json_string_value(v));
    else if (json_is_string(v))
        snprintf(out, n, "%s=%s", key, json_string_value(v));
    else if (json_is_array(v))
        snprintf(out, n, "%s=(%d,%d,%d)", key, (int)json_integer_value(json_array_get(v, 0)),
                 (int)json_integer_value(json_array_get(v, 1)),
                 (int)json_integer_value(json_array_get(v, 2)));
    else if (json_is_boolean(v))
        snprintf(out, n, "%s=%d", key, json_is_true(v));
    else
        snprintf(out, n, "%s=%.9g", key, json_number_value(v));
}

/* The mean image is written where this test may write. */
static const char mean_file[] = "pixels-mean-image.bin";

static void set_options(struct imrec_iter_options *o, const json_t *args)
{
    const char *key;
    json_t *value;
    struct imrec_error err;
    size_t i = 0;
    imrec_iter_options_init(o);
    json_object_foreach((json_t *)args, key, value)
    {
        value_text(key, value, texts[i], sizeof(texts[i]));
        if (strcmp(key, "mean_img") == 0)
            snprintf(texts[i], sizeof(texts[i]), "mean_img=%s", mean_file);
        ck_assert_msg(imrec_iter_options_set(o, texts[i], &err) == IMREC_OK, "%s", err.message);
        i++;
    }
}

static double value_of(const struct imrec_batch *b, enum imrec_dtype dtype, size_t i)
{
    if (dtype == IMREC_UINT8)
        return ((const uint8_t *)b->data)[i];
    return dtype == IMREC_INT8 ? ((const int8_t *)b->data)[i] : ((const float *)b->data)[i];
}

static void compare(const char *name, const json_t *c, const struct imrec_iter_options *o,
                    const struct imrec_batch *b)
{
    const double tolerance = json_number_value(json_object_get(c, "tolerance"));
    char path[512];
    snprintf(path, sizeof(path), "vectors/mxnet/pixels/%s.npy", name);
    struct npy want = npy_load(shared_path(path));
    const size_t n = want.bytes / (size_t)want.size;
    ck_assert_uint_eq(n, (size_t)b->slots * o->data_shape.channels * o->data_shape.height *
                             o->data_shape.width);
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(value_of(b, o->dtype, i) - npy_at(&want, i)));
    ck_assert_msg(worst <= tolerance, "%s: differs by %g, allowed %g", name, worst, tolerance);
    free(want.file);
    const json_t *labels = json_object_get(c, "labels");
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const json_t *l = json_array_get(labels, i);
        for (size_t k = 0; k < b->label_width; k++)
            ck_assert_float_eq(
                b->labels[i * b->label_width + k],
                (float)json_number_value(json_is_array(l) ? json_array_get(l, k) : l));
    }
}

/* False: of a format that this build was made without. */
static bool run_case(const char *name, const json_t *c)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err;
    set_options(&o, json_object_get(c, "args"));
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s: %s", name, err.message);
    const enum imrec_status st = imrec_iter_next(it, &b, &err);
    const bool can = !built_without(st, &err);
    ck_assert_msg(st == IMREC_OK || !can, "%s: %s", name, err.message);
    if (can)
        compare(name, c, &o, &b);
    imrec_iter_close(it);
    return can;
}

static bool load(void)
{
    if (!shared_is_here())
        return false;
    root = json_load_file(shared_path("vectors/mxnet/pixels.json"), 0, NULL);
    cases = json_object_get(root, "cases") ? json_object_get(root, "cases") : root;
    return true;
}

static void forget(void)
{
    json_decref(root);
}

CASE(.begin = load, .end = forget, .timeout = 120)

TEST(pixels_and_labels_equal_the_originals)
{
    const char *name;
    json_t *c;
    int done = 0;
    (void)remove(mean_file);
    json_object_foreach(cases, name, c)
    {
        if (json_object_get(c, "draws") == NULL && run_case(name, c))
            done++;
    }
    (void)remove(mean_file);
    printf("%d cases compared\n", done);
    ck_assert_int_eq(done, built_with("png") && built_with("bmp") ? CASES - DRAWN_CASES : done);
    ck_assert_int_ge(done, 80);
}

/* ---- what is random, with the numbers that were drawn ------------------------------------------
 */

static double number(const json_t *draws, const char *key, double otherwise)
{
    const json_t *v = json_object_get(draws, key);
    return v != NULL ? json_number_value(v) : otherwise;
}

static double at(const json_t *draws, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(draws, key), i));
}

static void take_warp(struct imrec_draw *d, const json_t *draws)
{
    if (json_object_get(draws, "matrix") == NULL)
        return;
    for (size_t i = 0; i < 6; i++)
        d->matrix[i] = (float)at(draws, "matrix", i);
    d->canvas_width = (uint32_t)at(draws, "canvas_wh", 0);
    d->canvas_height = (uint32_t)at(draws, "canvas_wh", 1);
    d->warp_method = (uint8_t)number(draws, "affine_inter", 1);
}

static void take_crop(struct imrec_draw *d, const json_t *draws)
{
    if (json_object_get(draws, "crop_xywh") == NULL)
        return;
    d->x = (uint32_t)at(draws, "crop_xywh", 0);
    d->y = (uint32_t)at(draws, "crop_xywh", 1);
    d->crop_width = (uint32_t)at(draws, "crop_xywh", 2);
    d->crop_height = (uint32_t)at(draws, "crop_xywh", 3);
    d->crop_method = (uint8_t)number(draws, "crop_inter", 1);
}

static void take_colours(struct imrec_draw *d, const json_t *draws)
{
    d->brightness = (float)number(draws, "alpha_brightness", 1);
    d->contrast = (float)number(draws, "alpha_contrast", 1);
    d->saturation = (float)number(draws, "alpha_saturation", 1);
    for (size_t i = 0; json_object_get(draws, "order") != NULL && i < 3; i++)
        d->light_order[i] = (uint8_t)at(draws, "order", i);
    d->shift_h = (int32_t)number(draws, "shift_h", 0);
    d->shift_l = (int32_t)number(draws, "shift_l", 0);
    d->shift_s = (int32_t)number(draws, "shift_s", 0);
    d->light[0] = (float)number(draws, "pca_r", 0);
    d->light[1] = (float)number(draws, "pca_g", 0);
    d->light[2] = (float)number(draws, "pca_b", 0);
}

/* What was drawn, where it can be said: a warp's matrix follows from the rest. */
static void check_matrix(const struct recipe *r, const struct imrec_draw *d, const json_t *draws,
                         const struct imrec_image *p)
{
    if (json_object_get(draws, "matrix") == NULL)
        return;
    struct imrec_draw made = {.angle = (int32_t)number(draws, "angle", 0),
                              .shear = (float)number(draws, "shear", 0),
                              .scale = (float)number(draws, "scale", 1),
                              .aspect = (float)number(draws, "ratio", 1)};
    draw_set_warp(r, p->width, p->height, &made);
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(made.matrix[i], d->matrix[i]);
    ck_assert_uint_eq(made.canvas_width, d->canvas_width);
    ck_assert_uint_eq(made.canvas_height, d->canvas_height);
}

/* Through all steps; the result is in one of `made`, whose number is returned. */
static int run_steps(const struct recipe *r, const struct imrec_draw *d,
                     const struct imrec_image *whole, struct image made[2],
                     struct resize_scratch *scratch)
{
    struct steps s;
    uint32_t now = 0;
    steps_plan(&s, r, d, whole->width, whole->height);
    const struct imrec_rect u = s.upright;
    ck_assert_int_eq(image_resize_buffer(&made[0], u.width, u.height, whole->channels, NULL), 0);
    for (uint32_t y = 0; y < u.height; y++)
        memcpy(made[0].view.pixels + y * made[0].view.stride,
               whole->pixels + (u.y + y) * whole->stride + (size_t)u.x * whole->channels,
               (size_t)u.width * whole->channels);
    for (uint32_t i = 0; i < s.n; i++, now ^= 1)
        ck_assert_int_eq(step_run(&s.step[i], &made[now].view, &made[now ^ 1], scratch, NULL), 0);
    ck_assert_int_eq(steps_paint(r, d, NULL, made, &now, scratch, NULL), IMREC_OK);
    return (int)now;
}

static double compare_drawn(const struct imrec_image *p, const struct npy *want, size_t slot)
{
    const size_t plane = (size_t)p->width * p->height, c = p->channels;
    double worst = 0;
    for (size_t i = 0; i < plane * c; i++) {
        const size_t x = i % plane % p->width, y = i % plane / p->width;
        const uint8_t got = p->pixels[y * p->stride + x * c + i / plane];
        worst = fmax(worst, fabs(got - npy_at(want, slot * plane * c + i)));
    }
    return worst;
}

static void run_drawn_image(const struct recipe *r, const json_t *draws, const struct npy *want,
                            size_t slot, struct imrec_image whole, double *worst)
{
    struct resize_scratch *scratch;
    struct image made[2] = {{{0}, 0}, {{0}, 0}};
    struct imrec_draw d =
        augment_draw(r, (struct sample_key){0, 0, 0, 0, 0}, whole.width, whole.height);
    take_warp(&d, draws);
    take_crop(&d, draws);
    take_colours(&d, draws);
    if (d.warped) { /* the crop is in the middle of the canvas that was recorded */
        const struct imrec_draw before = d;
        draw_set_crop(r, before.canvas_width, before.canvas_height, &d);
        check_matrix(r, &d, draws, &whole);
    }
    ck_assert_int_eq(resize_scratch_new(&scratch, NULL), IMREC_OK);
    const int at_end = run_steps(r, &d, &whole, made, scratch);
    *worst = fmax(*worst, compare_drawn(&made[at_end].view, want, slot));
    resize_scratch_free(scratch);
    image_free(&made[0]);
    image_free(&made[1]);
}

TEST(recorded_draws_give_the_originals_pixels)
{
    const char *name;
    json_t *c;
    int done = 0;
    json_object_foreach(cases, name, c)
    {
        const json_t *draws = json_object_get(c, "draws");
        struct imrec_iter_options o;
        struct augment_options pixels;
        struct recipe r;
        struct imrec_reader *reader;
        struct imrec_decoder *decoder;
        struct imrec_record record;
        struct imrec_image whole;
        struct imrec_error err;
        char path[512];
        double worst = 0;
        if (draws == NULL)
            continue;
        set_options(&o, json_object_get(c, "args"));
        iter_options_of_sample(&o, &pixels);
        ck_assert_msg(recipe_init(&r, &pixels, &err) == IMREC_OK, "%s", err.message);
        snprintf(path, sizeof(path), "vectors/mxnet/pixels/%s.npy", name);
        struct npy want = npy_load(shared_path(path));
        ck_assert_int_eq(imrec_reader_open(o.path_imgrec, 0, 1, &reader, &err), IMREC_OK);
        ck_assert_int_eq(imrec_decoder_new(&decoder, &err), IMREC_OK);
        for (size_t slot = 0; slot < IMAGES; slot++) {
            ck_assert_int_eq(imrec_reader_next(reader, &record, &err), IMREC_OK);
            ck_assert_int_eq(imrec_decoder_decode(decoder, record.image, record.image_size, 3, true,
                                                  1 << 24, &whole, &err),
                             IMREC_OK);
            run_drawn_image(&r, json_array_get(draws, slot), &want, slot, whole, &worst);
        }
        printf("%s: differs by %g\n", name, worst);
        ck_assert_msg(worst <= json_number_value(json_object_get(c, "tolerance")),
                      "%s: differs by %g", name, worst);
        imrec_decoder_free(decoder);
        imrec_reader_close(reader);
        free(want.file);
        done++;
    }
    ck_assert_int_eq(done, DRAWN_CASES);
}
