/* augment/draw/recipe.c - options read into a recipe, and what contradicts refused. */
#include "augment/draw/recipe.h"

#include "augment/draw/recipe_texts.h"
#include "base/error.h"

#include <string.h>

#define PARAM_STRUCT struct augment_options
const struct param augment_params[] = {IMREC_ITER_PARAMS(AUGMENT_ROW){0}};

/* ---- texts -------------------------------------------------------------------------------- */

static bool is_detection(const char *aug_seq)
{
    return aug_seq != NULL && strcmp(aug_seq, "det_aug_default") == 0;
}

bool recipe_has_boxes(const char *aug_seq, bool boxes)
{
    return boxes || is_detection(aug_seq);
}

static const char *const paint_names[PAINTS] = {
    [PAINT_OPS] = "rand_augment", [PAINT_LIGHTS] = "light",      [PAINT_HUE] = "hue",
    [PAINT_HLS] = "hsl",          [PAINT_PCA] = "pca",           [PAINT_GREY] = "grayscale",
    [PAINT_BLUR] = "blur",        [PAINT_SOLARIZE] = "solarize",
};

static bool is_on(const struct recipe *r, enum paint p)
{
    const bool on[PAINTS] = {
        [PAINT_OPS] = r->ops,    [PAINT_LIGHTS] = r->lights,     [PAINT_HUE] = r->hue,
        [PAINT_HLS] = r->hls,    [PAINT_PCA] = r->pca,           [PAINT_GREY] = r->greys,
        [PAINT_BLUR] = r->blurs, [PAINT_SOLARIZE] = r->solarizes};
    return on[p];
}

static bool is_listed(const struct recipe *r, enum paint p)
{
    for (uint32_t i = 0; i < r->paint_count; i++)
        if (r->paints[i] == p)
            return true;
    return false;
}

static enum imrec_status add_paint(struct recipe *r, enum paint p, struct imrec_error *err)
{
    if (is_listed(r, p))
        return IMREC_REFUSE(err, "aug_seq has %s twice", paint_names[p]);
    if (is_on(r, p))
        r->paints[r->paint_count++] = p;
    return IMREC_OK;
}

static enum imrec_status
add_own(struct recipe *r, const char *item, size_t n, struct imrec_error *err)
{
    if (r->augmenter_count == RECIPE_AUGMENTERS)
        return imrec_fail(err, IMREC_ERR_LIMIT, "aug_seq has more than %d augmenters of your own",
                          RECIPE_AUGMENTERS);
    IMREC_TRY(user_augmenter_find(item, n, &r->augmenters[r->augmenter_count], err));
    r->paints[r->paint_count++] = (enum paint)(PAINTS + (int)r->augmenter_count++);
    return IMREC_OK;
}

static enum imrec_status add_default(struct recipe *r, struct imrec_error *err)
{
    for (int p = 0; p < PAINTS; p++)
        IMREC_TRY(add_paint(r, (enum paint)p, err));
    return IMREC_OK;
}

static enum imrec_status
add_name(struct recipe *r, const char *name, size_t n, struct imrec_error *err)
{
    for (int p = 0; p < PAINTS; p++)
        if (strlen(paint_names[p]) == n && memcmp(paint_names[p], name, n) == 0)
            return add_paint(r, (enum paint)p, err);
    if (n == strlen("aug_default") && memcmp(name, "aug_default", n) == 0)
        return add_default(r, err);
    if (user_augmenter_is_known(name, n))
        return add_own(r, name, n, err);
    return IMREC_REFUSE(
        err,
        "aug_seq has no augmenter '%.*s'; there are aug_default, det_aug_default (boxes), or "
        "rand_augment, "
        "light, hue, hsl, pca, grayscale, blur and solarize in any order, and what is registered",
        (int)(n < 80 ? n : 80), name);
}

/* To the next comma that is not within parentheses. */
static size_t item_length(const char *text)
{
    const size_t n = strcspn(text, ",(");
    if (text[n] != '(')
        return n;
    const size_t inside = n + strcspn(text + n, ")");
    return inside + strcspn(text + inside, ",");
}

/* "aug_default", or the names of all that is on, in the order in which it comes. */
static enum imrec_status read_sequence(struct recipe *r, const char *text, struct imrec_error *err)
{
    if (text[0] == '\0' || r->det.on)
        return add_default(r, err);
    for (;;) {
        const size_t n = item_length(text);
        IMREC_TRY(add_name(r, text, n, err));
        if (text[n] == '\0')
            break;
        text += n + 1;
    }
    for (int p = 0; p < PAINTS; p++)
        if (is_on(r, (enum paint)p) && !is_listed(r, (enum paint)p))
            return IMREC_REFUSE(err, "%s is asked for, but aug_seq does not say when it comes",
                                paint_names[p]);
    return IMREC_OK;
}

/* ---- bounds ------------------------------------------------------------------------------- */

static enum imrec_status ordered(float low, float high, const char *names, struct imrec_error *err)
{
    if (low <= high)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%s: the minimum is %g, the maximum %g", names, (double)low,
                        (double)high);
}

