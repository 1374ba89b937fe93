/* im2rec/item/augmenting.c */
#include "im2rec/item/augmenting.h"

#include "augment/erase.h"
#include "augment/mix.h"
#include "augment/paint_ops.h"
#include "augment/resize/resize.h"
#include "base/alloc.h"
#include "base/error.h"
#include "imrec/iterator.h"

#include <string.h>

#define PARAM_STRUCT struct imrec_iter_options
static const struct param table[] = {IMREC_ITER_PARAMS(PARAM_ROW){0}};

/* ---- keys --------------------------------------------------------------------------------- */

static enum imrec_status set_pair(struct augmenting *a, char *pair, struct imrec_error *err)
{
    const size_t n = strcspn(pair, "=");
    const struct param *p = param_find(table, pair, n);
    const bool shape = p != NULL && strcmp(p->name, "data_shape") == 0;
    if (pair[n] == '\0')
        return IMREC_REFUSE(err, "augment takes key=value, not '%.64s'", pair);
    if (p != NULL && !shape && (p->scope & PARAM_OF_RECORD) == 0)
        return IMREC_REFUSE(err, "augment changes pixels before they are encoded; %s does not",
                            p->name);
    IMREC_TRY(param_set(p != NULL ? augment_params : table, &a->o, pair, n, pair + n + 1, err));
    if (shape)
        a->given = a->o.data_shape;
    return IMREC_OK;
}

static enum imrec_status read_pairs(struct augmenting *a, struct imrec_error *err)
{
    for (char *at = a->text; *(at += strspn(at, " \t\n")) != '\0';) {
        const size_t n = strcspn(at, " \t\n");
        const bool last = at[n] == '\0';
        at[n] = '\0';
        IMREC_TRY(set_pair(a, at, err));
        at += n + !last;
    }
    return IMREC_OK;
}

/* Said before a library is loaded: the text may be of a plan, a file that others can write. */
static enum imrec_status no_own(const char *name, struct imrec_error *err)
{
    return IMREC_REFUSE(
        err, "augment calls no augmenters of your own (%.160s): they are for reading", name);
}

enum imrec_status
augmenting_init(struct augmenting *a, const char *text, uint32_t channels, struct imrec_error *err)
{
    const size_t n = strlen(text) + 1;
    *a = (struct augmenting){0};
    param_defaults(augment_params, &a->o);
    a->text = imrec_realloc(NULL, n, 1);
    if (a->text == NULL)
        return IMREC_NO_MEMORY(err, "no memory for augment");
    memcpy(a->text, text, n);
    enum imrec_status st = read_pairs(a, err);
    if (st == IMREC_OK && a->given.width != 0 && channels != 0 && a->given.channels != channels)
        st = IMREC_REFUSE(err, "data_shape of augment has %u channels, but color packs %u",
                          a->given.channels, channels);
    a->o.data_shape.channels = channels;
    a->o.dtype = IMREC_UINT8; /* pixels: what erases them is from 0 to 255 */
    if (st == IMREC_OK && recipe_has_boxes(a->o.aug_seq, a->o.boxes))
        st = IMREC_REFUSE(err, "augment moves no boxes: aug_seq=det_aug_default is for reading");
    if (st == IMREC_OK && strchr(a->o.aug_seq, ':') != NULL) /* LIBRARY:SYMBOL */
        st = no_own(a->o.aug_seq, err);
    if (st == IMREC_OK)
        st = recipe_init(&a->recipe, &a->o, err);
    if (st == IMREC_OK && a->recipe.augmenter_count != 0)
        st = no_own(a->recipe.augmenters[0].plugin.name, err);
    if (st != IMREC_OK)
        augmenting_free(a);
    return st;
}

void augmenting_free(struct augmenting *a)
{
    image_free(&a->images[0]);
    image_free(&a->images[1]);
    imrec_free(a->text);
    *a = (struct augmenting){0};
}

/* ---- images ------------------------------------------------------------------------------ */

/* Grey images among others have no colours to change. */
static struct recipe recipe_for(const struct augmenting *a)
{
    struct recipe r = a->recipe;
    if (a->o.data_shape.channels != 1)
        return r;
    r.paint_count = 0;
    for (uint32_t i = 0; i < a->recipe.paint_count; i++) {
        const enum paint p = a->recipe.paints[i];
        if (p == PAINT_OPS || p == PAINT_LIGHTS || p == PAINT_BLUR || p == PAINT_SOLARIZE)
            r.paints[r.paint_count++] = p;
    }
    return r;
}

