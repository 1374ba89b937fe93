/* iter/options/further_images.c - images=, read: "image,right:normalize,depth:uint16?". */
#include "iter/options/further_images.h"

#include "augment/normalize/normalize.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "formats/field_names.h"
#include "iter/options/iter_options.h"

#include <stdlib.h>
#include <string.h>

/* ---- an image ----------------------------------------------------------------------------- */

static bool take_fill(struct further_image *f, const char *word)
{
    uint32_t n = 0;
    if (strncmp(word, "fill=", 5) != 0 || word[5] == '\0')
        return false;
    for (word += 5; *word >= '0' && *word <= '9' && n <= UINT16_MAX; word++)
        n = 10 * n + (uint32_t)(*word - '0');
    f->fill = (uint16_t)n;
    return *word == '\0' && n <= UINT16_MAX;
}

/* One word after the name; false: it is none, but part of the name. */
static bool take_word(struct further_image *f, const char *word)
{
    static const char *const types[] = {"", "uint8", "uint16", "int32", "float32"};
    for (int i = IMREC_IMAGE_UINT8; i <= IMREC_IMAGE_FLOAT32; i++)
        if (strcmp(word, types[i]) == 0) {
            f->type = (enum imrec_image_type)i;
            return true;
        }
    if (strcmp(word, "1") == 0 || strcmp(word, "3") == 0 || strcmp(word, "4") == 0)
        f->channels = (uint32_t)(word[0] - '0');
    else if (strcmp(word, "nearest") == 0)
        f->nearest = true;
    else if (strcmp(word, "normalize") == 0)
        f->normalize = true;
    else
        return take_fill(f, word);
    return true;
}

static enum imrec_status check_map(const struct further_image *f,
                                   const struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->mixup > 0)
        return IMREC_REFUSE(
            err,
            "mixup blends images, and '%.100s' of images is a map, whose values have "
            "no blend: cutmix swaps them",
            f->name);
    if (f->channels > 1 || f->normalize)
        return IMREC_REFUSE(err,
                            "images: '%.100s' is a map of values, of one channel that is delivered "
                            "as it is stored: it takes no %s",
                            f->name, f->normalize ? "normalize" : "number of channels but 1");
    if (f->type == IMREC_IMAGE_UINT8 && f->fill > UINT8_MAX)
        return IMREC_REFUSE(err, "images: fill=%u of '%.100s' does not fit uint8: 0 to 255 does",
                            f->fill, f->name);
    return IMREC_OK;
}

static enum imrec_status check_pixels(const struct further_image *f,
                                      const struct imrec_iter_options *o, struct imrec_error *err)
{
    if (f->fill != 0)
        return IMREC_REFUSE(err,
                            "images: fill= of '%.100s' is for maps (uint8, uint16, int32, "
                            "float32); around images is fill_value",
                            f->name);
    if (f->normalize && o->mean_img[0] != '\0')
        return IMREC_REFUSE(err,
                            "images: normalize of '%.100s' subtracts mean_r, mean_g, mean_b; a "
                            "mean image is that of the first image only",
                            f->name);
    if (!f->normalize && o->dtype == IMREC_INT8)
        return IMREC_REFUSE(err,
                            "images: pixels above 127 do not fit dtype=int8 unless mean_* are "
                            "subtracted: write %.100s:normalize",
                            f->name);
    return IMREC_OK;
}

/* "depth?:uint16", "depth:uint16?" */
static void take_optional(struct further_image *f, char *text)
{
    const size_t n = strlen(text);
    if (n != 0 && text[n - 1] == '?') {
        f->optional = true;
        text[n - 1] = '\0';
    }
}

/* "depth:uint16:fill=7": words from the end, as a name may have a colon in it. */
static enum imrec_status read_image(char *text, const struct imrec_iter_options *o,
                                    struct further_image *f, struct imrec_error *err)
{
    for (char *colon = text; colon != NULL;) {
        colon = strrchr(text, ':');
        take_optional(f, colon != NULL ? colon + 1 : text);
        if (colon == NULL || !take_word(f, colon + 1))
            break;
        *colon = '\0';
    }
    f->name = text;
    if (text[0] == '\0' || strcmp(text, "image") == 0 || strcmp(text, "none") == 0)
        return IMREC_REFUSE(err,
                            "images: a further image is called by the name of its field, not "
                            "'%.20s'",
                            text);
    if (f->type != IMREC_IMAGE_PIXELS) {
        IMREC_TRY(check_map(f, o, err));
        f->channels = 1;
        return IMREC_OK;
    }
    IMREC_TRY(check_pixels(f, o, err));
    if (f->channels == 0)
        f->channels = o->data_shape.channels;
    return IMREC_OK;
}

/* ---- all of them -------------------------------------------------------------------------- */

static enum imrec_status add(struct further_images *f, char *item,
                             const struct imrec_iter_options *o, struct imrec_error *err)
{
    if (f->count == FURTHER_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT, "images names more than %d further images",
                          FURTHER_MOST);
    struct further_image *image = &f->image[f->count++];
    IMREC_TRY(read_image(item, o, image, err));
    for (uint32_t i = 0; i + 1 < f->count; i++)
        if (strcmp(f->image[i].name, image->name) == 0)
            return IMREC_REFUSE(err, "images names '%.100s' twice", image->name);
    f->mask = f->mask || strcmp(image->name, FURTHER_MASK) == 0;
    return IMREC_OK;
}

