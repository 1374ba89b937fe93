/*
 * codec/jpeg/any_rows.c - rows of pixels of layouts that have no kernels of their own.
 *
 * libjpeg's upsampling: by two in a direction it weighs the nearest sample and the next nearest,
 * 3 : 1; by other factors, and in images of a few columns, it repeats samples. Plain loops, for
 * the compiler to make vectors of.
 */
#include "codec/jpeg/any_rows.h"

#include <string.h>

/* ---- upsampling ------------------------------------------------------------------------------ */

/* Loops over samples make whole samples' pixels: the first and the last may be outside. */

static void repeat(const uint8_t *from, uint32_t times, uint32_t samples, uint8_t *out)
{
    if (times == 2)
        for (uint32_t i = 0; i < 2 * samples; i++)
            out[i] = from[i / 2];
    else if (times == 4)
        for (uint32_t i = 0; i < 4 * samples; i++)
            out[i] = from[i / 4];
    else
        for (uint32_t i = 0; i < samples; i++)
            for (uint32_t k = 0; k < times; k++)
                *out++ = from[i];
}

/* Between two columns. */
static void widen(const uint8_t *from, uint32_t samples, uint8_t *out)
{
    for (uint32_t i = 0; i < samples; i++) {
        const int32_t near = 3 * from[i];
        out[2 * i] = (uint8_t)((near + from[(ptrdiff_t)i - 1] + 1) >> 2);
        out[2 * i + 1] = (uint8_t)((near + from[i + 1] + 2) >> 2);
    }
}

/* Between two rows. */
static void
heighten(const uint8_t *near, const uint8_t *far, int32_t rounding, uint32_t n, uint8_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)((3 * near[i] + far[i] + rounding) >> 2);
}

/* Between two columns and two rows. */
static void widen_both(const uint8_t *near, const uint8_t *far, uint32_t samples, uint8_t *out)
{
    int32_t before = 3 * near[-1] + far[-1], here = 3 * near[0] + far[0];
    for (uint32_t i = 0; i < samples; i++) {
        const int32_t after = 3 * near[i + 1] + far[i + 1];
        out[2 * i] = (uint8_t)((3 * here + before + 8) >> 4);
        out[2 * i + 1] = (uint8_t)((3 * here + after + 7) >> 4);
        before = here;
        here = after;
    }
}

/* The samples of n pixels of row `y`: where they are, or in `line`. */
static const uint8_t *
upsampled(const struct geometry *g, uint32_t component, uint32_t y, uint32_t n, uint8_t *line)
{
    const struct plane *c = &g->plane[component];
    const uint32_t first = g->left / c->across, passed = g->left % c->across;
    const uint32_t samples = divide_up(passed + n, c->across);
    const uint8_t *near = plane_row(g, component, y / c->down, first), *far = near;
    if (c->is_smooth && c->down == 2)
        far = plane_row(g, component, plane_far_row(c, y), first);
    if (c->across == 1 && !c->is_smooth)
        return near;
    if (!c->is_smooth)
        repeat(near, c->across, samples, line);
    else if (c->across == 1)
        heighten(near, far, y % 2 == 0 ? 1 : 2, samples, line);
    else if (c->down == 2)
        widen_both(near, far, samples, line);
    else
        widen(near, samples, line);
    return line + passed;
}

/* ---- colour ---------------------------------------------------------------------------------- */

static void interleave(const uint8_t *const *from, uint32_t channels, uint32_t n, uint8_t *out)
{
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t i = 0; i < n; i++)
            out[channels * i + c] = from[c][i];
}

/* libjpeg's Y of RGB. */
static void weigh(const uint8_t *const *rgb, uint32_t n, uint8_t *out)
{
    enum { RED = 19595, GREEN = 38470, BLUE = 7471, HALF = 1 << 15 };
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)((RED * rgb[0][i] + GREEN * rgb[1][i] + BLUE * rgb[2][i] + HALF) >> 16);
}

/* RGB, at the beginning of `out`, is what is left of white by its inks. Backwards, as a pixel
 * grows. */
static void to_inks(const uint8_t *black, uint32_t n, uint8_t *out)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t c = 3; c-- > 0;)
            out[4 * i + c] = (uint8_t)(255 - out[3 * i + c]);
        out[4 * i + 3] = black[i];
    }
}

static void
to_rgb(const struct jpeg_planes *s, const uint8_t *const *from, uint32_t n, uint8_t *out)
{
    const struct kernel_row r = {.y = from[0], .cb = from[1], .cr = from[2], .n = n, .rgb = out};
    s->kernels->row_444(&r);
}

static void mix(const struct jpeg_planes *s, const uint8_t *const *from, uint32_t n, uint8_t *out)
{
    const uint32_t channels = s->request->channels;
    switch (s->frame->colour) {
    case COLOUR_GREY:
    case COLOUR_YCC:
        if (channels == 1)
            memcpy(out, from[0], n);
        else
            to_rgb(s, from, n, out);
        return;
    case COLOUR_RGB:
        if (channels == 1)
            weigh(from, n, out);
        else
            interleave(from, 3, n, out);
        return;
    case COLOUR_CMYK:
        interleave(from, 4, n, out);
        return;
    case COLOUR_YCCK:
        to_rgb(s, from, n, out);
        to_inks(from[3], n, out);
        return;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Room for samples whose pixels begin before the region and end after it, and for vectors. */
static size_t line_bytes(uint32_t width)
{
    return (size_t)width + 2 * 3 + KERNEL_SLACK;
}

size_t any_row_room(const struct frame *f, uint32_t width)
{
    return f->components * line_bytes(width);
}

void any_row(const struct jpeg_planes *s, uint32_t y, uint8_t *lines, uint8_t *out)
{
    const uint8_t *samples[MOST_COMPONENTS] = {NULL};
    const uint32_t n = s->request->region.width;
    const uint32_t components = s->g.colour ? s->frame->components : 1;
    for (uint32_t i = 0; i < components; i++)
        samples[i] = upsampled(&s->g, i, y, n, lines + i * line_bytes(n));
    mix(s, samples, n, out);
}
