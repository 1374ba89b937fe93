/* augment/paste.c - copy-paste of objects, one pixel after another. */
#include "augment/paste.h"

#include "augment/draw/mosaic_draw.h"
#include "base/error.h"

#include <string.h>

/* The numbers of what is pasted come after those that are there. */
static bool is_pasted(uint16_t value, uint32_t first, uint32_t count)
{
    return value >= first && value - first < count;
}

/* Counts what is hidden, by the numbers of `to`. */
static void
paste_pixels(const struct paste_job *j, const struct paste_image *from, struct paste_image *to)
{
    const uint32_t first = det_label_count(&to->label) + 1, n = det_label_count(&from->label);
    const size_t channels = j->o->data_shape.channels;
    for (uint32_t y = 0; y < to->rows; y++)
        for (uint32_t x = 0; x < to->columns; x++) {
            const size_t at = (size_t)y * to->mask.width + x;
            const uint16_t value = from->mask.values[at], was = to->mask.values[at];
            if (!is_pasted(value, first, n))
                continue;
            if (was != 0 && was < first)
                j->room->found[was].hidden++;
            to->mask.values[at] = value;
            memcpy(to->pixels + at * channels, from->pixels + at * channels, channels);
        }
}

/* ---- objects that were there -------------------------------------------------------------- */

static bool is_left(const struct paste_job *j, const struct object_pixels *p)
{
    const uint64_t left = p->count - p->hidden;
    return p->hidden == 0 ||
           (left != 0 && (double)left >= (double)j->o->min_box_area * (double)p->count);
}

static void drop_hidden(const struct paste_job *j, struct det_label *l)
{
    const uint32_t count = det_label_count(l);
    float *to = l->values + l->header;
    for (uint32_t i = 0; i < count; i++)
        if (is_left(j, &j->room->found[l->numbers[i]]))
            to = det_label_keep(l, i, to);
    l->n = (uint32_t)(to - l->values);
}

/* Visible ones that something was pasted over are hidden: 2 becomes 1. */
static void hide_keypoints(const struct paste_job *j, const struct paste_image *to, uint32_t first,
                           uint32_t pasted)
{
    const struct det_label *l = &to->label;
    for (uint32_t i = 0; i < det_label_count(l); i++) {
        float *p = l->values + l->header + (size_t)(i + 1) * l->object - (size_t)3 * j->keypoints;
        for (uint32_t k = 0; k < j->keypoints; k++, p += 3) {
            if (!(p[2] == 2 && p[0] >= 0 && p[0] < 1 && p[1] >= 0 && p[1] < 1))
                continue;
            const uint32_t x = (uint32_t)((double)p[0] * to->columns);
            const uint32_t y = (uint32_t)((double)p[1] * to->rows);
            if (is_pasted(to->mask.values[(size_t)y * to->mask.width + x], first, pasted))
                p[2] = 1;
        }
    }
}

/* ---- objects that come -------------------------------------------------------------------- */

/* From shares of one image to shares of the other; what is outside of that is cut off. */
static void move_label(const struct paste_job *j, const struct paste_image *from,
                       const struct paste_image *to, struct det_label *l)
{
    const struct mosaic_draw canvas = {.width = to->columns, .height = to->rows};
    const struct mosaic_place at = {0, 0, from->columns, from->rows};
    const struct det_box whole = {0, 0, 1, 1};
    for (uint32_t i = 0; i < det_label_count(l); i++) {
        float *object = l->values + l->header + (size_t)i * l->object;
        float *p = object + l->object - (size_t)3 * j->keypoints;
        mosaic_move_object(&canvas, &at, j->keypoints, object, l->object);
        for (uint32_t k = 0; k < j->keypoints; k++, p += 3)
            if (p[2] > 0 && !(p[0] >= 0 && p[0] < 1 && p[1] >= 0 && p[1] < 1))
                p[2] = -p[2];
    }
    det_label_project(l, whole, NULL);
}

static enum imrec_status add_objects(const struct paste_job *j, const struct det_label *from,
                                     struct det_label *to, struct imrec_error *err)
{
    const uint64_t values = (uint64_t)to->n + from->n - from->header;
    if (values > j->label_room)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "with %u pasted objects it has a label of %llu values, but "
                          "label_pad_width is %u",
                          det_label_count(from), (unsigned long long)values, j->label_room);
    return det_label_append(to, from, err);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Boxes, numbers and mask of what is seen. */
static void
look_again(const struct paste_job *j, struct paste_image *to, uint32_t first, uint32_t *pasted)
{
    struct det_label *l = &to->label;
    if (j->o->mask_boxes) {
        objects_find(j->room, &to->mask, to->columns, to->rows, l);
        objects_bound(j->room, l, to->columns, to->rows, j->o->min_box_side);
    }
    for (uint32_t i = 0; i < det_label_count(l); i++)
        *pasted += l->numbers[i] >= first;
    objects_renumber(j->room, l, 1, (uint16_t)j->o->ignore_label, to->mask.values,
                     (size_t)to->mask.width * to->mask.height);
}

enum imrec_status paste_objects(const struct paste_job *j, struct paste_image *from,
                                struct paste_image *to, uint32_t *pasted, struct imrec_error *err)
{
    const size_t pixels = (size_t)to->mask.width * to->mask.height;
    const uint16_t ignore = (uint16_t)j->o->ignore_label;
    const uint32_t first = det_label_count(&to->label) + 1, n = det_label_count(&from->label);
    *pasted = 0;
    if (n == 0)
        return IMREC_OK;
    objects_renumber(j->room, &to->label, 1, ignore, to->mask.values, pixels);
    objects_renumber(j->room, &from->label, first, ignore, from->mask.values, pixels);
    IMREC_TRY(objects_check(j->o, &from->label, "with pasted objects it", err));
    objects_find(j->room, &to->mask, to->columns, to->rows, &to->label);
    paste_pixels(j, from, to);
    drop_hidden(j, &to->label);
    hide_keypoints(j, to, first, n);
    move_label(j, from, to, &from->label);
    IMREC_TRY(add_objects(j, &from->label, &to->label, err));
    look_again(j, to, first, pasted);
    return IMREC_OK;
}
