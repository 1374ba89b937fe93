/*
 * im2rec/list/annotations_coco.c - COCO's instances and keypoints: one JSON object with arrays of
 * images, annotations and categories. The arrays are read element by element: the tree of a whole
 * file would take many times its size, which is half a gigabyte.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/list/annotations.h"
#include "storage/source.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)1 << 34)

struct coco {
    struct boxes *b;
    const char *text;
    size_t n, at;
    struct imrec_error *err;
};

static enum imrec_status wrong(const struct coco *c, const char *why)
{
    return imrec_error_at(c->err, IMREC_ERR_CORRUPT, c->at, "%s byte %zu: %s", c->b->name, c->at,
                          why);
}

static void pass_blanks(struct coco *c)
{
    while (c->at < c->n && (c->text[c->at] == ' ' || c->text[c->at] == '\n' ||
                            c->text[c->at] == '\t' || c->text[c->at] == '\r'))
        c->at++;
}

/* The next byte that is no blank is `byte`: it is taken. */
static bool take_byte(struct coco *c, char byte)
{
    pass_blanks(c);
    if (c->at == c->n || c->text[c->at] != byte)
        return false;
    c->at++;
    return true;
}

/* The value that begins here; NULL: there is none. */
static json_t *take_value(struct coco *c)
{
    json_error_t why;
    pass_blanks(c);
    json_t *v =
        json_loadb(c->text + c->at, c->n - c->at, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &why);
    if (v != NULL)
        c->at += (size_t)why.position;
    return v;
}

/* ---- elements ------------------------------------------------------------------------------- */

static bool number(const json_t *o, const char *key, double *out)
{
    const json_t *v = json_object_get(o, key);
    *out = json_number_value(v);
    return json_is_number(v) && *out > -1e15 && *out < 1e15;
}

static bool whole(const json_t *o, const char *key, int64_t *out)
{
    const json_t *v = json_object_get(o, key);
    *out = json_integer_value(v);
    return json_is_integer(v);
}

static enum imrec_status take_image(struct coco *c, const json_t *o)
{
    const json_t *name = json_object_get(o, "file_name");
    int64_t id;
    double width, height;
    if (!whole(o, "id", &id) || id < 0 || !json_is_string(name) || !number(o, "width", &width) ||
        !number(o, "height", &height))
        return wrong(c, "an image needs id (not below 0), file_name, width and height");
    return boxes_add_image(c->b, (uint64_t)id, json_string_value(name), json_string_length(name),
                           width, height, c->err);
}

/* Three values of each keypoint, px; an object without them has none that is labelled. */
static enum imrec_status take_points(struct coco *c, const json_t *o, struct box_object *to)
{
    const json_t *points = json_object_get(o, "keypoints");
    const size_t n = 3 * (size_t)c->b->keypoints;
    float v[3];
    bool good = points == NULL || json_array_size(points) == n;
    to->points = SIZE_MAX;
    for (size_t i = 0; good && points != NULL && i < n; i++) {
        size_t at;
        const json_t *value = json_array_get(points, i);
        const double number = json_number_value(value);
        v[i % 3] = (float)number;
        good = json_is_number(value) &&
               (i % 3 == 2 ? number >= 0 && number <= 2 : number > -1e6 && number < 1e6);
        if (good && i % 3 == 2) {
            IMREC_TRY(boxes_add_points(c->b, v, 3, &at, c->err));
            to->points = i == 2 ? at : to->points;
        }
    }
    return good ? IMREC_OK
                : imrec_error_at(c->err, IMREC_ERR_CORRUPT, c->at,
                                 "%s byte %zu: keypoints of an annotation must be %zu numbers, x, "
                                 "y and visibility (0 to 2) of each",
                                 c->b->name, c->at, n);
}

