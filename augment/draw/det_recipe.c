/* augment/draw/det_recipe.c - lists of numbers into crop samplers, and what goes together. */
#include "augment/draw/det_recipe.h"

#include "base/error.h"
#include "base/image.h"

#include <string.h>

/* ---- lists -------------------------------------------------------------------------------- */

struct list {
    uint32_t n;
    float v[DET_SAMPLERS];
};

/* "0.1, 0.3" or "(0.1,0.3)": numbers within the row's range. */
static enum imrec_status
read_list(const struct param *row, const char *text, struct list *out, struct imrec_error *err)
{
    char piece[64];
    const size_t n = strlen(text);
    const bool brackets = n > 1 && text[0] == '(' && text[n - 1] == ')';
    const char *at = text + brackets, *end = text + n - brackets;
    out->n = 0;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t length = (size_t)((comma != NULL ? comma : end) - at);
        if (out->n == DET_SAMPLERS || length >= sizeof(piece))
            return IMREC_REFUSE(err,
                                "%s must be at most %d numbers with commas between, not '%.40s'",
                                row->name, DET_SAMPLERS, text);
        memcpy(piece, at, length);
        piece[length] = '\0';
        IMREC_TRY(param_set(row, &out->v[out->n++], row->name, strlen(row->name), piece, err));
        if (comma == NULL || (brackets && comma + 1 == end)) /* Python writes "(0.1,)" */
            return IMREC_OK;
        at = comma + 1;
        at += *at == ' ';
    }
}

static enum imrec_status
fit(const struct param *row, struct list *l, const struct det_recipe *d, struct imrec_error *err)
{
    if (l->n != 1 && l->n != d->sampler_count)
        return IMREC_REFUSE(err,
                            "%s has %u numbers: one for all, or one for each of the %u samplers "
                            "of num_crop_sampler, is right",
                            row->name, l->n, d->sampler_count);
    for (uint32_t i = l->n; i < d->sampler_count; i++)
        l->v[i] = l->v[0];
    return IMREC_OK;
}

struct pair {
    const char *low, *high; /* their names */
    double least, most;
    size_t offset; /* of the bounds in a sampler */
};

static enum imrec_status read_pair(struct det_recipe *d, const struct pair *p, const char *lows,
                                   const char *highs, struct imrec_error *err)
{
    const struct param rows[2][2] = {
        {{.name = p->low, .type = PARAM_REAL, .lo = p->least, .hi = p->most}, {0}},
        {{.name = p->high, .type = PARAM_REAL, .lo = p->least, .hi = p->most}, {0}}};
    struct list low, high;
    IMREC_TRY(read_list(rows[0], lows, &low, err));
    IMREC_TRY(fit(rows[0], &low, d, err));
    IMREC_TRY(read_list(rows[1], highs, &high, err));
    IMREC_TRY(fit(rows[1], &high, d, err));
    for (uint32_t i = 0; i < d->sampler_count; i++) {
        struct det_bounds b = {low.v[i], high.v[i]};
        if (b.low > b.high)
            return IMREC_REFUSE(err, "%s and %s of sampler %u: the minimum is %g, the maximum %g",
                                p->low, p->high, i, (double)b.low, (double)b.high);
        memcpy((char *)&d->samplers[i] + p->offset, &b, sizeof(b));
    }
    return IMREC_OK;
}

static enum imrec_status
read_trials(struct det_recipe *d, const char *text, struct imrec_error *err)
{
    const struct param row[2] = {
        {.name = "max_crop_trials", .type = PARAM_REAL, .lo = 0, .hi = DET_TRIALS}, {0}};
    struct list l;
    IMREC_TRY(read_list(row, text, &l, err));
    IMREC_TRY(fit(row, &l, d, err));
    for (uint32_t i = 0; i < d->sampler_count; i++) {
        d->samplers[i].trials = (uint32_t)l.v[i];
        if ((float)d->samplers[i].trials != l.v[i])
            return IMREC_REFUSE(err, "max_crop_trials must be whole numbers, not %g",
                                (double)l.v[i]);
    }
    return IMREC_OK;
}

static enum imrec_status
read_samplers(struct det_recipe *d, const struct augment_options *o, struct imrec_error *err)
{
#define PAIR(what, least, most, field)                                                             \
    &(const struct pair){"min_crop_" #what, "max_crop_" #what, least, most,                        \
                         offsetof(struct det_sampler, field)},                                     \
        o->min_crop_##what, o->max_crop_##what, err
    d->sampler_count = (uint32_t)o->num_crop_sampler;
    if (d->sampler_count == 0)
        return IMREC_OK;
    IMREC_TRY(read_pair(d, PAIR(scales, 0, 1, scale)));
    IMREC_TRY(read_pair(d, PAIR(aspect_ratios, 0, 1e6, aspect)));
    IMREC_TRY(read_pair(d, PAIR(overlaps, 0, 1, overlap)));
    IMREC_TRY(read_pair(d, PAIR(sample_coverages, 0, 1, sample)));
    IMREC_TRY(read_pair(d, PAIR(object_coverages, 0, 1, object)));
    IMREC_TRY(read_trials(d, o->max_crop_trials, err));
#undef PAIR
    for (uint32_t i = 0; i < d->sampler_count; i++) {
        struct det_sampler *s = &d->samplers[i];
        s->asks_overlap = s->overlap.low > 0 || s->overlap.high < 1;
        s->asks_sample = s->sample.low > 0 || s->sample.high < 1;
        s->asks_object = s->object.low > 0 || s->object.high < 1;
    }
    return IMREC_OK;
}

/* ---- what goes together ------------------------------------------------------------------- */