static enum imrec_status
parse(struct further_images *f, const struct imrec_iter_options *o, struct imrec_error *err)
{
    f->text = imrec_joined(o->images, strlen(o->images), "");
    if (f->text == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the names of images");
    char *at = strchr(f->text, ',');
    if (strcspn(f->text, ",") != strlen("image") || memcmp(f->text, "image", strlen("image")) != 0)
        return IMREC_REFUSE(err,
                            "images begins with image, the record's own, as image,depth:uint16; or "
                            "it is none: not '%.60s'",
                            o->images);
    while (at != NULL) {
        char *item = at + 1;
        at = strchr(item, ',');
        if (at != NULL)
            *at = '\0';
        IMREC_TRY(add(f, item, o, err));
    }
    return IMREC_OK;
}

/* batch["depth"] is one thing. */
static enum imrec_status check_fields(const struct further_images *f,
                                      const struct imrec_iter_options *o, struct imrec_error *err)
{
    struct field_names names;
    enum imrec_status st = field_names_parse("fields", o->fields, &names, err);
    for (uint32_t i = 0; st == IMREC_OK && i < f->count; i++)
        for (uint32_t k = 0; st == IMREC_OK && k < names.count; k++)
            if (strcmp(f->image[i].name, names.name[k]) == 0)
                st = IMREC_REFUSE(err,
                                  "'%.100s' is in images and in fields: as a tensor or as bytes, "
                                  "not both",
                                  names.name[k]);
    field_names_free(&names);
    return st;
}

/* ---- shapes ------------------------------------------------------------------------------- */

/* What the first image has beyond its geometry is its own. */
static void keep_geometry(struct recipe *r)
{
    r->paint_count = r->augmenter_count = 0;
    if (r->ops && !r->o->augmix) /* those that move pixels, once the others are omitted */
        r->paints[r->paint_count++] = PAINT_OPS;
    r->tones = r->lights = r->hls = r->pca = r->hue = r->greys = r->blurs = r->solarizes = false;
    r->det.shifts = false;
    r->keypoints = r->pair_count = 0;
}

static void drop_normalizing(struct augment_options *o)
{
    o->mean_r = o->mean_g = o->mean_b = o->mean_a = 0;
    o->std_r = o->std_g = o->std_b = o->std_a = 1;
    o->scale = 1;
}

static enum imrec_status set_kind(struct view_kind *k, const struct view_kind *first,
                                  const struct further_image *f, struct imrec_error *err)
{
    *k = *first;
    k->recipe.o = &k->o;
    k->o.data_shape.channels = f->channels;
    k->o.masks = IMREC_MASK_NONE;
    k->mask_bytes = 0;
    keep_geometry(&k->recipe);
    if (!f->normalize)
        drop_normalizing(&k->o);
    const size_t value = f->type != IMREC_IMAGE_PIXELS ? image_type_size(f->type)
                                                       : f->channels * dtype_size(k->o.dtype);
    if (mul_fits(k->o.data_shape.width, k->o.data_shape.height, &k->bytes) &&
        mul_fits(k->bytes, value, &k->bytes))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT, "images: '%.100s' would have over 1 TiB", f->name);
}

static enum imrec_status
set_kinds(struct further_images *f, const struct view_kinds *views, struct imrec_error *err)
{
    f->of_image = views->kind_count;
    f->kinds = *views;
    f->kinds.kind_count = f->count * views->kind_count;
    f->kinds.kinds = imrec_zalloc(f->kinds.kind_count, sizeof(*f->kinds.kinds));
    if (f->kinds.kinds == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the recipes of %u images", f->count);
    for (uint32_t i = 0; i < f->kinds.kind_count; i++)
        IMREC_TRY(set_kind(&f->kinds.kinds[i], &views->kinds[i % f->of_image],
                           &f->image[i / f->of_image], err));
    return IMREC_OK;
}

/* ---- none --------------------------------------------------------------------------------- */

/* What is about pixels, and would do nothing. */
static enum imrec_status check_none(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *what = o->masks != IMREC_MASK_NONE ? "masks are"
                       : recipe_has_boxes(o->aug_seq, o->boxes)
                           ? "boxes, which move with pixels, are"
                       : o->keypoints > 0 ? "keypoints, which move with pixels, are"
                       : o->mixup > 0     ? "mixup is"
                       : o->cutmix > 0    ? "cutmix is"
                       : o->multi_crop[0] ? "multi_crop is"
                       : o->mean_img[0]   ? "mean_img is"
                       : o->record_draws  ? "record_draws is"
                       : o->record_places ? "record_places is"
                       : o->verify_decode ? "verify_decode is"
                                          : NULL;
    return what == NULL ? IMREC_OK
                        : IMREC_REFUSE(err, "images=none decodes nothing: %s about images", what);
}

enum imrec_status further_images_init(struct further_images *f, const struct imrec_iter_options *o,
                                      const struct view_kinds *views, struct imrec_error *err)
{
    *f = (struct further_images){.none = iter_options_no_images(o)};
    if (o->images[0] == '\0')
        return IMREC_OK;
    if (f->none)
        return check_none(o, err);
    if (o->audio)
        return IMREC_REFUSE(err, "audio=1 has no further images: images is for images");
    IMREC_TRY(parse(f, o, err));
    IMREC_TRY(check_fields(f, o, err));
    return f->count != 0 ? set_kinds(f, views, err) : IMREC_OK;
}

void further_images_free(struct further_images *f)
{
    view_kinds_free(&f->kinds);
    imrec_free(f->text);
    *f = (struct further_images){0};
}
