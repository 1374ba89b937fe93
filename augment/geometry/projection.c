/* augment/geometry/projection.c - maps of the plane composed, inverted and applied. */
#include "augment/geometry/projection.h"

#include <math.h>
#include <string.h>

static double row_times(const double row[3], const double m[9], int column)
{
    return row[0] * m[column] + row[1] * m[3 + column] + row[2] * m[6 + column];
}

void projection_compose(const double a[9], const double b[9], double out[9])
{
    double m[9];
    for (int i = 0; i < 9; i++)
        m[i] = row_times(b + i / 3 * 3, a, i % 3);
    memcpy(out, m, sizeof(m));
}

static bool invert_affine(const double m[9], double out[9])
{
    const double k = m[0] * m[4] - m[1] * m[3];
    if (!(fabs(k) > 1e-12))
        return false;
    const double i[9] = {m[4] / k,  -m[1] / k, (m[1] * m[5] - m[4] * m[2]) / k,
                         -m[3] / k, m[0] / k,  (m[3] * m[2] - m[0] * m[5]) / k,
                         0,         0,         1};
    memcpy(out, i, sizeof(i));
    return true;
}

bool projection_invert(const double m[9], double out[9])
{
    if (projection_is_affine(m))
        return invert_affine(m, out);
    const double i[9] = {
        m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
        m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
        m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double k = m[0] * i[0] + m[1] * i[3] + m[2] * i[6];
    if (!(fabs(k) > 1e-12))
        return false;
    for (int n = 0; n < 9; n++)
        out[n] = i[n] / k;
    return true;
}

void projection_apply(const double m[9], double *x, double *y)
{
    const double u = m[0] * *x + m[1] * *y + m[2], v = m[3] * *x + m[4] * *y + m[5];
    const double z = fmax(m[6] * *x + m[7] * *y + m[8], PROJECTION_LEAST);
    *x = u / z;
    *y = v / z;
}
