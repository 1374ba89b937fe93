/* im2rec/list/annotations.c */
#include "im2rec/list/annotations.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/set/image_list.h"
#include "im2rec/list/python_random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 2, OBJECT = 6 }; /* labels of the header, and of an object */

static enum imrec_status no_memory(const struct annotations *b, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the annotations of %s", b->name);
}

static const char *keep(struct annotations *b, const char *text, size_t n)
{
    char *to = string_arena_put(&b->texts, NULL, n + 1);
    if (to != NULL) {
        memcpy(to, text, n);
        to[n] = '\0';
    }
    return to;
}

/* ---- collecting ----------------------------------------------------------------------------- */

enum imrec_status annotations_add_image(struct annotations *b, uint64_t id, const char *path,
                                        size_t n, double width, double height,
                                        struct imrec_error *err)
{
    if (!(width >= 1 && height >= 1 && width <= 1e9 && height <= 1e9))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: the image %.200s has no width and height of 1 px or more", b->name,
                          path);
    const char *kept = keep(b, path, n);
    if (kept == NULL || !IMREC_GROW(b->images, b->image_room, b->image_count + 1))
        return no_memory(b, err);
    b->images[b->image_count++] = (struct box_image){id, kept, width, height};
    return IMREC_OK;
}

enum imrec_status annotations_add_points(struct annotations *b, const float *values, size_t n,
                                         size_t *at, struct imrec_error *err)
{
    *at = b->point_count;
    for (size_t i = 0; i < n; i++) {
        if (!IMREC_GROW(b->points, b->point_room, b->point_count + 1))
            return no_memory(b, err);
        b->points[b->point_count++] = values[i];
    }
    return IMREC_OK;
}

enum imrec_status
annotations_add_object(struct annotations *b, const struct box_object *o, struct imrec_error *err)
{
    if (!IMREC_GROW(b->objects, b->object_room, b->object_count + 1))
        return no_memory(b, err);
    b->objects[b->object_count] = *o;
    b->objects[b->object_count].place = b->object_count;
    b->object_count++;
    return IMREC_OK;
}

enum imrec_status annotations_add_category(struct annotations *b, int64_t id, const char *name,
                                           size_t n, struct imrec_error *err)
{
    const char *kept = keep(b, name, n);
    if (kept == NULL || !IMREC_GROW(b->categories, b->category_room, b->category_count + 1))
        return no_memory(b, err);
    b->categories[b->category_count++] = (struct box_category){id, kept, 0};
    return IMREC_OK;
}

enum imrec_status annotations_category(struct annotations *b, const char *name, size_t n,
                                       int64_t *id, struct imrec_error *err)
{
    for (size_t i = 0; i < b->category_count; i++)
        if (strlen(b->categories[i].name) == n && memcmp(b->categories[i].name, name, n) == 0) {
            *id = b->categories[i].id;
            return IMREC_OK;
        }
    *id = (int64_t)b->category_count;
    return annotations_add_category(b, *id, name, n, err);
}

void annotations_free(struct annotations *b)
{
    IMREC_FREE(b->images, b->objects, b->categories, b->points);
    string_arena_free(&b->texts);
    *b = (struct annotations){0};
}

/* ---- classes -------------------------------------------------------------------------------- */

static int by_category(const void *a, const void *b)
{
    const int64_t x = ((const struct box_category *)a)->id,
                  y = ((const struct box_category *)b)->id;
    return (x > y) - (x < y);
}

static struct bytes name_of(const struct box_category *c)
{
    return (struct bytes){(const uint8_t *)c->name, strlen(c->name)};
}

static enum imrec_status number_given(struct annotations *b, const struct annotations_order *how,
                                      struct class_list *classes, struct imrec_error *err)
{
    if (how->new_classes)
        IMREC_TRY(class_list_add_all(classes, how->given, err));
    for (size_t i = 0; i < b->category_count; i++) {
        struct box_category *c = &b->categories[i];
        if (class_list_find(how->given, name_of(c), &c->number))
            continue;
        if (!how->new_classes)
            return IMREC_REFUSE(err,
                                "%s has the class '%.100s', which the class list does not name",
                                b->name, c->name);
        c->number = classes->count;
        IMREC_TRY(class_list_add(classes, name_of(c), err));
    }
    return IMREC_OK;
}

