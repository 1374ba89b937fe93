/* augment/draw/det_label.h - boxes of an image, in MXNet's layout:
 *     header width A (>= 2), object width B (>= 5), A - 2 numbers more,
 *     objects of B numbers: class, xmin, ymin, xmax, ymax, B - 5 numbers more
 * Coordinates are shares of the image's sides. docs/guide/detection.md says what is kept. */
#ifndef IMREC_AUGMENT_DRAW_DET_LABEL_H
#define IMREC_AUGMENT_DRAW_DET_LABEL_H

#include "augment/geometry/path.h"
#include "imrec/error.h"

struct det_label {
    float *values; /* n of them, the caller's; changed in place, never more */
    uint32_t n, header, object;
    uint32_t *numbers; /* of each object in its instance mask, ascending; NULL: there is none */
};

struct det_box { /* shares of the image's sides */
    double left, top, right, bottom;
};

/* Checks the label in values[0..n), cuts boxes off at the image's edges and drops those without
 * area. IMREC_ERR_CORRUPT names field and value. */
IMREC_NODISCARD enum imrec_status
det_label_read(struct det_label *l, float *values, uint32_t n, struct imrec_error *err);
/* The same, and numbers[i] stays with object i: n / 5 of them. */
IMREC_NODISCARD enum imrec_status det_label_read_numbered(struct det_label *l, float *values,
                                                          uint32_t n, uint32_t *numbers,
                                                          struct imrec_error *err);

static inline uint32_t det_label_count(const struct det_label *l)
{
    return (l->n - l->header) / l->object;
}
struct det_box det_label_box(const struct det_label *l, uint32_t i);

double det_box_area(struct det_box b);
double det_box_shared_area(struct det_box a, struct det_box b);
static inline bool det_box_contains_centre(struct det_box region, struct det_box b)
{
    const double x = (b.left + b.right) / 2, y = (b.top + b.bottom) / 2;
    return x >= region.left && x < region.right && y >= region.top && y < region.bottom;
}

/* Object i is kept, as the one at `to`, which is i's place or an earlier one: the place of the next
 * one. */
float *det_label_keep(struct det_label *l, uint32_t i, float *to);

/* All objects of `from`, with their numbers, after those of l, whose values have room for them; the
 * header stays. Objects of another width are IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status
det_label_append(struct det_label *l, const struct det_label *from, struct imrec_error *err);

/* `region`, which may reach over the image's edges, becomes the image: boxes are cut off at
 * its edges; those of which keep[i] is false, or nothing is left, are dropped. keep NULL: all. */
void det_label_project(struct det_label *l, struct det_box region, const bool *keep);
/* The way of an image's boxes to an image of columns x rows px. */
struct det_way {
    const struct path *path;
    uint32_t columns, rows;
    const void *context;
    /* Whether a box stays, of which that share is seen; edges in px of either image. */
    bool (*stays)(const void *context, const double from[4], const double to[4], double seen);
};
/* Boxes become those around what is seen of them; those of which nothing is seen are dropped. */
void det_label_follow(struct det_label *l, const struct det_way *way);
void det_label_mirror(struct det_label *l); /* left-right */
void det_label_flip(struct det_label *l);   /* top-bottom */
#endif
