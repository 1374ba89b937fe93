/* iter/options/view_kinds.c - num_views, multi_crop and data_shape_schedule, read. */
#include "iter/options/view_kinds.h"

#include "augment/normalize/normalize.h"
#include "augment/targets.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"
#include "base/param.h"
#include "iter/options/iter_options.h"

#include <string.h>

enum { MAX_SIDE = 65535 };

static enum imrec_status refuse(struct imrec_error *err, const char *sentence)
{
    return IMREC_REFUSE(err, "%s", sentence);
}

/* ---- texts -------------------------------------------------------------------------------- */

/* One number in its range; *text moves to its end. */
static bool take_number(const char **text, uint64_t least, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9' && n <= most; at++)
        n = 10 * n + (uint64_t)(*at - '0');
    if (at == *text || n < least || n > most)
        return false;
    *text = at;
    *out = n;
    return true;
}

static bool take_char(const char **text, char c)
{
    if (**text != c)
        return false;
    ++*text;
    return true;
}

static bool take_side(const char **text, uint32_t *out)
{
    uint64_t n;
    if (!take_number(text, 1, MAX_SIDE, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

/* ---- kinds -------------------------------------------------------------------------------- */

static enum imrec_status measure(struct view_kind *k, struct imrec_error *err)
{
    const struct imrec_shape *d = &k->o.data_shape;
    if (mul_fits(d->width, d->height, &k->bytes) &&
        mul_fits(k->bytes, mask_type_size(k->o.masks), &k->mask_bytes) &&
        mul_fits(k->bytes, d->channels, &k->bytes) &&
        mul_fits(k->bytes, dtype_size(k->o.dtype), &k->bytes))
        return IMREC_OK;
    return refuse(err, "data_shape and batch_size ask for a batch of over 1 TiB");
}

/* Another shape; the options are those of the iterator until they are changed. */
static struct view_kind *add_kind(struct view_kinds *v, const struct imrec_iter_options *o)
{
    struct view_kind *k = &v->kinds[v->kind_count++]; /* zeroed */
    iter_options_of_sample(o, &k->o);
    return k;
}

static enum imrec_status make_room(struct view_kinds *v, uint32_t n, struct imrec_error *err)
{
    v->kinds = imrec_zalloc(n, sizeof(*v->kinds));
    return v->kinds != NULL ? IMREC_OK
                            : IMREC_NO_MEMORY(err, "no memory for the recipes of %u shapes", n);
}

static uint32_t items(const char *text, char between)
{
    uint32_t n = 1;
    for (; *text != '\0'; text++)
        n += *text == between;
    return n;
}

/* ---- multi_crop --------------------------------------------------------------------------- */

/* "2x224" or "2x224x160" */
static bool read_crops(const char **text, uint64_t *count, struct imrec_shape *shape)
{
    if (!take_number(text, 1, VIEW_TENSORS, count) || !take_char(text, 'x') ||
        !take_side(text, &shape->height))
        return false;
    shape->width = shape->height;
    return !take_char(text, 'x') || take_side(text, &shape->width);
}

static enum imrec_status
add_crops(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *at = o->multi_crop;
    v->tensors = 0;
    do {
        uint64_t count;
        struct view_kind *k = add_kind(v, o);
        if (!read_crops(&at, &count, &k->o.data_shape) || (*at != '\0' && *at != ','))
            return IMREC_REFUSE(err,
                                "multi_crop must be counts and sizes with commas between, as "
                                "2x224,6x96 or 2x224x160 (height, width), not '%.60s'",
                                o->multi_crop);
        if (count > VIEW_TENSORS - v->tensors)
            return imrec_fail(err, IMREC_ERR_LIMIT, "multi_crop has more than %d crops",
                              VIEW_TENSORS);
        memset(v->of_tensor + v->tensors, (int)(v->kind_count - 1), (size_t)count);
        v->tensors += (uint32_t)count;
    } while (take_char(&at, ','));
    const struct imrec_shape *first = &v->kinds[0].o.data_shape;
    if (first->height != o->data_shape.height || first->width != o->data_shape.width)
        return IMREC_REFUSE(err,
                            "multi_crop begins with %u x %u px, but data_shape has %u x %u: they "
                            "must be equal",
                            first->height, first->width, o->data_shape.height, o->data_shape.width);
    return IMREC_OK;
}

/* Of "a,b" the text before the next `end`, or all; *text moves past it. False: too long. */
static bool take_piece(const char **text, char end, char piece[64])
{
    const char *stop = strchr(*text, end);
    const size_t n = stop != NULL ? (size_t)(stop - *text) : strlen(*text);
    if (n >= 64)
        return false;
    memcpy(piece, *text, n);
    piece[n] = '\0';
    *text += n + (stop != NULL);
    return true;
}

static enum imrec_status wrong_area(const char *text, struct imrec_error *err)
{
    return IMREC_REFUSE(err,
                        "multi_crop_area must be shares LOW:HIGH from 1e-06 to 1 with commas "
                        "between, as 0.4:1,0.05:0.4, not '%.60s'",
                        text);
}

/* "0.05:0.4", and after it a comma or nothing. */
static enum imrec_status
read_area(const char **at, struct augment_options *o, const char *text, struct imrec_error *err)
{
    static const char *const names[] = {"min_random_area", "max_random_area"};
    for (int i = 0; i < 2; i++) {
        char piece[64];
        if ((i == 0 && strcspn(*at, ":") >= strcspn(*at, ",")) ||
            !take_piece(at, i == 0 ? ':' : ',', piece) ||
            param_set(augment_params, o, names[i], strlen(names[i]), piece, NULL) != IMREC_OK)
            return wrong_area(text, err);
    }
    return o->min_random_area <= o->max_random_area ? IMREC_OK : wrong_area(text, err);
}

static enum imrec_status
set_areas(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *at = o->multi_crop_area;
    const uint32_t n = items(at, ',');
    if (!o->random_resized_crop)
        return refuse(err, "multi_crop_area needs random_resized_crop=1");
    if (n != 1 && n != v->kind_count)
        return IMREC_REFUSE(err,
                            "multi_crop_area has %u ranges: one for all, or one for each of the "
                            "%u sizes of multi_crop, is right",
                            n, v->kind_count);
    for (uint32_t i = 0; i < v->kind_count; i++) {
        if (n == 1)
            at = o->multi_crop_area;
        IMREC_TRY(read_area(&at, &v->kinds[i].o, o->multi_crop_area, err));
    }
    return IMREC_OK;
}

/* "gaussian_blur=1,hue=0.1;;gaussian_blur=0.5": what each size has for itself. */
static enum imrec_status
set_augments(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *at = o->multi_crop_augment;
    const uint32_t n = items(at, ';');
    if (n != v->kind_count)
        return IMREC_REFUSE(err,
                            "multi_crop_augment has %u parts between semicolons: one for each of "
                            "the %u sizes of multi_crop is right",
                            n, v->kind_count);
    for (uint32_t i = 0; i < n; i++, at++) /* and over the semicolon */
        for (bool more = *at != ';' && *at != '\0'; more;) {
            char pair[64];
            const size_t length = strcspn(at, ",;");
            if (length >= sizeof(pair))
                return refuse(err, "multi_crop_augment has a key=value of over 63 bytes");
            memcpy(pair, at, length);
            pair[length] = '\0';
            IMREC_TRY(iter_options_augment(&v->kinds[i].o, pair, err));
            more = at[length] == ',';
            at += length + more;
        }
    return IMREC_OK;
}

static enum imrec_status
read_multi_crop(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    const uint32_t sizes = items(o->multi_crop, ',');
    if (recipe_has_boxes(o->aug_seq, o->boxes) || o->keypoints > 0)
        return refuse(err, "multi_crop makes several tensors of a sample, which has one label with "
                           "boxes or keypoints; num_views gives each image its own");
    if (o->mixup > 0 || o->cutmix > 0)
        return refuse(err, "mixup and cutmix mix labels with one tensor; multi_crop has several");
    if (sizes > VIEW_KINDS)
        return imrec_fail(err, IMREC_ERR_LIMIT, "multi_crop has %u sizes, more than %d", sizes,
                          VIEW_KINDS);
    IMREC_TRY(make_room(v, sizes, err));
    IMREC_TRY(add_crops(v, o, err));
    if (o->multi_crop_area[0] != '\0')
        IMREC_TRY(set_areas(v, o, err));
    return o->multi_crop_augment[0] != '\0' ? set_augments(v, o, err) : IMREC_OK;
}

/* ---- data_shape_schedule ------------------------------------------------------------------ */

/* "3:3,160,160", and after it a semicolon or nothing. */
static bool read_step(const char **at, uint64_t *since, struct imrec_shape *shape)
{
    static const struct param row[] = {
        {.name = "data_shape", .type = PARAM_SHAPE, .least = 1, .most = MAX_SIDE}, {0}};
    char piece[64];
    return take_number(at, 0, UINT32_MAX, since) && take_char(at, ':') &&
           take_piece(at, ';', piece) &&
           param_set(row, shape, row->name, strlen(row->name), piece, NULL) == IMREC_OK;
}

static enum imrec_status add_step(struct view_kinds *v, const struct imrec_iter_options *o,
                                  bool first, const char **at, struct imrec_error *err)
{
    uint64_t since;
    struct imrec_shape shape;
    if (!read_step(at, &since, &shape))
        return IMREC_REFUSE(err,
                            "data_shape_schedule must be SWEEP:C,H,W with semicolons between, as "
                            "0:3,128,128;3:3,160,160, not '%.60s'",
                            o->data_shape_schedule);
    if (shape.channels != o->data_shape.channels)
        return IMREC_REFUSE(err,
                            "data_shape_schedule has a shape of %u channels, data_shape has %u: "
                            "they must be equal",
                            shape.channels, o->data_shape.channels);
    struct view_kind *before = &v->kinds[v->kind_count - 1];
    if (since <= before->since && !first)
        return IMREC_REFUSE(err,
                            "data_shape_schedule: the sweeps must go up, but %llu comes after %llu",
                            (unsigned long long)since, (unsigned long long)before->since);
    struct view_kind *k = since == 0 ? before : add_kind(v, o);
    k->since = since;
    k->o.data_shape = shape;
    return IMREC_OK;
}

/* The first kind is data_shape's, in the sweeps before the schedule begins. */
static enum imrec_status
read_schedule(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *at = o->data_shape_schedule;
    const uint32_t steps = items(at, ';');
    if (o->multi_crop[0] != '\0')
        return refuse(err, "data_shape_schedule and multi_crop contradict each other; give one");
    if (steps >= VIEW_KINDS)
        return imrec_fail(err, IMREC_ERR_LIMIT, "data_shape_schedule has %u shapes, more than %d",
                          steps, VIEW_KINDS - 1);
    IMREC_TRY(make_room(v, steps + 1, err));
    add_kind(v, o);
    for (uint32_t i = 0; i < steps; i++)
        IMREC_TRY(add_step(v, o, i == 0, &at, err));
    return IMREC_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static enum imrec_status
finish(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    for (uint32_t i = 0; i < v->kind_count; i++) {
        struct view_kind *k = &v->kinds[i];
        const struct imrec_shape *a = &k->o.data_shape, *b = &o->data_shape;
        if (o->mean_img[0] != '\0' && (a->height != b->height || a->width != b->width))
            return refuse(err, "a mean image has the size of data_shape: with other sizes in "
                               "multi_crop or data_shape_schedule give mean_r, mean_g, mean_b");
        IMREC_TRY(measure(k, err));
        IMREC_TRY(recipe_init(&k->recipe, &k->o, err));
    }
    return IMREC_OK;
}

enum imrec_status
view_kinds_init(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err)
{
    *v = (struct view_kinds){.rows = (uint32_t)o->num_views, .tensors = 1};
    if (o->batch_size % o->num_views != 0)
        return IMREC_REFUSE(
            err,
            "batch_size must be a multiple of num_views, but %lld is not a multiple of "
            "%lld: each sample fills num_views slots",
            (long long)o->batch_size, (long long)o->num_views);
    if (o->multi_crop_area[0] != '\0' && o->multi_crop[0] == '\0')
        return refuse(err, "multi_crop_area needs multi_crop; alone there are min_random_area and "
                           "max_random_area");
    if (o->multi_crop_augment[0] != '\0' && o->multi_crop[0] == '\0')
        return refuse(err, "multi_crop_augment needs multi_crop");
    if (o->data_shape_schedule[0] != '\0')
        IMREC_TRY(read_schedule(v, o, err));
    else if (o->multi_crop[0] != '\0')
        IMREC_TRY(read_multi_crop(v, o, err));
    else {
        IMREC_TRY(make_room(v, 1, err));
        add_kind(v, o);
    }
    if (view_kinds_count(v) > VIEW_LIMIT)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "num_views and multi_crop make %u images of a sample, more than %d",
                          view_kinds_count(v), VIEW_LIMIT);
    return finish(v, o, err);
}

void view_kinds_free(struct view_kinds *v)
{
    imrec_free(v->kinds);
    *v = (struct view_kinds){0};
}

uint64_t view_kinds_most_pixels(const struct view_kinds *v)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < v->kind_count; i++) {
        const struct imrec_shape *s = &v->kinds[i].o.data_shape;
        most = max_u64(most, (uint64_t)s->width * s->height);
    }
    return most;
}

uint32_t view_kinds_kind(const struct view_kinds *v, uint64_t sweep, uint32_t tensor)
{
    uint32_t kind = 0;
    if (v->tensors > 1)
        return v->of_tensor[tensor];
    while (kind + 1 < v->kind_count && v->kinds[kind + 1].since <= sweep)
        kind++;
    return kind;
}
