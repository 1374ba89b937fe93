/* augment/colour/colour.c - what is done to the colours of a whole image. */
#include "augment/colour/colour.h"

#include "augment/colour/colour_kernels.h"

#include <math.h>

/* RGB2GRAY of 14 bits: 4899 of the first channel, 9617, 1868; in BGR the first is blue. */
const struct grey_weights grey_of_original = {.r = 1868, .g = 9617, .b = 4899, .bits = 14};
const struct grey_weights grey_of_pillow = {.r = 19595, .g = 38470, .b = 7471, .bits = 16};

static uint8_t *row_of(const struct imrec_image *p, uint32_t y)
{
    return p->pixels + (size_t)y * p->stride;
}

static uint8_t rounded(float v) /* to even, saturated */
{
    return (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : lrintf(v));
}

void colour_tables(const struct imrec_image *p, const uint8_t map[3][256], enum cpu_level level)
{
    colour_map_fn *kernel = colour_kernels[level].colour_map;
    for (uint32_t y = 0; y < p->height; y++)
        kernel(row_of(p, y), p->width, p->channels, map);
}

/* value * factor + add, of every channel */
static void linear_map(const struct imrec_image *p, float factor, float add, enum cpu_level level)
{
    uint8_t map[3][256];
    for (int v = 0; v < 256; v++) {
        const float product = (float)v * factor;
        map[0][v] = map[1][v] = map[2][v] = rounded(product + add);
    }
    colour_tables(p, (const uint8_t(*)[256])map, level);
}

void colour_brightness(const struct imrec_image *p, float factor, enum cpu_level level)
{
    linear_map(p, factor, 0, level);
}

static uint64_t
sum_of(const struct imrec_image *p, const struct grey_weights *w, enum cpu_level level)
{
    uint64_t sum = 0;
    for (uint32_t y = 0; y < p->height; y++)
        if (p->channels == 1)
            for (uint32_t x = 0; x < p->width; x++)
                sum += row_of(p, y)[x];
        else
            sum += colour_kernels[level].grey_sum(w, row_of(p, y), p->width, p->channels);
    return sum;
}

void colour_contrast(const struct imrec_image *p, const struct grey_weights *w, float factor,
                     enum cpu_level level)
{
    const double pixels = (double)p->width * p->height;
    const float mean = (float)((double)sum_of(p, w, level) / pixels);
    linear_map(p, factor, (1 - factor) * mean, level);
}

void colour_saturation(const struct imrec_image *p, const struct grey_weights *w, float factor,
                       enum cpu_level level)
{
    for (uint32_t y = 0; p->channels != 1 && y < p->height; y++)
        colour_kernels[level].saturation(w, factor, row_of(p, y), p->width, p->channels);
}

void colour_hls(const struct imrec_image *p, int32_t h, int32_t l, int32_t s, enum cpu_level level)
{
    const int32_t shift[3] = {h, l, s};
    for (uint32_t y = 0; p->channels != 1 && y < p->height; y++)
        colour_kernels[level].hls_shift(shift, row_of(p, y), p->width, p->channels);
}

void colour_grey(const struct imrec_image *p, enum cpu_level level)
{
    colour_saturation(p, &grey_of_pillow, 0, level);
}

void colour_hue(const struct imrec_image *p, float turns, enum cpu_level level)
{
    const float turn = 6 * (turns - floorf(turns));
    for (uint32_t y = 0; p->channels != 1 && turn < 6 && y < p->height; y++)
        colour_kernels[level].hue_turn(turn, row_of(p, y), p->width, p->channels);
}

void colour_light(const struct imrec_image *p, const float add[3], enum cpu_level level)
{
    uint8_t map[3][256];
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++) {
            const float sum = (float)v + add[c];
            map[c][v] = (uint8_t)(sum <= 0 ? 0 : sum >= 255 ? 255 : sum);
        }
    colour_tables(p, (const uint8_t(*)[256])map, level);
}