/* The first option given that would move pixels without their boxes. */
static const char *stranger(const struct augment_options *o)
{
    const struct {
        bool given;
        const char *name;
    } all[] = {
        {o->rand_crop, "rand_crop (rand_crop_prob crops here)"},
        {o->rand_mirror || o->mirror, "mirror and rand_mirror (rand_mirror_prob mirrors here)"},
        {o->random_resized_crop, "random_resized_crop (rand_crop_prob crops here)"},
        {o->pad > 0, "pad (rand_pad_prob pads here)"},
        {o->max_crop_size > 0 || o->min_crop_size > 0, "min_crop_size and max_crop_size"},
        {o->max_rotate_angle > 0 || o->rotate > 0 || o->rotate_list[0] != '\0',
         "rotate, rotate_list and max_rotate_angle"},
        {o->max_shear_ratio > 0, "max_shear_ratio"},
        {o->min_random_scale != 1 || o->max_random_scale != 1,
         "min_random_scale and max_random_scale"},
        {o->max_aspect_ratio != 0 || o->min_aspect_ratio != 0,
         "min_aspect_ratio and max_aspect_ratio"},
        {o->min_img_size != 0 || o->max_img_size != 1e10f, "min_img_size and max_img_size"},
        {o->rand_augment > 0 || o->trivial_augment, "rand_augment and trivial_augment"},
        {o->auto_augment != IMREC_POLICY_NONE || o->augmix, "auto_augment and augmix"},
        {o->mixup > 0 || o->cutmix > 0, "mixup and cutmix"},
        {o->random_h > 0 || o->random_s > 0 || o->random_l > 0,
         "random_h, random_s and random_l (max_random_hue and its like shift here)"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].given)
            return all[i].name;
    return NULL;
}

static bool moves_affinely(const struct augment_options *o)
{
    return o->max_affine_angle > 0 || o->max_affine_shear > 0 || o->max_affine_shift > 0 ||
           o->max_affine_tilt > 0 || o->min_affine_scale != 1 || o->max_affine_scale != 1;
}

static enum imrec_status
check_mosaic(const struct augment_options *o, bool on, struct imrec_error *err)
{
    const uint64_t width = 2 * (uint64_t)o->data_shape.width;
    const uint64_t height = 2 * (uint64_t)o->data_shape.height;
    if (o->rand_mosaic_prob > 0 && !on)
        return IMREC_REFUSE(err, "rand_mosaic_prob needs labels of boxes and "
                                 "aug_seq=det_aug_default, which moves all their boxes");
    if (!(o->rand_mosaic_prob > 0) || image_is_within(width, height, o->max_pixels))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT,
                      "rand_mosaic_prob makes a canvas of twice data_shape's sides, %llu x %llu "
                      "px; a side is limited to %d px, an image to max_pixels=%lld",
                      (unsigned long long)width, (unsigned long long)height, IMAGE_MOST_SIDE,
                      (long long)o->max_pixels);
}

static enum imrec_status
check_pastes(const struct augment_options *o, bool on, struct imrec_error *err)
{
    if (o->rand_copy_paste_prob > 0 && (!on || o->mask_kind != IMREC_MASK_INSTANCE))
        return IMREC_REFUSE(err, "rand_copy_paste_prob pastes objects by their masks: it needs "
                                 "aug_seq=det_aug_default, masks= and mask_kind=instance, and "
                                 "records with such masks");
    if (o->max_copy_paste_objects > 0 && !(o->rand_copy_paste_prob > 0))
        return IMREC_REFUSE(err, "max_copy_paste_objects needs rand_copy_paste_prob");
    return IMREC_OK;
}

enum imrec_status
det_recipe_check_moves(const struct augment_options *o, bool on, struct imrec_error *err)
{
    IMREC_TRY(check_mosaic(o, on, err));
    IMREC_TRY(check_pastes(o, on, err));
    if (o->rand_affine_prob > 0 && !on)
        return IMREC_REFUSE(err, "rand_affine_prob needs aug_seq=det_aug_default; with aug_default "
                                 "max_rotate_angle, max_shear_ratio and max_random_scale move an "
                                 "image, and boxes=1 its boxes");
    if (moves_affinely(o) != (o->rand_affine_prob > 0))
        return IMREC_REFUSE(err, "rand_affine_prob says how often an image is moved, "
                                 "max_affine_angle, max_affine_shear, max_affine_shift, "
                                 "max_affine_tilt, min_affine_scale and max_affine_scale how far: "
                                 "both are needed");
    return IMREC_OK;
}

enum imrec_status
det_recipe_init(struct det_recipe *d, const struct augment_options *o, struct imrec_error *err)
{
    const char *other = stranger(o);
    *d = (struct det_recipe){.on = true};
    if (other != NULL)
        return IMREC_REFUSE(err,
                            "aug_seq=det_aug_default moves images with their boxes and does "
                            "not go with %s",
                            other);
    d->shifts = o->random_hue_prob > 0 || o->random_saturation_prob > 0 ||
                o->random_illumination_prob > 0 || o->random_contrast_prob > 0;
    if (o->data_shape.channels == 1 && (o->random_hue_prob > 0 || o->random_saturation_prob > 0 ||
                                        o->random_illumination_prob > 0))
        return IMREC_REFUSE(err,
                            "random_hue_prob, random_saturation_prob and "
                            "random_illumination_prob need colours: data_shape has one channel");
    if (o->max_random_illumination > 255)
        return IMREC_REFUSE(err,
                            "max_random_illumination must be a number from 0 to 255 with boxes");
    return read_samplers(d, o, err);
}