static enum imrec_status read_aspect(struct recipe *r, struct imrec_error *err)
{
    const struct augment_options *o = r->o;
    const bool given = o->min_aspect_ratio > 0;
    r->aspect_low = given ? o->min_aspect_ratio : 1 - o->max_aspect_ratio;
    r->aspect_high = given ? o->max_aspect_ratio : 1 + o->max_aspect_ratio;
    if (r->aspect_low <= 0)
        return IMREC_REFUSE(err, "max_aspect_ratio must be below 1 where min_aspect_ratio is not "
                                 "given: the aspect is drawn from [1 - this, 1 + this]");
    return ordered(r->aspect_low, r->aspect_high, "min_aspect_ratio and max_aspect_ratio", err);
}

static enum imrec_status check_bounds(const struct augment_options *o, struct imrec_error *err)
{
    IMREC_TRY(ordered(o->min_random_scale, o->max_random_scale,
                      "min_random_scale and max_random_scale", err));
    IMREC_TRY(ordered(o->min_affine_scale, o->max_affine_scale,
                      "min_affine_scale and max_affine_scale", err));
    IMREC_TRY(ordered(o->min_mosaic_scale, o->max_mosaic_scale,
                      "min_mosaic_scale and max_mosaic_scale", err));
    IMREC_TRY(ordered(o->min_img_size, o->max_img_size, "min_img_size and max_img_size", err));
    IMREC_TRY(
        ordered(o->min_blur_sigma, o->max_blur_sigma, "min_blur_sigma and max_blur_sigma", err));
    IMREC_TRY(
        ordered(o->min_erase_area, o->max_erase_area, "min_erase_area and max_erase_area", err));
    return ordered(o->min_random_area, o->max_random_area, "min_random_area and max_random_area",
                   err);
}

/* One of the two bounds alone is both. */
static enum imrec_status read_crop_sizes(struct recipe *r, struct imrec_error *err)
{
    const int64_t low = r->o->min_crop_size, high = r->o->max_crop_size;
    r->crop_low = (uint32_t)(low > 0 ? low : high > 0 ? high : 0);
    r->crop_high = (uint32_t)(high > 0 ? high : low > 0 ? low : 0);
    return ordered((float)r->crop_low, (float)r->crop_high, "min_crop_size and max_crop_size", err);
}

/* ---- what goes together ------------------------------------------------------------------- */

static enum imrec_status check_crops(const struct recipe *r, struct imrec_error *err)
{
    const struct augment_options *o = r->o;
    const bool scales = o->min_random_scale != 1 || o->max_random_scale != 1;
    if (o->random_resized_crop && (scales || r->crop_high != 0 || o->rand_crop))
        return IMREC_REFUSE(err,
                            "random_resized_crop sets the crop: rand_crop, min_crop_size, "
                            "max_crop_size, min_random_scale and max_random_scale contradict it");
    if (!o->random_resized_crop && (o->min_random_area != 1 || o->max_random_area != 1))
        return IMREC_REFUSE(err, "min_random_area and max_random_area need random_resized_crop=1");
    return IMREC_OK;
}

static bool is_real(const struct augment_options *o)
{
    return o->dtype == IMREC_FLOAT32 || o->dtype == IMREC_FLOAT16 || o->dtype == IMREC_BFLOAT16;
}

/* The four of them are ways to choose the same operations. */
static enum imrec_status check_ops(const struct augment_options *o, struct imrec_error *err)
{
    const int given = (o->rand_augment > 0) + o->trivial_augment +
                      (o->auto_augment != IMREC_POLICY_NONE) + o->augmix;
    if (given > 1)
        return IMREC_REFUSE(err, "rand_augment, trivial_augment, auto_augment and augmix "
                                 "contradict each other; give one");
    if (o->rand_augment_style != IMREC_RAND_AUGMENT_TORCH && o->rand_augment_magnitude > 10)
        return IMREC_REFUSE(err,
                            "rand_augment_magnitude must be from 0 to 10 with timm's "
                            "rand_augment_style, not %lld",
                            (long long)o->rand_augment_magnitude);
    return IMREC_OK;
}

static enum imrec_status check_values(const struct recipe *r, struct imrec_error *err)
{
    const struct augment_options *o = r->o;
    const bool real = is_real(o);
    if (o->inter_method > 4 && o->inter_method != 9 && o->inter_method != 10)
        return IMREC_REFUSE(err,
                            "inter_method must be 0 (nearest), 1 (bilinear), 2 (cubic), 3 (area), "
                            "4 (Lanczos), 9 (by size) or 10 (random), not %lld",
                            (long long)o->inter_method);
    if (o->data_shape.channels == 1 &&
        (o->saturation != 0 || r->hls || r->pca || r->hue || r->greys))
        return IMREC_REFUSE(err, "saturation, hue, random_h, random_s, random_l, pca_noise and "
                                 "random_grayscale need colours: data_shape has one channel");
    if (o->mixup > 0 && o->dtype != IMREC_FLOAT32)
        return IMREC_REFUSE(err, "mixup blends values: it needs dtype=float32");
    if (o->num_classes > 0 && o->label_width != 1)
        return IMREC_REFUSE(err, "num_classes makes shares of one label: label_width must be 1");
    IMREC_TRY(check_ops(o, err));
    if (r->tones && !real)
        return IMREC_REFUSE(err, "max_random_contrast and max_random_illumination need float32, "
                                 "float16 or bfloat16");
    return IMREC_OK;
}

