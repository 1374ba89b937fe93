/*
 * im2rec/list/annotations_coco.c - COCO's instances and keypoints: one JSON object with arrays of
 * images, annotations and categories. The arrays are read element by element: the tree of a whole
 * file would take many times its size, which is half a gigabyte.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/json_read.h"
#include "im2rec/list/annotations.h"
#include "storage/source.h"

#include <string.h>

#define FILE_MAX_BYTES  ((size_t)1 << 34)
#define VALUE_MAX_BYTES ((size_t)1 << 30) /* of one element, or of a member that is passed over */

struct coco {
    struct annotations *b;
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

static enum imrec_status take_value(struct coco *c, struct json_value **out)
{
    const struct json_input in = {
        .name = c->b->name,
        .text = {(const uint8_t *)c->text, c->n},
        .max_bytes = VALUE_MAX_BYTES,
    };
    pass_blanks(c);
    return json_read_next(&in, &c->at, out, c->err);
}

/* ---- elements ------------------------------------------------------------------------------- */

static bool number(const struct json_value *o, const char *key, double *out)
{
    return json_read_number(json_read_member(o, key), out) && *out > -1e15 && *out < 1e15;
}

static bool whole(const struct json_value *o, const char *key, int64_t *out)
{
    return json_read_i64(json_read_member(o, key), out);
}

static enum imrec_status take_image(struct coco *c, const struct json_value *o)
{
    const char *name = json_read_text(json_read_member(o, "file_name"));
    int64_t id;
    double width, height;
    if (!whole(o, "id", &id) || id < 0 || name == NULL || !number(o, "width", &width) ||
        !number(o, "height", &height))
        return wrong(c, "an image needs id (not below 0), file_name, width and height");
    return annotations_add_image(c->b, (uint64_t)id, name, strlen(name), width, height, c->err);
}

static bool is_array_of(const struct json_value *v, size_t n)
{
    return json_read_kind(v) == JSON_KIND_ARRAY && json_read_count(v) == n;
}

/* Three values of each keypoint, px; an object without them has none that is labelled. */
static enum imrec_status
take_points(struct coco *c, const struct json_value *o, struct box_object *to)
{
    const struct json_value *points = json_read_member(o, "keypoints");
    const size_t n = 3 * (size_t)c->b->keypoints;
    float v[3];
    bool good = points == NULL || is_array_of(points, n);
    to->points = SIZE_MAX;
    for (size_t i = 0; good && points != NULL && i < n; i++) {
        size_t at;
        double number = 0;
        good = json_read_number(json_read_element(points, i), &number) &&
               (i % 3 == 2 ? number >= 0 && number <= 2 : number > -1e6 && number < 1e6);
        v[i % 3] = (float)number;
        if (good && i % 3 == 2) {
            IMREC_TRY(annotations_add_points(c->b, v, 3, &at, c->err));
            to->points = i == 2 ? at : to->points;
        }
    }
    return good ? IMREC_OK
                : imrec_error_at(c->err, IMREC_ERR_CORRUPT, c->at,
                                 "%s byte %zu: keypoints of an annotation must be %zu numbers, x, "
                                 "y and visibility (0 to 2) of each",
                                 c->b->name, c->at, n);
}

static enum imrec_status take_annotation(struct coco *c, const struct json_value *o)
{
    const struct json_value *box = json_read_member(o, "bbox");
    int64_t image, crowd = 0;
    struct box_object to = {.difficult = whole(o, "iscrowd", &crowd) && crowd != 0,
                            .points = SIZE_MAX};
    double v[4];
    bool good = whole(o, "image_id", &image) && image >= 0 &&
                whole(o, "category_id", &to.category) && is_array_of(box, 4);
    for (size_t i = 0; good && i < 4; i++)
        good = json_read_number(json_read_element(box, i), &v[i]);
    if (!good)
        return wrong(c, "an annotation needs image_id, category_id and a bbox of four numbers");
    to.image = (uint64_t)image;
    if (c->b->keypoints != 0)
        IMREC_TRY(take_points(c, o, &to));
    memcpy(to.corners, (double[]){v[0], v[1], v[0] + v[2], v[1] + v[3]}, sizeof(to.corners));
    return annotations_add_object(c->b, &to, c->err);
}

static enum imrec_status take_category(struct coco *c, const struct json_value *o)
{
    const char *name = json_read_text(json_read_member(o, "name"));
    int64_t id;
    if (!whole(o, "id", &id) || name == NULL)
        return wrong(c, "a category needs id and name");
    return annotations_add_category(c->b, id, name, strlen(name), c->err);
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef enum imrec_status take_fn(struct coco *c, const struct json_value *o);

static enum imrec_status take_array(struct coco *c, take_fn *take)
{
    if (!take_byte(c, '['))
        return wrong(c, "images, annotations and categories must be arrays");
    if (take_byte(c, ']'))
        return IMREC_OK;
    do {
        struct json_value *o;
        IMREC_TRY(take_value(c, &o));
        const enum imrec_status st =
            json_read_kind(o) == JSON_KIND_OBJECT ? take(c, o) : wrong(c, "no object before it");
        json_read_free(o);
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

/* "key": and what takes its value; NULL: it is passed over. */
static enum imrec_status take_key(struct coco *c, take_fn **take)
{
    struct json_value *key;
    if (take_value(c, &key) == IMREC_ERR_NO_MEMORY)
        return IMREC_ERR_NO_MEMORY;
    const char *name = json_read_text(key);
    const bool named = name != NULL;
    *take = named ? taker_of(name) : NULL;
    json_read_free(key);
    return named && take_byte(c, ':') ? IMREC_OK : wrong(c, "expected \"key\": value");
}

static enum imrec_status take_member(struct coco *c, unsigned *seen)
{
    take_fn *take;
    IMREC_TRY(take_key(c, &take));
    if (take == NULL) {
        struct json_value *ignored;
        IMREC_TRY(take_value(c, &ignored));
        json_read_free(ignored);
        return IMREC_OK;
    }
    const unsigned bit = take == take_image ? 1 : take == take_annotation ? 2 : 4;
    if (*seen & bit)
        return wrong(c, "images, annotations or categories are there twice");
    *seen |= bit;
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
        return wrong(c, "more text after the object");
    return seen == 7 ? IMREC_OK : wrong(c, "images, annotations or categories are missing");
}

enum imrec_status annotations_read_coco(const char *path, uint32_t keypoints,
                                        struct annotations *out, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    *out = (struct annotations){.name = path, .keypoints = keypoints};
    IMREC_TRY(source_load(path, FILE_MAX_BYTES, &text, &n, err));
    struct coco c = {.b = out, .text = (const char *)text, .n = n, .err = err};
    const enum imrec_status st = take_file(&c);
    imrec_free(text);
    if (st != IMREC_OK)
        annotations_free(out);
    return st;
}