static enum imrec_status take_annotation(struct coco *c, const json_t *o)
{
    const json_t *box = json_object_get(o, "bbox");
    struct box_object to = {.difficult = json_integer_value(json_object_get(o, "iscrowd")) != 0,
                            .points = SIZE_MAX};
    int64_t image;
    double v[4];
    bool good = whole(o, "image_id", &image) && image >= 0 &&
                whole(o, "category_id", &to.category) && json_array_size(box) == 4;
    for (size_t i = 0; good && i < 4; i++) {
        good = json_is_number(json_array_get(box, i));
        v[i] = json_number_value(json_array_get(box, i));
    }
    if (!good)
        return wrong(c, "an annotation needs image_id, category_id and a bbox of four numbers");
    to.image = (uint64_t)image;
    if (c->b->keypoints != 0)
        IMREC_TRY(take_points(c, o, &to));
    memcpy(to.corners, (double[]){v[0], v[1], v[0] + v[2], v[1] + v[3]}, sizeof(to.corners));
    return boxes_add_object(c->b, &to, c->err);
}

static enum imrec_status take_category(struct coco *c, const json_t *o)
{
    const json_t *name = json_object_get(o, "name");
    int64_t id;
    if (!whole(o, "id", &id) || !json_is_string(name))
        return wrong(c, "a category needs id and name");
    return boxes_add_category(c->b, id, json_string_value(name), json_string_length(name), c->err);
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef enum imrec_status take_fn(struct coco *c, const json_t *o);

static enum imrec_status take_array(struct coco *c, take_fn *take)
{
    if (!take_byte(c, '['))
        return wrong(c, "images, annotations and categories must be arrays");
    if (take_byte(c, ']'))
        return IMREC_OK;
    do {
        json_t *o = take_value(c);
        if (o == NULL)
            return wrong(c, "no JSON value begins here");
        const enum imrec_status st =
            json_is_object(o) ? take(c, o) : wrong(c, "no object before it");
        json_decref(o);
        IMREC_TRY(st);
    } while (take_byte(c, ','));
    return take_byte(c, ']') ? IMREC_OK : wrong(c, "expected ',' or ']'");
}

static take_fn *taker_of(const char *key)
{
    return strcmp(key, "images") == 0        ? take_image
           : strcmp(key, "annotations") == 0 ? take_annotation
           : strcmp(key, "categories") == 0  ? take_category
                                             : NULL;
}

/* "key": value */
static enum imrec_status take_member(struct coco *c, unsigned *seen)
{
    json_t *key = take_value(c), *ignored = NULL;
    take_fn *take = json_is_string(key) ? taker_of(json_string_value(key)) : NULL;
    const bool named = json_is_string(key);
    json_decref(key);
    if (!named || !take_byte(c, ':'))
        return wrong(c, "expected \"key\": value");
    if (take == NULL) {
        ignored = take_value(c);
        const bool good = ignored != NULL;
        json_decref(ignored);
        return good ? IMREC_OK : wrong(c, "no JSON value begins here");
    }
    *seen |= take == take_image ? 1 : take == take_annotation ? 2 : 4;
    return take_array(c, take);
}

static enum imrec_status take_file(struct coco *c)
{
    unsigned seen = 0;
    if (!take_byte(c, '{'))
        return wrong(c, "a file of instances is one JSON object");
    do
        IMREC_TRY(take_member(c, &seen));
    while (take_byte(c, ','));
    if (!take_byte(c, '}'))
        return wrong(c, "expected ',' or '}'");
    pass_blanks(c);
    if (c->at != c->n)
        return wrong(c, "more text behind the object");
    return seen == 7 ? IMREC_OK : wrong(c, "images, annotations or categories are missing");
}

enum imrec_status
boxes_read_coco(const char *path, uint32_t keypoints, struct boxes *out, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    *out = (struct boxes){.name = path, .keypoints = keypoints};
    IMREC_TRY(source_load(path, FILE_MAX_BYTES, &text, &n, err));
    struct coco c = {.b = out, .text = (const char *)text, .n = n, .err = err};
    const enum imrec_status st = take_file(&c);
    imrec_free(text);
    if (st != IMREC_OK)
        boxes_free(out);
    return st;
}