static enum imrec_status check_targets(const struct recipe *r, struct imrec_error *err)
{
    const struct augment_options *o = r->o;
    const bool places = r->boxes || r->keypoints != 0;
    if (o->scale_decode != IMREC_SCALE_OFF &&
        (places || o->masks != IMREC_MASK_NONE || o->record_places))
        return IMREC_REFUSE(err, "scale_decode=auto makes images smaller before anything else: "
                                 "boxes, keypoints, masks and record_places, which are about the "
                                 "stored image, cannot go with it");
    if (o->mixup > 0 && (places || o->masks != IMREC_MASK_NONE))
        return IMREC_REFUSE(err, "mixup blends two images: their masks, boxes and keypoints cannot "
                                 "be blended; cutmix takes masks with it");
    if (o->augmix && (places || o->masks != IMREC_MASK_NONE))
        return IMREC_REFUSE(err, "augmix blends an image with moved copies of it: masks, boxes and "
                                 "keypoints cannot be blended");
    if (o->cutmix > 0 && places)
        return IMREC_REFUSE(err, "cutmix mixes labels: boxes and keypoints cannot be mixed");
    if (o->num_classes > 0 && places)
        return IMREC_REFUSE(err,
                            "num_classes makes shares of one label: boxes and keypoints are none");
    if (r->keypoints != 0 && !r->boxes && o->label_width < 3 * o->keypoints)
        return IMREC_REFUSE(err,
                            "keypoints=%lld need label_width=%lld or more: x, y and visibility "
                            "of each, after the other values of a label",
                            (long long)o->keypoints, 3 * (long long)o->keypoints);
    if (o->mask_kind == IMREC_MASK_INSTANCE && (!r->boxes || o->masks == IMREC_MASK_NONE))
        return IMREC_REFUSE(err, "mask_kind=instance says that masks number the objects of a "
                                 "label: it needs masks= and labels of boxes (boxes=1, or "
                                 "aug_seq=det_aug_default)");
    if (o->masks == IMREC_MASK_UINT8 && o->ignore_label > UINT8_MAX)
        return IMREC_REFUSE(err, "ignore_label is more than masks=uint8 can hold: 255");
    return IMREC_OK;
}

static bool warps(const struct recipe *r)
{
    const struct augment_options *o = r->o;
    const bool aspect = r->aspect_low != 1 || r->aspect_high != 1;
    return o->max_rotate_angle > 0 || o->rotate > 0 || r->angle_count != 0 ||
           o->max_shear_ratio > 0 || o->min_random_scale != 1 || o->max_random_scale != 1 ||
           (aspect && !o->random_resized_crop) || o->max_img_size != 1e10f || o->min_img_size != 0;
}

enum imrec_status
recipe_init(struct recipe *r, const struct augment_options *o, struct imrec_error *err)
{
    *r = (struct recipe){.o = o};
    if (is_detection(o->aug_seq))
        IMREC_TRY(det_recipe_init(&r->det, o, err));
    IMREC_TRY(det_recipe_check_moves(o, r->det.on, err));
    r->boxes = o->boxes || r->det.on;
    r->keypoints = (uint32_t)o->keypoints;
    IMREC_TRY(recipe_read_texts(r, err));
    IMREC_TRY(check_bounds(o, err));
    IMREC_TRY(read_aspect(r, err));
    IMREC_TRY(read_crop_sizes(r, err));
    r->warps = warps(r);
    r->random_crop_resized = o->random_resized_crop &&
                             (o->rrc_style == IMREC_RRC_TORCH || o->min_random_area != 1 ||
                              o->max_random_area != 1 || r->aspect_low != 1 || r->aspect_high != 1);
    r->lights = o->brightness > 0 || o->contrast > 0 || o->saturation > 0;
    r->hls = o->random_h > 0 || o->random_l > 0 || o->random_s > 0;
    r->pca = o->pca_noise > 0;
    r->ops = o->rand_augment > 0 || o->trivial_augment || o->auto_augment != IMREC_POLICY_NONE ||
             o->augmix;
    r->hue = o->hue > 0;
    r->greys = o->random_grayscale > 0;
    r->blurs = o->gaussian_blur > 0;
    r->solarizes = o->random_solarize > 0;
    IMREC_TRY(read_sequence(r, o->aug_seq, err));
    r->tones = !r->det.on && (o->max_random_contrast > 0 || o->max_random_illumination > 0);
    IMREC_TRY(check_crops(r, err));
    IMREC_TRY(check_targets(r, err));
    return check_values(r, err);
}