static enum imrec_status number_classes(struct annotations *b, const struct annotations_order *how,
                                        struct class_list *classes, struct imrec_error *err)
{
    if (b->category_count != 0)
        qsort(b->categories, b->category_count, sizeof(*b->categories), by_category);
    for (size_t i = 1; i < b->category_count; i++)
        if (b->categories[i].id == b->categories[i - 1].id)
            return imrec_fail(err, IMREC_ERR_CORRUPT, "%s has two categories of the id %" PRId64,
                              b->name, b->categories[i].id);
    if (how->given != NULL)
        return number_given(b, how, classes, err);
    for (size_t i = 0; i < b->category_count; i++) {
        b->categories[i].number = (uint32_t)i;
        IMREC_TRY(class_list_add(classes, name_of(&b->categories[i]), err));
    }
    return class_list_seal(classes, err);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int by_image(const void *a, const void *b)
{
    const struct box_object *x = a, *y = b;
    if (x->image != y->image)
        return x->image > y->image ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_id(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every object is of an image, and no id is that of two. */
static enum imrec_status check_ids(const struct annotations *b, struct imrec_error *err)
{
    uint64_t *ids = imrec_zalloc(b->image_count + 1, sizeof(*ids));
    enum imrec_status st = IMREC_OK;
    if (ids == NULL)
        return no_memory(b, err);
    for (size_t i = 0; i < b->image_count; i++)
        ids[i] = b->images[i].id;
    qsort(ids, b->image_count, sizeof(*ids), by_id);
    for (size_t i = 1; i < b->image_count && st == IMREC_OK; i++)
        if (ids[i] == ids[i - 1])
            st = imrec_fail(err, IMREC_ERR_CORRUPT, "%s has two images of the id %" PRIu64, b->name,
                            ids[i]);
    for (size_t i = 0; i < b->object_count && st == IMREC_OK; i++)
        if (bsearch(&b->objects[i].image, ids, b->image_count, sizeof(*ids), by_id) == NULL)
            st = imrec_fail(err, IMREC_ERR_CORRUPT,
                            "%s: an object is of the image %" PRIu64 ", which is not there",
                            b->name, b->objects[i].image);
    imrec_free(ids);
    return st;
}

static size_t first_object(const struct annotations *b, uint64_t image)
{
    return first_at_least(b->objects, sizeof(*b->objects), offsetof(struct box_object, image),
                          b->object_count, image);
}

static double share(double v, double side)
{
    return v <= 0 ? 0 : v >= side ? 1 : v / side;
}

/* A keypoint's place is the middle of its pixel. One that is not labelled has
 * no place. */
static enum imrec_status put_points(struct annotations *b, const struct box_image *p,
                                    const struct box_object *o, struct buf *labels,
                                    struct imrec_error *err)
{
    for (uint32_t i = 0; i < b->keypoints; i++) {
        const float *at = o->points != SIZE_MAX ? b->points + o->points + 3 * (size_t)i : NULL;
        float v[3] = {0, 0, 0};
        if (at != NULL && at[2] > 0) {
            v[0] = (float)(((double)at[0] + 0.5) / p->width);
            v[1] = (float)(((double)at[1] + 0.5) / p->height);
            v[2] = at[2];
        }
        IMREC_TRY(buf_append(labels, v, sizeof(v), err));
    }
    return IMREC_OK;
}

/* Six labels; false: nothing of it is inside the image. */
static enum imrec_status put_object(struct annotations *b, const struct box_image *p,
                                    const struct box_object *o, struct buf *labels,
                                    struct imrec_error *err)
{
    const struct box_category key = {.id = o->category};
    const struct box_category *c =
        b->category_count == 0
            ? NULL
            : bsearch(&key, b->categories, b->category_count, sizeof(key), by_category);
    if (c == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: an object is of the category %" PRId64 ", which is not there",
                          b->name, o->category);
    const float v[OBJECT] = {(float)c->number,
                             (float)share(o->corners[0], p->width),
                             (float)share(o->corners[1], p->height),
                             (float)share(o->corners[2], p->width),
                             (float)share(o->corners[3], p->height),
                             o->difficult ? 1 : 0};
    if (v[3] > v[1] && v[4] > v[2]) {
        IMREC_TRY(buf_append(labels, v, sizeof(v), err));
        return put_points(b, p, o, labels, err);
    }
    b->empty++;
    return IMREC_OK;
}

/* A line; the label of an image without an object is the header alone. */
static enum imrec_status put_image(struct annotations *b, const struct box_image *p,
                                   bool drop_empty, struct buf *labels, struct buf *text,
                                   struct imrec_error *err)
{
    const float header[HEADER] = {HEADER, (float)(OBJECT + 3 * b->keypoints)};
    labels->n = 0;
    IMREC_TRY(buf_append(labels, header, sizeof(header), err));
    for (size_t i = first_object(b, p->id); i < b->object_count && b->objects[i].image == p->id;
         i++)
        IMREC_TRY(put_object(b, p, &b->objects[i], labels, err));
    const bool empty = labels->n == sizeof(header);
    b->without += empty;
    if (empty && drop_empty)
        return IMREC_OK;
    const struct image_list_entry e = {p->id,
                                       (const float *)(const void *)labels->p,
                                       (uint32_t)(labels->n / sizeof(float)),
                                       {(const uint8_t *)p->path, strlen(p->path)}};
    return image_list_write(text, &e, err);
}

static void shuffle(struct annotations *b, int64_t seed)
{
    struct python_random r;
    python_random_seed(&r, (uint64_t)seed);
    for (size_t i = b->image_count; i > 1; i--) {
        const size_t k = python_random_below(&r, (uint32_t)i);
        const struct box_image keep_it = b->images[i - 1];
        b->images[i - 1] = b->images[k];
        b->images[k] = keep_it;
    }
}

enum imrec_status annotations_write(struct annotations *b, const struct annotations_order *how,
                                    struct buf *text, struct class_list *classes,
                                    struct imrec_error *err)
{
    struct buf labels = BUF_INIT((size_t)64 << 20);
    if (b->image_count > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s has more than 2^32 - 1 images", b->name);
    IMREC_TRY(check_ids(b, err));
    IMREC_TRY(number_classes(b, how, classes, err));
    if (b->object_count != 0)
        qsort(b->objects, b->object_count, sizeof(*b->objects), by_image);
    if (how->shuffle)
        shuffle(b, how->seed);
    enum imrec_status st = IMREC_OK;
    for (size_t i = 0; i < b->image_count && st == IMREC_OK; i++)
        st = put_image(b, &b->images[i], how->drop_empty, &labels, text, err);
    buf_free(&labels);
    return st;
}
