/* im2rec/item/ssim.c - weighted sums down the image, then across, a row of windows at a time.
 * Values are kept as differences to 128, which leaves variances more of a float's bits. */
#include "im2rec/item/ssim.h"

#include "base/alloc.h"
#include "base/error.h"

enum { MIDDLE = 128, LINES = 4 };

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
    double sum = 0, weight[SSIM_WINDOW];
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t twice = 2 * k > n - 1 ? 2 * k - (n - 1) : (n - 1) - 2 * k;
        weight[k] = gauss[twice];
        sum += weight[k];
    }
    for (uint32_t k = 0; k < n; k++)
        to[k] = (float)(weight[k] / sum);
}

/* ---- sums of a row of windows --------------------------------------------------------------- */

/* Of products of two planes, or of one (b NULL), down each column. */
static void sum_down(const struct ssim *s, const float *a, const float *b, uint32_t y, float *line)
{
    const size_t width = s->width;
    for (size_t x = 0; x < width; x++)
        line[x] = 0;
    for (uint32_t k = 0; k < taps(s->height); k++) {
        const float *p = a + (y + k) * width, *q = b != NULL ? b + (y + k) * width : NULL;
        const float weight = s->down[k];
        if (q == NULL)
            for (size_t x = 0; x < width; x++)
                line[x] += weight * p[x];
        else
            for (size_t x = 0; x < width; x++)
                line[x] += weight * (p[x] * q[x]);
    }
}

static void sum_across(const struct ssim *s, const float *line, float *out)
{
    const size_t n = windows(s->width);
    for (size_t x = 0; x < n; x++)
        out[x] = 0;
    for (uint32_t k = 0; k < taps(s->width); k++) {
        const float weight = s->across[k];
        for (size_t x = 0; x < n; x++)
            out[x] += weight * line[x + k];
    }
}

/* The windows whose first row is y. */
static void sum(const struct ssim *s, const float *a, const float *b, uint32_t y, float *out)
{
    sum_down(s, a, b, y, s->lines);
    sum_across(s, s->lines, out);
}

/* ---- images --------------------------------------------------------------------------------- */

static void take(const struct imrec_image *from, float *to)
{
    for (uint32_t y = 0; y < from->height; y++, to += from->width) {
        const uint8_t *row = from->pixels + y * from->stride;
        for (uint32_t x = 0; x < from->width; x++)
            to[x] = (float)(row[x] - MIDDLE);
    }
}

uint64_t ssim_values(uint32_t width, uint32_t height)
{
    return 2 * (uint64_t)width * height + 2 * (uint64_t)windows(width) * windows(height) +
           LINES * (uint64_t)width;
}

enum imrec_status
ssim_begin(struct ssim *s, const struct imrec_image *reference, struct imrec_error *err)
{
    const uint32_t width = reference->width, height = reference->height;
    const uint64_t values = ssim_values(width, height);
    const size_t pixels = (size_t)width * height, all = (size_t)windows(width) * windows(height);
    if (values > s->room) {
        ssim_free(s);
        s->memory = imrec_realloc(NULL, (size_t)values, sizeof(float));
        if (s->memory == NULL)
            return IMREC_NO_MEMORY(err, "no memory to compare images");
        s->room = (size_t)values;
    }
    s->width = width;
    s->height = height;
    s->reference = s->memory;
    s->other = s->reference + pixels;
    s->mean = s->other + pixels;
    s->energy = s->mean + all;
    s->lines = s->energy + all;
    make_weights(s->across, taps(width));
    make_weights(s->down, taps(height));
    take(reference, s->reference);
    for (uint32_t y = 0; y < windows(height); y++) {
        const size_t at = (size_t)y * windows(width);
        sum(s, s->reference, NULL, y, s->mean + at);
        sum(s, s->reference, s->reference, y, s->energy + at);
    }
    return IMREC_OK;
}

void ssim_free(struct ssim *s)
{
    imrec_free(s->memory);
    *s = (struct ssim){0};
}

/* Of n windows, whose sums are those of both images and of their products, into `mean`. */
static void compare(const float *mean_a, const float *energy_a, float *mean, const float *energy,
                    const float *both, size_t n)
{
    const float c1 = 6.5025f, c2 = 58.5225f; /* (K1 L)^2, (K2 L)^2 */
    for (size_t x = 0; x < n; x++) {
        const float a = mean_a[x], b = mean[x], ab = a * b, aa = a * a, bb = b * b;
        const float la = a + MIDDLE, lb = b + MIDDLE;
        const float light = (2 * (la * lb) + c1) / ((la * la + lb * lb) + c1);
        const float varied = (energy_a[x] - aa) + (energy[x] - bb);
        mean[x] = light * ((2 * (both[x] - ab) + c2) / (varied + c2));
    }
}

double ssim_of(struct ssim *s, const struct imrec_image *image)
{
    const size_t n = windows(s->width);
    float *mean = s->lines + s->width, *energy = mean + s->width, *both = energy + s->width;
    double total = 0;
    take(image, s->other);
    for (uint32_t y = 0; y < windows(s->height); y++) {
        const size_t at = (size_t)y * n;
        sum(s, s->other, NULL, y, mean);
        sum(s, s->other, s->other, y, energy);
        sum(s, s->reference, s->other, y, both);
        compare(s->mean + at, s->energy + at, mean, energy, both, n);
        for (size_t x = 0; x < n; x++)
            total += (double)mean[x];
    }
    return total / ((double)n * windows(s->height));
}
