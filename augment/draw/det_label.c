/* augment/draw/det_label.c - reading and moving the boxes of an image. */
#include "augment/draw/det_label.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { CLASS, XMIN, YMIN, XMAX, YMAX, OBJECT_LEAST };

/* Rounding makes coordinates leave the image by a little; this far they are no shares at all. */
#define FARTHEST 1.0

static const struct det_box whole = {0, 0, 1, 1};

double det_box_area(struct det_box b)
{
    return b.right > b.left && b.bottom > b.top ? (b.right - b.left) * (b.bottom - b.top) : 0;
}

double det_box_shared_area(struct det_box a, struct det_box b)
{
    const struct det_box both = {fmax(a.left, b.left), fmax(a.top, b.top), fmin(a.right, b.right),
                                 fmin(a.bottom, b.bottom)};
    return det_box_area(both);
}

struct det_box det_label_box(const struct det_label *l, uint32_t i)
{
    const float *o = l->values + l->header + (size_t)i * l->object;
    return (struct det_box){(double)o[XMIN], (double)o[YMIN], (double)o[XMAX], (double)o[YMAX]};
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status read_width(const float *values, uint32_t n, uint32_t at, uint32_t least,
                                    const char *name, uint32_t *out, struct imrec_error *err)
{
    const float v = values[at];
    if (v >= (float)least && v <= (float)n && v == floorf(v)) { /* false for NaN */
        *out = (uint32_t)v;
        return IMREC_OK;
    }
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "label value %u (%s) is %g; a whole number from %u to %u, the length of "
                      "the label, is right",
                      at, name, (double)v, least, n);
}

static enum imrec_status
check_object(const struct det_label *l, uint32_t i, struct imrec_error *err)
{
    static const char *const names[] = {"class", "xmin", "ymin", "xmax", "ymax"};
    const float *o = l->values + l->header + (size_t)i * l->object;
    for (int k = CLASS; k < OBJECT_LEAST; k++) {
        const double v = (double)o[k];
        if (!isfinite(v))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s of object %u is %g; a finite number is right", names[k], i, v);
        if (k != CLASS && (v < -FARTHEST || v > 1 + FARTHEST))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s of object %u is %g; coordinates are shares of the image's "
                              "sides, from 0 to 1, not px",
                              names[k], i, v);
    }
    return IMREC_OK;
}

enum imrec_status det_label_read_numbered(struct det_label *l, float *values, uint32_t n,
                                          uint32_t *numbers, struct imrec_error *err)
{
    *l = (struct det_label){.values = values, .n = n, .numbers = numbers};
    if (n < 2)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the label has %u value; with boxes it begins with the widths of "
                          "header and object",
                          n);
    IMREC_TRY(read_width(values, n, 0, 2, "header width", &l->header, err));
    const bool none = l->header == n; /* no object says how wide it is */
    if (!none || values[1] != 0)
        IMREC_TRY(read_width(values, none ? 1 << 20 : n, 1, OBJECT_LEAST, "object width",
                             &l->object, err));
    l->object = l->object != 0 ? l->object : OBJECT_LEAST;
    if ((n - l->header) % l->object != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the label has %u values, which are not a header of %u and whole "
                          "objects of %u",
                          n, l->header, l->object);
    for (uint32_t i = 0; i < det_label_count(l); i++)
        IMREC_TRY(check_object(l, i, err));
    det_label_project(l, whole, NULL);
    return IMREC_OK;
}

enum imrec_status
det_label_read(struct det_label *l, float *values, uint32_t n, struct imrec_error *err)
{
    return det_label_read_numbered(l, values, n, NULL, err);
}

/* ---- moving ------------------------------------------------------------------------------- */

float *det_label_keep(struct det_label *l, uint32_t i, float *to)
{
    const float *object = l->values + l->header + (size_t)i * l->object;
    if (l->numbers != NULL)
        l->numbers[(size_t)(to - l->values - l->header) / l->object] = l->numbers[i];
    memmove(to, object, l->object * sizeof(*to));
    return to + l->object;
}

enum imrec_status
det_label_append(struct det_label *l, const struct det_label *from, struct imrec_error *err)
{
    const uint32_t count = det_label_count(from), at = det_label_count(l);
    if (count == 0)
        return IMREC_OK;
    if (at != 0 && l->object != from->object)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "objects of %u values and objects of %u cannot be in one label: all "
                          "objects of a set must have the same number",
                          l->object, from->object);
    l->object = from->object;
    l->values[1] = (float)from->object;
    memcpy(l->values + l->n, from->values + from->header,
           (size_t)count * from->object * sizeof(float));
    if (l->numbers != NULL)
        memcpy(l->numbers + at, from->numbers, count * sizeof(*l->numbers));
    l->n += count * from->object;
    return IMREC_OK;
}

static float share(double v, double begin, double end)
{
    const double at = (v - begin) / (end - begin);
    return (float)(at < 0 ? 0 : at < 1 ? at : 1);
}

void det_label_project(struct det_label *l, struct det_box region, const bool *keep)
{
    const uint32_t count = det_label_count(l);
    float *to = l->values + l->header;
    for (uint32_t i = 0; i < count; i++) {
        const struct det_box b = det_label_box(l, i);
        float moved[OBJECT_LEAST];
        moved[XMIN] = share(b.left, region.left, region.right);
        moved[XMAX] = share(b.right, region.left, region.right);
        moved[YMIN] = share(b.top, region.top, region.bottom);
        moved[YMAX] = share(b.bottom, region.top, region.bottom);
        const bool area = moved[XMAX] > moved[XMIN] && moved[YMAX] > moved[YMIN];
        if (!area || (keep != NULL && !keep[i]))
            continue;
        float *const kept = to;
        to = det_label_keep(l, i, kept);
        memcpy(kept + XMIN, moved + XMIN, 4 * sizeof(*to));
    }
    l->n = (uint32_t)(to - l->values);
}

/* Moves the box of an object; false: nothing of it is left, or too little. */
static bool follow(const struct det_way *way, float *object)
{
    const double w = way->path->from_width, h = way->path->from_height;
    const double from[4] = {(double)object[XMIN] * w, (double)object[YMIN] * h,
                            (double)object[XMAX] * w, (double)object[YMAX] * h};
    double to[4];
    const double seen = path_rectangle(way->path, from, to);
    if (!(seen > 0) || !way->stays(way->context, from, to, seen))
        return false;
    for (int i = 0; i < 4; i++)
        object[XMIN + i] = (float)(to[i] / (i % 2 == 0 ? way->columns : way->rows));
    return object[XMAX] > object[XMIN] && object[YMAX] > object[YMIN];
}

void det_label_follow(struct det_label *l, const struct det_way *way)
{
    const uint32_t count = det_label_count(l);
    float *to = l->values + l->header;
    for (uint32_t i = 0; i < count; i++) {
        if (follow(way, l->values + l->header + (size_t)i * l->object))
            to = det_label_keep(l, i, to);
    }
    l->n = (uint32_t)(to - l->values);
}

static void turn(struct det_label *l, int low, int high)
{
    for (uint32_t i = 0; i < det_label_count(l); i++) {
        float *o = l->values + l->header + (size_t)i * l->object;
        const float first = o[low];
        o[low] = 1 - o[high];
        o[high] = 1 - first;
    }
    det_label_project(l, whole, NULL); /* at 0 there are narrower boxes than at 1 */
}

void det_label_mirror(struct det_label *l)
{
    turn(l, XMIN, XMAX);
}

void det_label_flip(struct det_label *l)
{
    turn(l, YMIN, YMAX);
}
