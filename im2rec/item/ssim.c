/* im2rec/item/ssim.c - values and products of a row of pixels are made once, for as many rows as a
 * window has; then weighted sums down the image, and across. */
#include "im2rec/item/ssim.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

enum {
    PLANES = 3, /* an image, its squares, its products with the reference */
    SLACK = SSIM_WINDOW,
};

static uint32_t taps(uint32_t side)
{
    return side < SSIM_WINDOW ? side : SSIM_WINDOW;
}

static uint32_t windows(uint32_t side)
{
    return side - taps(side) + 1;
}

/* exp(-(d / 2)^2 / (2 * 1.5^2)) by d, twice the distance from the window's middle; sums to 1. */
static void make_weights(float *to, uint32_t n)
{
    static const double gauss[SSIM_WINDOW] = {
        1.0,
        0.94595946890676540,
        0.80073740291680810,
        0.60653065971263342,
        0.41111229050718745,
        0.24935220877729622,
        0.13533528323661270,
        0.06572852861653047,
        0.02856550078455037,
        0.01110899653824231,
        0.00386592013947281,
    };
    double sum = 0, weight[SSIM_WINDOW] = {0};
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t twice = 2 * k > n - 1 ? 2 * k - (n - 1) : (n - 1) - 2 * k;
        weight[k] = gauss[twice];
        sum += weight[k];
    }
    for (uint32_t k = 0; k < SSIM_WINDOW; k++)
        to[k] = (float)(weight[k] / sum);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Values of a row of a plane, or of a line. */
static uint64_t stride(uint32_t width)
{
    return (uint64_t)width + SLACK;
}

uint64_t ssim_values(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height + 2 * (uint64_t)windows(width) * windows(height) +
           (PLANES * SSIM_WINDOW + 1 + PLANES) * stride(width);
}

static enum imrec_status
take_room(struct ssim *s, uint32_t width, uint32_t height, struct imrec_error *err)
{
    const uint64_t values = ssim_values(width, height);
    const size_t pixels = (size_t)width * height, all = (size_t)windows(width) * windows(height);
    if (values > s->room) {
        ssim_free(s);
        s->memory = imrec_realloc(NULL, (size_t)values, sizeof(float));
        if (s->memory == NULL)
            return IMREC_NO_MEMORY(err, "no memory to compare images");
        s->room = (size_t)values;
    }
    s->kernels = &ssim_kernels[cpu_level()];
    s->width = width;
    s->height = height;
    s->reference = s->memory;
    s->mean = s->reference + pixels;
    s->energy = s->mean + all;
    s->rows = s->energy + all;
    s->line = s->rows + PLANES * SSIM_WINDOW * stride(width);
    s->sums = s->line + stride(width);
    for (size_t x = width; x < stride(width); x++)
        s->line[x] = 0; /* weighs nothing where the image is narrower than a window */
    make_weights(s->across, taps(width));
    make_weights(s->down, taps(height));
    return IMREC_OK;
}

void ssim_free(struct ssim *s)
{
    imrec_free(s->memory);
    *s = (struct ssim){0};
}

/* ---- sums ----------------------------------------------------------------------------------- */

static float *row_of(const struct ssim *s, uint32_t plane, uint32_t y)
{
    return s->rows + (plane * SSIM_WINDOW + y % SSIM_WINDOW) * stride(s->width);
}

/* Row y of an image and of its squares. */
static void take(const struct ssim *s, const struct imrec_image *image, uint32_t y)
{
    s->kernels->take(image->pixels + y * image->stride, s->width, row_of(s, 0, y), row_of(s, 1, y));
}

/* Weighted means of a plane in the windows whose first row is y. */
static void sum(const struct ssim *s, uint32_t plane, uint32_t y, float *out)
{
    const float *row[SSIM_WINDOW];
    const uint32_t last = taps(s->height) - 1;
    for (uint32_t k = 0; k < SSIM_WINDOW; k++)
        row[k] = row_of(s, plane, y + (k < last ? k : last));
    s->kernels->weigh(row, s->down, s->width, s->line);
    for (uint32_t k = 0; k < SSIM_WINDOW; k++)
        row[k] = s->line + k;
    s->kernels->weigh(row, s->across, windows(s->width), out);
}

enum imrec_status
ssim_begin(struct ssim *s, const struct imrec_image *reference, struct imrec_error *err)
{
    const uint32_t width = reference->width, height = reference->height, full = taps(height) - 1;
    IMREC_TRY(take_room(s, width, height, err));
    for (uint32_t y = 0; y < height; y++) {
        const size_t at = (size_t)(y - full) * windows(width);
        take(s, reference, y);
        memcpy(s->reference + (size_t)y * width, row_of(s, 0, y), width * sizeof(float));
        if (y < full)
            continue;
        sum(s, 0, y - full, s->mean + at);
        sum(s, 1, y - full, s->energy + at);
    }
    return IMREC_OK;
}

double ssim_of(struct ssim *s, const struct imrec_image *image)
{
    const uint32_t n = windows(s->width), full = taps(s->height) - 1;
    float *mean = s->sums, *energy = mean + stride(s->width), *both = energy + stride(s->width);
    double lanes[SSIM_LANES] = {0}, total = 0;
    for (uint32_t y = 0; y < s->height; y++) {
        const size_t at = (size_t)(y - full) * n;
        take(s, image, y);
        s->kernels->multiply(s->reference + (size_t)y * s->width, row_of(s, 0, y), s->width,
                             row_of(s, 2, y));
        if (y < full)
            continue;
        sum(s, 0, y - full, mean);
        sum(s, 1, y - full, energy);
        sum(s, 2, y - full, both);
        const struct ssim_row row = {s->mean + at, s->energy + at, mean, energy, both};
        s->kernels->compare(&row, n, lanes);
    }
    for (uint32_t k = 0; k < SSIM_LANES; k++)
        total += lanes[k];
    return total / ((double)n * windows(s->height));
}
