/* augment/targets.c - masks, boxes and keypoints checked, moved, shown and written. */
#include "augment/targets.h"

#include "augment/geometry/projection.h"
#include "augment/map_slot.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

enum { POINT = 3, X = 0, Y = 1, SEEN = 2 };

/* Coordinates this far outside are no shares of a side. */
#define FARTHEST 10.0f

/* ---- checking ----------------------------------------------------------------------------- */

static enum imrec_status
check_points(const struct recipe *r, const float *points, struct imrec_error *err)
{
    static const char *const names[POINT] = {"x", "y", "visibility"};
    for (uint32_t i = 0; i < r->keypoints * POINT; i++) {
        const float v = points[i];
        if (!isfinite(v))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s of keypoint %u is %g; a finite number is right", names[i % POINT],
                              i / POINT, (double)v);
        if (fabsf(v) > FARTHEST)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              i % POINT == SEEN
                                  ? "%s of keypoint %u is %g; it is 0 (not labelled), 1 "
                                    "(hidden) or 2 (visible)"
                                  : "%s of keypoint %u is %g; coordinates are shares of the "
                                    "image's sides, from 0 to 1, not px",
                              names[i % POINT], i / POINT, (double)v);
    }
    return IMREC_OK;
}

enum imrec_status targets_check_points(const struct recipe *r, const float *values, uint32_t n,
                                       struct imrec_error *err)
{
    if (n / POINT < r->keypoints)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the label has %u values, which is too few for %u keypoints of x, y, "
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
targets_check_label(const struct recipe *r, const struct det_label *l, struct imrec_error *err)
{
    const uint32_t n = det_label_count(l);
    if (r->keypoints == 0 || n == 0)
        return IMREC_OK;
    if (l->object < 5 || (l->object - 5) / POINT < r->keypoints)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "objects have %u values, which is too few for class, box and %u "
                          "keypoints of x, y, visibility",
                          l->object, r->keypoints);
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(check_points(r, points_of(r, l, i), err));
    return IMREC_OK;
}

/* ---- moving ------------------------------------------------------------------------------- */

static void move_point(const struct targets *t, float *point)
{
    const struct path *p = &t->path;
    if (point[SEEN] == 0) /* not labelled: no place to move */
        return;
    double x = (double)point[X] * p->from_width - 0.5, y = (double)point[Y] * p->from_height - 0.5;
    if (point[SEEN] > 0 && !path_shows(p, x, y))
        point[SEEN] = -point[SEEN];
    path_point(p, &x, &y);
    point[X] = (float)((x + 0.5) / t->columns);
    point[Y] = (float)((y + 0.5) / t->rows);
}

static void move_points(const struct targets *t, float *points)
{
    for (uint32_t i = 0; i < t->recipe->keypoints; i++)
        move_point(t, points + (size_t)i * POINT);
}

static bool stays(const void *targets, const double from[4], const double to[4], double seen)
{
    const struct targets *t = targets;
    const struct augment_options *o = t->recipe->o;
    (void)to;
    if (o->crop_emit_mode == IMREC_EMIT_OVERLAP)
        return seen > (double)o->emit_overlap_thresh;
    return path_shows(&t->path, (from[0] + from[2]) / 2 - 0.5, (from[1] + from[3]) / 2 - 0.5);
}

static void move_boxes(struct targets *t)
{
    const struct det_way way = {&t->path, t->columns, t->rows, t, stays};
    det_label_follow(t->label, &way);
}

static void move_labels(struct targets *t)
{
    const struct recipe *r = t->recipe;
    if (t->label != NULL && !r->det.on)
        move_boxes(t);
    for (uint32_t i = 0; t->label != NULL && r->keypoints != 0 && i < det_label_count(t->label);
         i++)
        move_points(t, points_of(r, t->label, i));
    if (t->values != NULL)
        move_points(t, t->values + t->value_count - (size_t)r->keypoints * POINT);
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

/* What a turn by half the circle makes of both has its left eye on its left again. */
void targets_finish(struct targets *t, bool mirror, bool flip)
{
    const struct recipe *r = t->recipe;
    if (mirror)
        path_add_mirror(&t->path);
    if (flip)
        path_add_flip(&t->path);
    move_labels(t);
    if (mirror == flip || r->pair_count == 0)
        return;
    for (uint32_t i = 0; t->label != NULL && i < det_label_count(t->label); i++)
        swap_pairs(r, points_of(r, t->label, i));
    if (t->values != NULL)
        swap_pairs(r, t->values + t->value_count - (size_t)r->keypoints * POINT);
}

/* From middles of pixels to edges: half a pixel there, and back. */
void targets_place(const struct targets *t, uint32_t width, uint32_t height,
                   struct imrec_place *out)
{
    const double to_middles[9] = {1, 0, -0.5, 0, 1, -0.5, 0, 0, 1};
    const double to_edges[9] = {1, 0, 0.5, 0, 1, 0.5, 0, 0, 1};
    double m[9];
    *out = (struct imrec_place){.width = width, .height = height};
    projection_compose(t->before, t->path.m, m);
    if (!projection_invert(m, m)) /* all of it lies on a line */
        return;
    projection_compose(to_middles, m, m);
    projection_compose(m, to_edges, m);
    for (int i = 0; i < 9; i++)
        out->matrix[i] = (float)(m[i] / m[8]);
}

/* ---- masks -------------------------------------------------------------------------------- */

static struct path_mask mask_way(const struct targets *t)
{
    return (struct path_mask){.path = &t->path,
                              .from = t->mask,
                              .orientation = t->orientation,
                              .nothing = (uint16_t)t->recipe->o->ignore_label};
}

static enum imrec_image_type type_of(enum imrec_mask_type t)
{
    return t == IMREC_MASK_UINT8    ? IMREC_IMAGE_UINT8
           : t == IMREC_MASK_UINT16 ? IMREC_IMAGE_UINT16
                                    : IMREC_IMAGE_INT32;
}

enum imrec_status targets_write_mask(const struct targets *t, void *slot, struct imrec_error *err)
{
    const struct path_mask way = mask_way(t);
    uint16_t large = 0;
    if (map_write(&way, type_of(t->recipe->o->masks), slot, &large))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_DATA,
                      "the mask has the value %u, which does not fit uint8: masks=uint16 and "
                      "masks=int32 deliver it",
                      large);
}

