/* tests/support/warp_model.h - OpenCV 3.4's warpAffine as formulas, one value at a time: slow, and
 * written without looking at ours. */
#ifndef IMREC_TESTS_WARP_MODEL_H
#define IMREC_TESTS_WARP_MODEL_H

#include "tests/support/resize_model.h"

struct warp_model {
    const uint8_t *src; /* dense */
    int w, h, c, method;
    float m[6];
    uint8_t fill[4];
    float tilt[2];
};

/* One-dimensional weights, not rounded, for n/32. */
static inline void warp_model_weights(int n, int i, float *w)
{
    const float f = (float)i / 32;
    if (n == 2) {
        w[0] = 1 - f, w[1] = f;
        return;
    }
    model_float_weights(n, f, w);
}

/* The weight of tap (x, y) of n x n. */
static inline int warp_model_weight(int n, int u, int v, int x, int y)
{
    float wx[8], wy[8];
    int w[8][8], sum = 0;
    warp_model_weights(n, u, wx);
    warp_model_weights(n, v, wy);
    if (n == 2)
        return (int)(wx[x] * wy[y] * 32768);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const float product = wy[j] * wx[i];
            w[j][i] = (int)fmin(rintf(product * 32768), 32767);
            sum += w[j][i];
        }
    int lo[2] = {n / 2, n / 2}, hi[2] = {n / 2, n / 2};
    for (int j = n / 2; j <= n / 2 + 1; j++)
        for (int i = n / 2; i <= n / 2 + 1; i++)
            if (w[j][i] < w[lo[0]][lo[1]])
                lo[0] = j, lo[1] = i;
            else if (w[j][i] > w[hi[0]][hi[1]])
                hi[0] = j, hi[1] = i;
    if (sum < 32768)
        w[hi[0]][hi[1]] += 32768 - sum;
    else
        w[lo[0]][lo[1]] -= sum - 32768;
    return w[y][x];
}

static inline int warp_model_tap(const struct warp_model *m, long x, long y, int c)
{
    if (x < 0 || y < 0 || x >= m->w || y >= m->h)
        return m->fill[c];
    return m->src[(y * m->w + x) * m->c + c];
}

/* Where a pixel of a tilted warp comes from, by Cramer's rule; false: from beyond the horizon. */
static inline int
warp_model_tilted(const struct warp_model *m, double X, double Y, double *x, double *y)
{
    const double a = m->m[0] - (double)m->tilt[0] * X, b = m->m[1] - (double)m->tilt[1] * X;
    const double d = m->m[3] - (double)m->tilt[0] * Y, e = m->m[4] - (double)m->tilt[1] * Y;
    const double k = X - m->m[2], g = Y - m->m[5], D = a * e - b * d;
    *x = (k * e - b * g) / D;
    *y = (a * g - k * d) / D;
    return m->tilt[0] * *x + m->tilt[1] * *y + 1 > 0;
}

/* So near to the middle between two places of 1/1024 px that another order of sums may round it to
 * the other one. */
static inline int warp_model_is_close(const struct warp_model *m, int X, int Y)
{
    double x, y;
    if (m->tilt[0] == 0 && m->tilt[1] == 0)
        return 0;
    (void)warp_model_tilted(m, X, Y, &x, &y);
    x = x * 1024 - floor(x * 1024), y = y * 1024 - floor(y * 1024);
    return fabs(x - 0.5) < 1e-4 || fabs(y - 0.5) < 1e-4 || !isfinite(x) || !isfinite(y);
}

static inline uint8_t warp_model_value(const struct warp_model *m, int X, int Y, int c)
{
    const double m0 = m->m[0], m1 = m->m[1], m2 = m->m[2], m3 = m->m[3], m4 = m->m[4], m5 = m->m[5];
    const double det = m0 * m4 - m1 * m3, D = det != 0 ? 1 / det : 0;
    const double a = m4 * D, b = -m1 * D, d = -m3 * D, e = m0 * D;
    const double k = -a * m2 - b * m5, g = -d * m2 - e * m5;
    const int r = m->method == 0 ? 512 : 16;
    long U = lrint((b * Y + k) * 1024) + r + lrint(a * X * 1024);
    long V = lrint((e * Y + g) * 1024) + r + lrint(d * X * 1024);
    if (m->tilt[0] != 0 || m->tilt[1] != 0) {
        double x, y;
        if (!warp_model_tilted(m, X, Y, &x, &y) || fabs(x) > 5e5 || fabs(y) > 5e5)
            return m->fill[c];
        U = lrint(x * 1024) + r;
        V = lrint(y * 1024) + r;
    }
    if (m->method == 0)
        return (uint8_t)warp_model_tap(m, U >> 10, V >> 10, c);
    const int n = m->method == 2 ? 4 : m->method == 4 ? 8 : 2;
    const int u = (U >> 5) & 31, v = (V >> 5) & 31;
    long sum = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            sum += (long)warp_model_weight(n, u, v, i, j) *
                   warp_model_tap(m, (U >> 10) + i + 1 - n / 2, (V >> 10) + j + 1 - n / 2, c);
    return model_sat((double)((sum + (1 << 14)) >> 15));
}
#endif
