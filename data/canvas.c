#include "data/canvas.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

void canvas_init(struct canvas *c, int width, int height)
{
    c->width = width;
    c->height = height;
    c->rgb = imrec_zalloc((size_t)width * (size_t)height * 3, sizeof(*c->rgb));
    if (c->rgb == NULL) {
        fprintf(stderr, "make_photos: no memory for %d x %d pixels\n", width, height);
        exit(EXIT_FAILURE);
    }
}

void canvas_free(struct canvas *c)
{
    imrec_free(c->rgb);
    c->rgb = NULL;
}

struct colour varied(struct colour a, int spread, struct dice *d)
{
    const int all = 4096 + dice_between(d, -spread, spread);
    const int r = all + dice_between(d, -spread, spread) / 3;
    const int g = all + dice_between(d, -spread, spread) / 3;
    const int b = all + dice_between(d, -spread, spread) / 3;
    return (struct colour){(int)((int64_t)a.r * r >> 12), (int)((int64_t)a.g * g >> 12),
                           (int)((int64_t)a.b * b >> 12)};
}

struct colour varied_light(struct colour a, int spread, int lo, int hi, struct dice *d)
{
    const struct colour v = varied(a, spread, d);
    return lit(v, dice_between(d, lo, hi));
}

void paint_blob(const struct canvas *c, const struct blob *b)
{
    const int reach = (b->a > b->b ? b->a : b->b) / 16 + 2;
    const int cosine = sine(b->turn + 256), sin_turn = sine(b->turn);
    const int x0 = clamp(b->x / 16 - reach, 0, c->width),
              x1 = clamp(b->x / 16 + reach, 0, c->width);
    const int y0 = clamp(b->y / 16 - reach, 0, c->height),
              y1 = clamp(b->y / 16 + reach, 0, c->height);
    const int a = b->a > 6 ? b->a : 6, e = b->b > 6 ? b->b : 6;
    const int soft = 4096 * 16 / (a < e ? a : e) + 256; /* one pixel of the shorter axis */
    const int by_a = 65536 / a, by_e = 65536 / e, slant = 65536 / (2 * (a + e));
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            const int dx = x * 16 + 8 - b->x, dy = y * 16 + 8 - b->y;
            const int u = (int)(((int64_t)dx * cosine + (int64_t)dy * sin_turn) * by_a >> 16);
            const int v = (int)(((int64_t)dy * cosine - (int64_t)dx * sin_turn) * by_e >> 16);
            if (abs(u) > 3 * 4096 || abs(v) > 3 * 4096)
                continue;
            const int far = (int)(((int64_t)u * u + (int64_t)v * v) >> 12); /* 4096 at the edge */
            const int cover = 4096 - smooth(far, 4096 - soft, 4096 + soft);
            if (cover == 0)
                continue;
            const int light = 4096 + (int)((int64_t)(-dx - dy) * b->relief * slant >> 16) -
                              (int)((int64_t)far * b->relief >> 14);
            blend(c, x, y, lit(b->colour, clamp(light, 400, 7000)), cover);
        }
    }
}

void paint_stroke(const struct canvas *c, const struct stroke *s)
{
    const int length = root((uint64_t)((int64_t)(s->x1 - s->x0) * (s->x1 - s->x0) +
                                       (int64_t)(s->y1 - s->y0) * (s->y1 - s->y0)));
    const int steps = clamp(length / 14, 2, 400);
    for (int i = 0; i <= steps; i++) {
        const int t = i * 4096 / steps, arch = t * (4096 - t) >> 10; /* 0..4096..0 */
        const int x = s->x0 + ((s->x1 - s->x0) * t >> 12) + (int)((int64_t)s->bend * arch >> 12);
        const int y = s->y0 + ((s->y1 - s->y0) * t >> 12);
        const int half = s->width * (4096 - t * 7 / 8) >> 13;
        const struct colour here = mix(s->root, s->tip, t);
        const int py = y >> 4;
        if (py < 0 || py >= c->height)
            continue;
        for (int px = (x - half) >> 4; px <= (x + half) >> 4; px++) {
            const int cover = clamp((half + 8 - abs(px * 16 + 8 - x)) * 256, 0, 4096);
            if (px >= 0 && px < c->width && cover > 0)
                blend(c, px, py, here, cover);
        }
    }
}

/* A running mean of 2 r + 1 rows, for all n values of a row at once. */
static void blur_down(int16_t *v, const int16_t *from, int n, int rows, int r)
{
    static int32_t sum[3 * 4096];
    const int share = 65536 / (2 * r + 1);
    for (int i = 0; i < n; i++)
        sum[i] = from[i] * (r + 1);
    for (int y = 1; y <= r; y++)
        for (int i = 0; i < n; i++)
            sum[i] += from[(size_t)(y < rows ? y : rows - 1) * (size_t)n + (size_t)i];
    for (int y = 0; y < rows; y++) {
        const int16_t *in = from + (size_t)(y + r + 1 < rows ? y + r + 1 : rows - 1) * (size_t)n;
        const int16_t *out = from + (size_t)(y > r ? y - r : 0) * (size_t)n;
        for (int i = 0; i < n; i++, v++) {
            *v = (int16_t)((uint32_t)sum[i] * (uint32_t)share >> 16); /* below 2^16 * 2^16 */
            sum[i] += in[i] - out[i];
        }
    }
}

/* The same along a row. */
static void blur_across(int16_t *v, const int16_t *from, int width, int r)
{
    const int share = 65536 / (2 * r + 1), last = 3 * (width - 1);
    for (int channel = 0; channel < 3; channel++) {
        int sum = from[channel] * (r + 1);
        for (int x = 1; x <= r; x++)
            sum += from[(3 * x < last ? 3 * x : last) + channel];
        for (int x = 0; x < width; x++) {
            const int in = 3 * (x + r + 1), out = 3 * (x - r);
            v[3 * x + channel] = (int16_t)((uint32_t)sum * (uint32_t)share >> 16);
            sum += from[(in < last ? in : last) + channel] - from[(out > 0 ? out : 0) + channel];
        }
    }
}

void canvas_blur(const struct canvas *c, int y0, int y1, int r)
{
    y0 = clamp(y0, 0, c->height);
    y1 = clamp(y1, y0, c->height);
    if (r <= 0 || y1 - y0 < 2)
        return;
    struct canvas strip;
    canvas_init(&strip, c->width, y1 - y0);
    for (int pass = 0; pass < 2; pass++) {
        for (int y = y0; y < y1; y++)
            blur_across(canvas_at(&strip, 0, y - y0), canvas_at(c, 0, y), c->width, r);
        blur_down(canvas_at(c, 0, y0), strip.rgb, 3 * c->width, y1 - y0, r);
    }
    canvas_free(&strip);
}