static enum imrec_status move_mask(struct targets *t, struct imrec_error *err)
{
    const struct path_mask way = mask_way(t);
    struct mask *to = &t->moved[t->mask == &t->moved[0]];
    IMREC_TRY(mask_resize_buffer(to, t->path.width, t->path.height, err));
    to->bits = t->mask->bits;
    for (uint32_t y = 0; y < to->height; y++)
        path_mask_row(&way, 0, y, to->width, to->values + (size_t)y * to->width);
    t->mask = to;
    t->orientation = 1;
    return IMREC_OK;
}

uint64_t targets_bytes(const struct recipe *r)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const bool moves = r->o->masks != IMREC_MASK_NONE &&
                       (r->augmenter_count != 0 || r->o->mask_kind == IMREC_MASK_INSTANCE);
    return moves ? 2 * sizeof(uint16_t) * (uint64_t)s->width * s->height : 0;
}

/* What was moved is where the path begins from now on. */
static void begin_again(struct targets *t)
{
    projection_compose(t->before, t->path.m, t->before);
    path_begin(&t->path, t->path.width, t->path.height);
}

enum imrec_status targets_bind_objects(struct targets *t, struct imrec_error *err)
{
    const struct augment_options *o = t->recipe->o;
    if (t->label == NULL || t->label->numbers == NULL || t->mask == NULL)
        return IMREC_OK;
    IMREC_TRY(move_mask(t, err));
    begin_again(t);
    const struct mask *m = t->mask;
    if (o->mask_boxes) {
        objects_find(t->objects, m, t->columns, t->rows, t->label);
        objects_bound(t->objects, t->label, t->columns, t->rows, t->min_side);
    }
    objects_renumber(t->objects, t->label, 1, (uint16_t)o->ignore_label, m->values,
                     (size_t)m->width * m->height);
    return IMREC_OK;
}

/* ---- augmenters of the user's ------------------------------------------------------------- */

enum imrec_status
targets_show(struct targets *t, struct imrec_augmenter_call *call, struct imrec_error *err)
{
    if (t->mask != NULL) {
        IMREC_TRY(move_mask(t, err));
        call->mask = t->moved[t->mask == &t->moved[1]].values;
        call->mask_bits = t->mask->bits;
    }
    move_labels(t);
    begin_again(t);
    call->keypoints = t->recipe->keypoints;
    if (t->label == NULL)
        return IMREC_OK;
    call->boxes = true;
    call->labels = t->label->values;
    call->label_count = t->label->n;
    return IMREC_OK;
}

/* Other values would be objects than those that have numbers. */
static bool changes_widths(const struct det_label *l)
{
    return l->values[0] != (float)l->header ||
           (det_label_count(l) != 0 && l->values[1] != (float)l->object);
}

enum imrec_status targets_take_back(struct targets *t, const struct imrec_augmenter_call *call,
                                    struct imrec_error *err)
{
    (void)call;
    struct det_label *l = t->label;
    if (l != NULL) {
        if (l->numbers != NULL && changes_widths(l))
            return imrec_fail(err, IMREC_ERR_DATA,
                              "an augmenter has changed the widths of header or objects: they are "
                              "%u and %u, and with mask_kind=instance stay so",
                              l->header, l->object);
        IMREC_TRY(det_label_read_numbered(l, l->values, l->n, l->numbers, err));
        return targets_check_label(t->recipe, l, err);
    }
    return t->values != NULL ? targets_check_points(t->recipe, t->values, t->value_count, err)
                             : IMREC_OK;
}
