/* augment/geometry/warp_scalar.c - a row of an affine warp: what the others must equal. */
#include "augment/geometry/warp.h"

#include <string.h>

static bool inside(const struct warp_row *r, int32_t x, int32_t y)
{
    return x >= r->x0 && x < r->x1 && y >= r->y0 && y < r->y1;
}

static const uint8_t *at(const struct warp_row *r, int32_t x, int32_t y)
{
    return r->from + (size_t)(y - r->y0) * r->stride + (size_t)(x - r->x0) * r->channels;
}

static void nearest(const struct warp_row *r, int32_t u, int32_t v, uint8_t *out)
{
    const int32_t x = u >> WARP_BITS, y = v >> WARP_BITS;
    memcpy(out, inside(r, x, y) ? at(r, x, y) : r->fill, r->channels);
}

static int32_t bilinear_weight(uint32_t u, uint32_t v, uint32_t x, uint32_t y)
{
    return (int32_t)((x ? u : WARP_FRACTIONS - u) * (y ? v : WARP_FRACTIONS - v) * WARP_FRACTIONS);
}

/* u and v have 5 bits after the point. */
static void blend(const struct warp_row *r, int32_t u, int32_t v, uint8_t *out)
{
    const uint32_t fu = (uint32_t)u % WARP_FRACTIONS, fv = (uint32_t)v % WARP_FRACTIONS;
    const int32_t before = r->taps > 2 ? (int32_t)r->taps / 2 - 1 : 0;
    const int32_t x = (u >> WARP_FRACTION_BITS) - before, y = (v >> WARP_FRACTION_BITS) - before;
    const int16_t *w = NULL;
    int32_t sum[4] = {1 << 14, 1 << 14, 1 << 14, 1 << 14};
    if (r->taps > 2)
        w = r->weights + (size_t)(fv * WARP_FRACTIONS + fu) * r->taps * r->taps;
    for (uint32_t j = 0; j < r->taps; j++)
        for (uint32_t i = 0; i < r->taps; i++) {
            const int32_t weight = w != NULL ? *w++ : bilinear_weight(fu, fv, i, j);
            const int32_t tx = x + (int32_t)i, ty = y + (int32_t)j;
            const uint8_t *px = inside(r, tx, ty) ? at(r, tx, ty) : r->fill;
            for (uint32_t c = 0; c < r->channels; c++)
                sum[c] += weight * px[c];
        }
    for (uint32_t c = 0; c < r->channels; c++) {
        const int32_t s = sum[c] >> 15;
        out[c] = (uint8_t)(s < 0 ? 0 : s < 255 ? s : 255);
    }
}

void warp_pixel(const struct warp_row *r, uint32_t x, uint8_t *out)
{
    const int32_t round = warp_rounding(r->taps);
    const int32_t u = r->u0 + round + r->u[x], v = r->v0 + round + r->v[x];
    const int shift = WARP_BITS - WARP_FRACTION_BITS;
    if (r->taps == 1)
        nearest(r, u, v, out);
    else
        blend(r, u >> shift, v >> shift, out);
}

void warp_row_scalar(const struct warp_row *r, uint8_t *out)
{
    for (uint32_t x = 0; x < r->width; x++, out += r->channels)
        warp_pixel(r, x, out);
}
