/* augment/geometry/path.h - where the pixels of an upright image go: all geometry between it and
 * the slot, as one projective map, and the edges beyond which a step had no pixels.
 *
 * Places are those of pixels' middles: (0, 0) is the middle of the first pixel. A map is nine
 * numbers, row by row: x' = (m0 x + m1 y + m2) / z, y' = (m3 x + m4 y + m5) / z with
 * z = m6 x + m7 y + m8, which is above 0 on the whole source. Without a perspective z is 1. */
#ifndef IMREC_AUGMENT_GEOMETRY_PATH_H
#define IMREC_AUGMENT_GEOMETRY_PATH_H

#include "base/mask.h"

enum { PATH_EDGES = 12 }; /* warp, two canvases, four operations; and again after a user's */

struct path_edge { /* outside of this image on the way nothing came from the source */
    double m[9];   /* source to there */
    uint32_t width, height;
};

struct path {
    double m[9];                                     /* source to result */
    uint32_t from_width, from_height, width, height; /* px */
    uint32_t edge_count;
    struct path_edge edges[PATH_EDGES];
};

void path_begin(struct path *p, uint32_t width, uint32_t height); /* the source is the result */
/* Adds a step after those so far, to a result of width x height px. */
void path_add(struct path *p, const double m[6], uint32_t width, uint32_t height);
void path_add_map(struct path *p, const double m[9], uint32_t width, uint32_t height);
void path_add_resize(struct path *p, uint32_t width, uint32_t height);
void path_add_shift(struct path *p, double x, double y, uint32_t width, uint32_t height);
void path_add_mirror(struct path *p); /* left-right */
void path_add_flip(struct path *p);   /* top-bottom */
/* The result so far is stored, its EXIF orientation turns it upright. */
void path_add_orientation(struct path *p, uint32_t orientation);
/* All of `next`, whose source is the result so far. */
void path_join(struct path *p, const struct path *next);
/* The area that the next step shows around the result so far has no pixels of the source. */
void path_add_edge(struct path *p);

void path_point(const struct path *p, double *x, double *y);
/* A place of the source is in the result, and was in everything on the way. */
bool path_shows(const struct path *p, double x, double y);

/* What is seen of a rectangle of the source, and the rectangle around it in the result; corners,
 * not middles: edges of an image of w px are 0 and w. Returns the share of it that is seen. */
double path_rectangle(const struct path *p, const double from[4], double to[4]);

/* ---- masks -------------------------------------------------------------------------------- */

/* The value nearest to each place of the result, and `nothing` where none is: n of row y, from
 * column x on. `orientation`: `from` is stored so, and the path's source is it upright. */
struct path_mask {
    const struct path *path;
    const struct mask *from;
    uint32_t orientation;
    uint16_t nothing;
};
void path_mask_row(const struct path_mask *m, uint32_t x, uint32_t y, uint32_t n, uint16_t *out);
#endif
