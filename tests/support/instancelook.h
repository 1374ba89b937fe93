/* tests/support/instancelook.h - batches of images of maskset.h with mask_kind=instance: its
 * objects 1 to 3 have these classes, and its dots are values of nobody. */
#ifndef IMREC_TESTS_INSTANCELOOK_H
#define IMREC_TESTS_INSTANCELOOK_H

#include "tests/support/masklook.h"

struct numbered { /* pixels of a number */
    double x0, y0, x1, y1;
    uint32_t n;
};

static inline struct numbered bounds_of(struct view *v, uint32_t number)
{
    struct numbered p = {SIDE, SIDE, 0, 0, 0};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (v->mask[y][x] == number) {
                p.x0 = fmin(p.x0, x), p.y0 = fmin(p.y0, y);
                p.x1 = fmax(p.x1, x + 1), p.y1 = fmax(p.y1, y + 1);
                p.n++;
            }
    return p;
}

static inline uint32_t class_of_number(const struct imrec_detections *d, uint32_t number)
{
    return (uint32_t)d->objects[(size_t)(number - 1) * d->object_width];
}

/* Somewhere around are the pixels of an object of that class, or of one that is gone. */
static inline bool
class_is_near(struct view *v, const struct imrec_detections *d, int x, int y, uint32_t class)
{
    bool is = near(v->mask, x, y, MASK_IGNORE, MASK_IGNORE);
    for (uint32_t k = 1; !is && k <= d->count; k++)
        is = class_of_number(d, k) == class && near(v->mask, x, y, (uint8_t)k, (uint8_t)k);
    return is;
}

/* Every value is the background, an object of the label, or nobody's; and what the image shows is
 * what the mask says. Returns how many pixels objects have. */
static inline uint32_t
must_show_objects(struct view *v, const struct imrec_detections *d, const char *words)
{
    uint32_t seen = 0;
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            const uint8_t told = v->mask[y][x], found = v->image[y][x];
            MUST(told <= d->count || told == MASK_IGNORE);
            if (found >= 1 && found <= MASK_OBJECTS && !class_is_near(v, d, x, y, found))
                ck_abort_msg("%s: at %d, %d the image shows %u, the mask %u", words, x, y, found,
                             told);
            if (told == 0 || told == MASK_IGNORE)
                continue;
            const uint8_t class = (uint8_t)class_of_number(d, told);
            if (!near(v->image, x, y, class, class + 3) && !near(v->image, x, y, UNKNOWN, UNKNOWN))
                ck_abort_msg("%s: at %d, %d the mask shows %u, the image %u", words, x, y, class,
                             found);
            seen++;
        }
    return seen;
}

/* Boxes are the bounds of their objects' pixels. */
static inline void
must_be_bounded(struct view *v, const struct imrec_detections *d, const char *words)
{
    for (uint32_t k = 0; k < d->count; k++) {
        const float *o = d->objects + (size_t)k * d->object_width;
        const struct numbered p = bounds_of(v, k + 1);
        const double told[4] = {(double)o[1] * d->columns, (double)o[2] * d->rows,
                                (double)o[3] * d->columns, (double)o[4] * d->rows};
        const double found[4] = {p.x0, p.y0, p.x1, p.y1};
        MUST(p.n > 0);
        for (int i = 0; i < 4; i++)
            if (fabs(told[i] - found[i]) > 1e-3)
                ck_abort_msg("%s: object %u, edge %d: told %.3f, found %.3f", words, k, i, told[i],
                             found[i]);
    }
}

struct instances_seen {
    uint32_t slots, pixels, objects, dots;
};

/* A visible keypoint is on its dot, or where that was pasted over. */
static inline void look_at_instances(const struct imrec_batch *b, uint32_t slot, const char *words,
                                     struct instances_seen *seen)
{
    static struct view v;
    const struct imrec_detections d =
        imrec_detections_of(b->labels + (size_t)slot * b->label_width);
    look(b, slot, &v);
    MUST(d.count == b->draws[slot].boxes);
    seen->pixels += must_show_objects(&v, &d, words);
    must_be_bounded(&v, &d, words);
    for (uint32_t k = 0; k < d.count; k++) {
        const float *o = d.objects + (size_t)k * d.object_width;
        const double x = (double)o[5] * d.columns, y = (double)o[6] * d.rows;
        if (o[7] != 2 || x < 1 || y < 1 || x >= SIDE - 1 || y >= SIDE - 1)
            continue;
        const uint8_t dot = (uint8_t)(class_of_number(&d, k + 1) + 3);
        MUST(near(v.image, (int)x, (int)y, dot, UNKNOWN));
        seen->dots++;
    }
    seen->objects += d.count;
    seen->slots++;
}

/* Of a sweep; closes the iterator. */
static inline struct instances_seen look_at_all(struct imrec_iter *it, const char *words)
{
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct instances_seen seen = {0};
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        for (uint32_t slot = 0; slot < b.count; slot++)
            look_at_instances(&b, slot, words, &seen);
    ck_assert_msg(err.status == IMREC_OK, "%s: %s", words, err.message);
    imrec_iter_close(it);
    return seen;
}
#endif