enum imrec_status augmenting_draw(struct augmenting *a, const struct imrec_pack_options *o,
                                  uint64_t id, uint64_t copy, struct imrec_shape image,
                                  struct augmenting_plan *out, struct imrec_error *err)
{
    const struct sample_key key = {(uint64_t)o->seed, copy, 0, id, 0};
    const bool given = a->given.width != 0;
    const uint32_t w = image.width, h = image.height, channels = image.channels;
    struct imrec_shape *to = &a->o.data_shape;
    a->o.resize = a->o.resize > 0 ? a->o.resize : 0;
    resize_shorter_side(w, h, a->o.resize, &to->width, &to->height);
    if (given)
        *to = a->given;
    to->channels = channels;
    const struct recipe r = recipe_for(a);
    IMREC_TRY(steps_check(&r, NULL, w, h, o->max_pixels, err));
    out->key = key;
    out->draw = augment_draw(&r, key, w, h);
    if (channels == 1)
        out->draw.saturation = 1;
    IMREC_TRY(steps_check(&r, &out->draw, w, h, o->max_pixels, err));
    steps_plan(&out->steps, &r, &out->draw, w, h);
    out->width = to->width;
    out->height = to->height;
    out->bytes = steps_bytes(&out->steps, channels) + steps_scratch_claim(&out->steps, channels) +
                 ((uint64_t)w * h + 4 * (uint64_t)to->width * to->height) * channels +
                 paint_ops_claim(&r, (uint64_t)to->width * to->height * channels);
    return IMREC_OK;
}

void augmenting_trim(struct augmenting *a, size_t most)
{
    if (a->images[0].capacity + a->images[1].capacity <= most)
        return;
    image_free(&a->images[0]);
    image_free(&a->images[1]);
}

static enum imrec_status copy_region(const struct imrec_image *from, struct imrec_rect r,
                                     struct image *to, struct imrec_error *err)
{
    const size_t bytes = (size_t)r.width * from->channels;
    IMREC_TRY(image_resize_buffer(to, r.width, r.height, from->channels, err));
    for (uint32_t y = 0; y < r.height; y++)
        memcpy(to->view.pixels + y * to->view.stride,
               from->pixels + (r.y + y) * from->stride + (size_t)r.x * from->channels, bytes);
    return IMREC_OK;
}

static void flip(const struct imrec_image *i)
{
    const size_t row = (size_t)i->width * i->channels;
    for (uint32_t y = 0; y < i->height / 2; y++)
        mix_swap_bytes(i->pixels + y * i->stride, i->pixels + (i->height - 1 - y) * i->stride, row);
}

/* The image is erased as a slot of bytes. */
static void
erase(const struct recipe *r, const struct augmenting_plan *p, const struct imrec_image *i)
{
    const struct normalize_job slot = {.width = i->width,
                                       .height = i->height,
                                       .channels = i->channels,
                                       .how = {.dtype = IMREC_UINT8, .layout = IMREC_NHWC},
                                       .out = i->pixels};
    erase_slot(r, &p->draw, p->key, &slot);
}

enum imrec_status augmenting_run(struct augmenting *a, const struct augmenting_plan *p,
                                 const struct imrec_image *from, struct path *path,
                                 struct resize_scratch *scratch, struct imrec_image *out,
                                 struct imrec_error *err)
{
    uint32_t at = 0;
    const struct recipe r = recipe_for(a);
    struct targets targets = {.recipe = &r};
    const struct paint_sample sample = {.key = p->key, .targets = &targets};
    steps_path(&targets.path, &r, &p->draw, from->width, from->height);
    IMREC_TRY(copy_region(from, p->steps.upright, &a->images[0], err));
    for (uint32_t i = 0; i < p->steps.n; i++) {
        const struct imrec_image *source = &a->images[at].view;
        at ^= 1;
        IMREC_TRY(step_run(&p->steps.step[i], source, &a->images[at], scratch, err));
    }
    IMREC_TRY(steps_paint(&r, &p->draw, &sample, a->images, &at, scratch, err));
    path_join(path, &targets.path);
    *out = a->images[at].view;
    if (p->draw.mirror)
        imrec_image_mirror(out);
    if (p->draw.flip)
        flip(out);
    erase(&r, p, out);
    return IMREC_OK;
}
