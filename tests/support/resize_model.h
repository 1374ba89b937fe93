/* tests/support/resize_model.h - OpenCV 3.4's resize as formulas, one value at a time: slow, and
 * written without looking at ours. `src` is w x h pixels of c channels, dense. */
#ifndef IMREC_TESTS_RESIZE_MODEL_H
#define IMREC_TESTS_RESIZE_MODEL_H

#include <math.h>
#include <stdint.h>

struct model {
    const uint8_t *src;
    int w, h, c, W, H;
    int method;
};

static inline double model_step(int to, int from)
{
    const double inverse = (double)to / from;
    return 1 / inverse;
}

static inline int model_clip(int i, int n)
{
    return i < 0 ? 0 : i > n - 1 ? n - 1 : i;
}

static inline uint8_t model_sat(double v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static inline int model_px(const struct model *m, int x, int y, int c)
{
    return m->src[((long)y * m->w + x) * m->c + c];
}

/* Place and fraction of the two taps. */
static inline int model_place(int to, int from, int at, bool area, float *fraction)
{
    const double step = model_step(to, from);
    if (area) {
        const int s = (int)floor(at * step);
        const float f = (float)((at + 1) - (s + 1) * ((double)to / from));
        *fraction = f <= 0 ? 0 : f - floorf(f);
        return s;
    }
    const float f = (float)((at + 0.5) * step - 0.5);
    *fraction = f - floorf(f);
    return (int)floorf(f);
}

static inline uint8_t model_linear(const struct model *m, int X, int Y, int c, bool area)
{
    float fx, fy;
    int sx = model_place(m->W, m->w, X, area, &fx);
    const int sy = model_place(m->H, m->h, Y, area, &fy);
    if (sx < 0)
        sx = 0, fx = 0;
    if (sx >= m->w - 1)
        sx = m->w - 1, fx = 0;
    const int a0 = (int)rintf((1 - fx) * 2048), a1 = (int)rintf(fx * 2048);
    const int b0 = (int)rintf((1 - fy) * 2048), b1 = (int)rintf(fy * 2048);
    int t[2];
    for (int i = 0; i < 2; i++) {
        const int y = model_clip(sy + i, m->h);
        t[i] = model_px(m, sx, y, c) * a0 + model_px(m, model_clip(sx + 1, m->w), y, c) * a1;
    }
    return model_sat((((b0 * (t[0] >> 4)) >> 16) + ((b1 * (t[1] >> 4)) >> 16) + 2) >> 2);
}

/* Taps of one cell: pixel and weight in order; returns how many. */
static inline int model_cell(int to, int from, int at, int *px, float *weight)
{
    const double step = model_step(to, from), p = at * step, q = p + step;
    const double cell = step < from - p ? step : from - p;
    int i = (int)ceil(p), n = 0;
    const int j = (int)floor(q) < from - 1 ? (int)floor(q) : from - 1;
    i = i < j ? i : j;
    if (i - p > 0.001)
        px[n] = i - 1, weight[n++] = (float)((i - p) / cell);
    for (int k = i; k < j; k++)
        px[n] = k, weight[n++] = (float)(1 / cell);
    if (q - j > 0.001) {
        const double part = fmin(fmin(q - j, 1), cell);
        px[n] = j, weight[n++] = (float)(part / cell);
    }
    return n;
}

static inline uint8_t model_area(const struct model *m, int X, int Y, int c)
{
    int px[4096], py[4096];
    float wx[4096], wy[4096], sum = 0;
    const int nx = model_cell(m->W, m->w, X, px, wx), ny = model_cell(m->H, m->h, Y, py, wy);
    for (int k = 0; k < ny; k++) {
        float row = 0;
        for (int i = 0; i < nx; i++) {
            const float part = (float)model_px(m, px[i], py[k], c) * wx[i];
            row = row + part;
        }
        const float part = wy[k] * row;
        sum = k == 0 ? part : sum + part;
    }
    return model_sat(rintf(sum));
}

static inline uint8_t model_whole(const struct model *m, int X, int Y, int c, int kx, int ky)
{
    long sum = 0;
    for (int y = 0; y < ky; y++)
        for (int x = 0; x < kx; x++)
            sum += model_px(m, X * kx + x, Y * ky + y, c);
    if (kx == 2 && ky == 2)
        return (uint8_t)((sum + 2) >> 2);
    const float share = 1.0f / (float)(kx * ky);
    return model_sat(rintf((float)sum * share));
}

static inline bool model_is_whole(double step)
{
    return fabs(step - rint(step)) < 0x1p-52;
}

/* Weights of taps t = 1 - n/2 .. n/2 around a place; n is 4 (cubic) or 8 (Lanczos). */
static inline void model_float_weights(int n, float f, float *c)
{
    float sum = 0;
    if (n == 4) {
        const float A = -0.75f, u = f + 1, v = 1 - f;
        c[0] = ((A * u - 5 * A) * u + 8 * A) * u - 4 * A;
        c[1] = ((A + 2) * f - (A + 3)) * f * f + 1;
        c[2] = ((A + 2) * v - (A + 3)) * v * v + 1;
        c[3] = 1 - c[0] - c[1] - c[2];
    } else {
        static const double pq[8][2] = {{1, 0},  {-1, -1}, {0, 1},  {1, -1},
                                        {-1, 0}, {1, 1},   {0, -1}, {-1, 1}};
        const double y0 = -(double)(f + 3) * (M_PI / 4);
        for (int i = 0; i < 8; i++) {
            const double y = -(double)(f + 3 - (float)i) * (M_PI / 4), r = i % 2 ? sqrt(0.5) : 1;
            const double top = r * (pq[i][0] * sin(y0) + pq[i][1] * cos(y0));
            c[i] = (float)(top / (y * y));
            sum += c[i];
        }
        for (int i = 0; i < 8; i++)
            c[i] *= 1 / sum;
        if (f < 0x1p-23f || f == 1)
            for (int i = 0; i < 8; i++)
                c[i] = i == 3 + (f == 1);
    }
}

/* The same in 11 bits. */
static inline void model_weights(int n, float f, int *w)
{
    float c[8];
    model_float_weights(n, f, c);
    for (int i = 0; i < n; i++)
        w[i] = (int)rintf(c[i] * 2048);
}

static inline uint8_t model_taps(const struct model *m, int X, int Y, int c, int n)
{
    float fx, fy, v = 0;
    int a[8], b[8];
    long sum = 0;
    const int sx = model_place(m->W, m->w, X, false, &fx),
              sy = model_place(m->H, m->h, Y, false, &fy);
    model_weights(n, fx, a);
    model_weights(n, fy, b);
    for (int j = 0; j < n; j++) {
        int T = 0;
        for (int i = 0; i < n; i++)
            T += a[i] * model_px(m, model_clip(sx + i + 1 - n / 2, m->w),
                                 model_clip(sy + j + 1 - n / 2, m->h), c);
        const float part = (float)T * ((float)b[j] * 0x1p-22f);
        v = j == 0 ? part : v + part;
        sum += (long)T * b[j];
    }
    if (n == 4 && X * m->c + c < m->W * m->c / 8 * 8)
        return model_sat(rintf(v));
    return model_sat((double)((sum + (1 << 21)) >> 22));
}

static inline uint8_t model_value(const struct model *m, int X, int Y, int c)
{
    const double sx = model_step(m->W, m->w), sy = model_step(m->H, m->h);
    const bool whole = model_is_whole(sx) && model_is_whole(sy);
    if (m->w == m->W && m->h == m->H)
        return (uint8_t)model_px(m, X, Y, c);
    if (m->method == 0)
        return (uint8_t)model_px(m, (int)fmin(floor(X * sx), m->w - 1),
                                 (int)fmin(floor(Y * sy), m->h - 1), c);
    if (m->method == 2 || m->method == 4)
        return model_taps(m, X, Y, c, 2 * m->method);
    if (whole && rint(sx) == 2 && rint(sy) == 2)
        return model_whole(m, X, Y, c, 2, 2);
    if (m->method == 1)
        return model_linear(m, X, Y, c, false);
    if (sx < 1 || sy < 1)
        return model_linear(m, X, Y, c, true);
    return whole ? model_whole(m, X, Y, c, (int)rint(sx), (int)rint(sy)) : model_area(m, X, Y, c);
}
#endif
