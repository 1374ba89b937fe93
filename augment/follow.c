#include "augment/follow.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { POINT = 3, X = 0, Y = 1, SEEN = 2 };

/* Coordinates this far outside are no shares of a side. */
#define FARTHEST 10.0f

/* ---- checking ------------------------------------------------------------------------------- */

static enum imrec_status
check_points(const struct recipe *r, const float *points, struct imrec_error *err)
{
    static const char *const names[POINT] = {"x", "y", "visibility"};
    for (uint32_t i = 0; i < r->keypoints * POINT; i++) {
        const float v = points[i];
        if (!isfinite(v))
            return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                                  "%s of keypoint %u is %g; a finite number is right",
                                  names[i % POINT], i / POINT, (double)v);
        if (fabsf(v) > FARTHEST)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                                  i % POINT == SEEN
                                      ? "%s of keypoint %u is %g; it is 0 (not labelled), 1 "
                                        "(hidden) or 2 (visible)"
                                      : "%s of keypoint %u is %g; coordinates are shares of the "
                                        "image's sides, from 0 to 1, not px",
                                  names[i % POINT], i / POINT, (double)v);
    }
    return IMREC_OK;
}

enum imrec_status follow_check_points(const struct recipe *r, const float *values, uint32_t n,
                                      struct imrec_error *err)
{
    if (n / POINT < r->keypoints)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                              "the label has %u values, which is no room for %u keypoints of x, y, "
                              "visibility",
                              n, r->keypoints);
    return check_points(r, values + n - (size_t)r->keypoints * POINT, err);
}

/* Those of an object are its last values. */
static float *points_of(const struct recipe *r, const struct det_label *l, uint32_t i)
{
    return l->values + l->header + (size_t)(i + 1) * l->object - (size_t)r->keypoints * POINT;
}

enum imrec_status
follow_check_label(const struct recipe *r, const struct det_label *l, struct imrec_error *err)
{
    const uint32_t n = det_label_count(l);
    if (r->keypoints == 0 || n == 0)
        return IMREC_OK;
    if (l->object < 5 || (l->object - 5) / POINT < r->keypoints)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                              "objects have %u values, which is no room for class, box and %u "
                              "keypoints of x, y, visibility",
                              l->object, r->keypoints);
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(check_points(r, points_of(r, l, i), err));
    return IMREC_OK;
}

/* ---- moving --------------------------------------------------------------------------------- */

static void move_point(const struct follow *f, float *point)
{
    const struct path *p = &f->path;
    if (point[SEEN] == 0) /* not labelled: no place to move */
        return;
    double x = (double)point[X] * p->from_width - 0.5, y = (double)point[Y] * p->from_height - 0.5;
    if (point[SEEN] > 0 && !path_shows(p, x, y))
        point[SEEN] = -point[SEEN];
    path_point(p, &x, &y);
    point[X] = (float)((x + 0.5) / f->columns);
    point[Y] = (float)((y + 0.5) / f->rows);
}

static void move_points(const struct follow *f, float *points)
{
    for (uint32_t i = 0; i < f->recipe->keypoints; i++)
        move_point(f, points + (size_t)i * POINT);
}

static bool stays(const struct recipe *r, const struct path *p, const double box[4], double seen)
{
    const double x = (box[0] + box[2]) / 2 - 0.5, y = (box[1] + box[3]) / 2 - 0.5;
    if (r->o->crop_emit_mode == IMREC_EMIT_OVERLAP)
        return seen > (double)r->o->emit_overlap_thresh;
    return path_shows(p, x, y);
}

/* Moves the box of an object; false: nothing of it is left, or too little. */
static bool move_box(const struct follow *f, float *object)
{
    const struct path *p = &f->path;
    const double w = p->from_width, h = p->from_height;
    const double from[4] = {(double)object[1] * w, (double)object[2] * h, (double)object[3] * w,
                            (double)object[4] * h};
    double to[4];
    const double seen = path_rectangle(p, from, to);
    if (!(seen > 0) || !stays(f->recipe, p, from, seen))
        return false;
    for (int i = 0; i < 4; i++)
        object[1 + i] = (float)(to[i] / (i % 2 == 0 ? f->columns : f->rows));
    return object[3] > object[1] && object[4] > object[2];
}

static void move_boxes(struct follow *f)
{
    struct det_label *l = f->label;
    const uint32_t count = det_label_count(l);
    float *to = l->values + l->header;
    for (uint32_t i = 0; i < count; i++) {
        float *object = l->values + l->header + (size_t)i * l->object;
        if (!move_box(f, object))
            continue;
        memmove(to, object, l->object * sizeof(*to));
        to += l->object;
    }
    l->n = (uint32_t)(to - l->values);
}

static void move_labels(struct follow *f)
{
    const struct recipe *r = f->recipe;
    if (f->label != NULL && !r->det.on)
        move_boxes(f);
    for (uint32_t i = 0; f->label != NULL && r->keypoints != 0 && i < det_label_count(f->label);
         i++)
        move_points(f, points_of(r, f->label, i));
    if (f->values != NULL)
        move_points(f, f->values + f->value_count - (size_t)r->keypoints * POINT);
}

