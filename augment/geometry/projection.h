/* augment/geometry/projection.h - projective maps of the plane: nine numbers, row by row.
 *     x' = (m0 x + m1 y + m2) / z, y' = (m3 x + m4 y + m5) / z, z = m6 x + m7 y + m8
 * An affine one ends in 0, 0, 1. */
#ifndef IMREC_AUGMENT_GEOMETRY_PROJECTION_H
#define IMREC_AUGMENT_GEOMETRY_PROJECTION_H

#include <stdbool.h>

/* Nearer to the horizon (z = 0) than this, and beyond it, no place is looked for. */
#define PROJECTION_LEAST 1e-6

static inline bool projection_is_affine(const double m[9])
{
    return m[6] == 0 && m[7] == 0 && m[8] == 1;
}
/* out = b after a; it may be one of them. Of affine maps, what 2 x 3 matrices give. */
void projection_compose(const double a[9], const double b[9], double out[9]);
/* False: there is none. */
bool projection_invert(const double m[9], double out[9]);
/* A place beyond the horizon is taken for one that is far away. */
void projection_apply(const double m[9], double *x, double *y);
#endif