/* Left and right eyes change places. */
static void swap_pairs(const struct recipe *r, float *points)
{
    for (uint32_t i = 0; i < r->pair_count; i++) {
        float keep[POINT], *a = points + (size_t)r->pairs[i][0] * POINT;
        float *b = points + (size_t)r->pairs[i][1] * POINT;
        memcpy(keep, a, sizeof(keep));
        memcpy(a, b, sizeof(keep));
        memcpy(b, keep, sizeof(keep));
    }
}

void follow_finish(struct follow *f, bool mirror)
{
    const struct recipe *r = f->recipe;
    if (mirror)
        path_add_mirror(&f->path);
    move_labels(f);
    if (!mirror || r->pair_count == 0)
        return;
    for (uint32_t i = 0; f->label != NULL && i < det_label_count(f->label); i++)
        swap_pairs(r, points_of(r, f->label, i));
    if (f->values != NULL)
        swap_pairs(r, f->values + f->value_count - (size_t)r->keypoints * POINT);
}

/* ---- masks ---------------------------------------------------------------------------------- */

static struct path_mask mask_way(const struct follow *f)
{
    return (struct path_mask){&f->path, f->mask, f->orientation,
                              (uint16_t)f->recipe->o->ignore_label};
}

static bool store_row(enum imrec_mask_type type, const uint16_t *row, uint32_t n, uint8_t *out)
{
    uint16_t all = 0;
    if (type == IMREC_MASK_UINT16) {
        memcpy(out, row, (size_t)n * sizeof(*row));
        return true;
    }
    for (uint32_t x = 0; x < n; x++) {
        const int32_t wide = row[x];
        all |= row[x];
        if (type == IMREC_MASK_UINT8)
            out[x] = (uint8_t)row[x];
        else
            memcpy(out + (size_t)x * sizeof(wide), &wide, sizeof(wide));
    }
    return type != IMREC_MASK_UINT8 || all <= UINT8_MAX;
}

enum { SPAN = 256 }; /* px at once */

static enum imrec_status too_large(const uint16_t *row, uint32_t n, struct imrec_error *err)
{
    uint32_t x = 0;
    while (x + 1 < n && row[x] <= UINT8_MAX)
        x++;
    return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                          "the mask has the value %u, which is no uint8: masks=uint16 and "
                          "masks=int32 deliver it",
                          row[x]);
}

enum imrec_status follow_write_mask(const struct follow *f, void *slot, struct imrec_error *err)
{
    const enum imrec_mask_type type = f->recipe->o->masks;
    const struct path_mask way = mask_way(f);
    const size_t size = mask_type_size(type);
    const uint32_t width = f->path.width;
    uint16_t span[SPAN];
    uint8_t *out = slot;
    for (uint32_t y = 0; y < f->path.height; y++)
        for (uint32_t x = 0; x < width; x += SPAN) {
            const uint32_t n = width - x < SPAN ? width - x : SPAN;
            path_mask_row(&way, x, y, n, span);
            if (!store_row(type, span, n, out))
                return too_large(span, n, err);
            out += n * size;
        }
    return IMREC_OK;
}

static enum imrec_status move_mask(struct follow *f, struct imrec_error *err)
{
    const struct path_mask way = mask_way(f);
    struct mask *to = &f->moved[f->mask == &f->moved[0]];
    IMREC_TRY(mask_resize_buffer(to, f->path.width, f->path.height, err));
    to->bits = f->mask->bits;
    for (uint32_t y = 0; y < to->height; y++)
        path_mask_row(&way, 0, y, to->width, to->values + (size_t)y * to->width);
    f->mask = to;
    f->orientation = 1;
    return IMREC_OK;
}

uint64_t follow_bytes(const struct recipe *r)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const bool moves = r->o->masks != IMREC_MASK_NONE && r->own_count != 0;
    return moves ? 2 * sizeof(uint16_t) * (uint64_t)s->width * s->height : 0;
}

/* ---- augmenters of the user's ---------------------------------------------------------------- */

enum imrec_status
follow_show(struct follow *f, struct imrec_augmenter_call *call, struct imrec_error *err)
{
    if (f->mask != NULL) {
        IMREC_TRY(move_mask(f, err));
        call->mask = f->moved[f->mask == &f->moved[1]].values;
        call->mask_bits = f->mask->bits;
    }
    move_labels(f);
    path_begin(&f->path, f->path.width, f->path.height);
    call->keypoints = f->recipe->keypoints;
    if (f->label == NULL)
        return IMREC_OK;
    call->boxes = true;
    call->labels = f->label->values;
    call->label_count = f->label->n;
    return IMREC_OK;
}

enum imrec_status
follow_take_back(struct follow *f, const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)call;
    if (f->label != NULL) {
        IMREC_TRY(det_label_read(f->label, f->label->values, f->label->n, err));
        return follow_check_label(f->recipe, f->label, err);
    }
    return f->values != NULL ? follow_check_points(f->recipe, f->values, f->value_count, err)
                             : IMREC_OK;
}
