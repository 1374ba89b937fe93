/* augment/colour/blur.c - a Gaussian, and sharpness: neighbours weighed, in integers. */
#include "augment/colour/blur.h"

#include "augment/colour/colour_kernels.h"
#include "augment/resize/scratch.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

enum { RADIUS = 31, PAIRS = RADIUS + 1, ONE = 1 << 14 };

/* ---- a Gaussian --------------------------------------------------------------------------- */

/* 2 * radius + 1 weights that add up to ONE, and one of nothing. */
static uint32_t gaussian(float sigma, int16_t *weights)
{
    double real[2 * RADIUS + 1], sum = 0;
    int32_t left = ONE;
    const double wanted = ceil(3 * (double)sigma);
    const int radius = wanted < 1 ? 1 : wanted < RADIUS ? (int)wanted : RADIUS;
    for (int k = -radius; k <= radius; k++)
        sum += real[k + radius] = exp(-0.5 * k * k / ((double)sigma * (double)sigma));
    for (int k = 0; k <= 2 * radius; k++) {
        weights[k] = (int16_t)lrint(real[k] / sum * ONE);
        left -= weights[k];
    }
    weights[radius] = (int16_t)(weights[radius] + left);
    weights[2 * radius + 1] = 0;
    return (uint32_t)radius;
}

/* Beyond a border the image goes back; the outermost pixel is not repeated. */
static uint32_t reflected(int64_t at, uint32_t n)
{
    const int64_t period = n > 1 ? 2 * ((int64_t)n - 1) : 1;
    at %= period;
    at += at < 0 ? period : 0;
    return (uint32_t)(at < (int64_t)n ? at : period - at);
}

struct blurring {
    const struct imrec_image *p;
    uint32_t radius, channels;
    int16_t weights[2 * PAIRS];
    size_t values;   /* of a row */
    int16_t *all;    /* the image, with BLUR_BITS after the point */
    int16_t *across; /* a row, blurred across the rows, with its reflections at both ends */
    int16_t *along;  /* blurred along it too */
};

static void reflect_ends(const struct blurring *b)
{
    const uint32_t c = b->channels, w = b->p->width;
    int16_t *row = b->across + (size_t)b->radius * c;
    for (uint32_t k = 1; k <= b->radius; k++) {
        memcpy(row - (size_t)k * c, row + (size_t)reflected(-(int64_t)k, w) * c, c * sizeof(*row));
        const int64_t after = (int64_t)w - 1 + k;
        memcpy(row + (size_t)after * c, row + (size_t)reflected(after, w) * c, c * sizeof(*row));
    }
}

static void blur_row(const struct blurring *b, uint32_t y, const struct colour_kernels *kernels)
{
    const int16_t *rows[2 * PAIRS];
    const uint32_t taps = 2 * b->radius + 2; /* the last weighs nothing */
    for (uint32_t k = 0; k < taps; k++)
        rows[k] = b->all + b->values * reflected((int64_t)y + k - b->radius, b->p->height);
    kernels->blur(rows, b->weights, taps / 2, 14, b->across + (size_t)b->radius * b->channels,
                  b->values);
    reflect_ends(b);
    for (uint32_t k = 0; k < taps; k++)
        rows[k] = b->across + (size_t)k * b->channels;
    kernels->blur(rows, b->weights, taps / 2, 14, b->along, b->values);
    kernels->narrow(b->along, b->p->pixels + (size_t)y * b->p->stride, b->values);
}

enum imrec_status blur(const struct imrec_image *p, float sigma, struct resize_scratch *scratch,
                       enum cpu_level level, struct imrec_error *err)
{
    const struct colour_kernels *kernels = &colour_kernels[level];
    struct blurring b = {.p = p, .channels = p->channels};
    b.radius = gaussian(sigma, b.weights);
    b.values = (size_t)p->width * p->channels;
    const size_t ends = (2 * (size_t)b.radius + 2) * p->channels;
    b.all = scratch_room(scratch, ROOM_ROWS, b.values * p->height, sizeof(*b.all));
    b.across = scratch_room(scratch, ROOM_EDGE, b.values + ends, sizeof(*b.across));
    b.along = scratch_room(scratch, ROOM_RING, b.values, sizeof(*b.along));
    if (b.all == NULL || b.across == NULL || b.along == NULL)
        return scratch_no_memory(err);
    memset(b.across, 0, (b.values + ends) * sizeof(*b.across));
    for (uint32_t y = 0; y < p->height; y++)
        kernels->widen(p->pixels + (size_t)y * p->stride, b.all + y * b.values, b.values);
    for (uint32_t y = 0; y < p->height; y++) {
        IMREC_TRY(stop_check(scratch->stop, err));
        blur_row(&b, y, kernels);
    }
    return IMREC_OK;
}

/* ---- sharpness ---------------------------------------------------------------------------- */

enum imrec_status sharpen(const struct imrec_image *p, float factor, struct resize_scratch *scratch,
                          enum cpu_level level, struct imrec_error *err)
{
    const struct colour_kernels *k = &colour_kernels[level];
    const size_t bytes = (size_t)p->width * p->channels;
    if (p->width < 3 || p->height < 3)
        return IMREC_OK;
    uint8_t *room = scratch_room(scratch, ROOM_ROWS, 3 * bytes, 1);
    if (room == NULL)
        return scratch_no_memory(err);
    uint8_t *above = room, *here = room + bytes, *smooth = room + 2 * bytes;
    memcpy(above, p->pixels, bytes);
    for (uint32_t y = 1; y + 1 < p->height; y++) {
        IMREC_TRY(stop_check(scratch->stop, err));
        uint8_t *row = p->pixels + (size_t)y * p->stride;
        memcpy(here, row, bytes);
        const uint8_t *const rows[3] = {above + p->channels, here + p->channels,
                                        row + p->stride + p->channels};
        const size_t n = bytes - 2 * (size_t)p->channels;
        k->smooth(rows, p->channels, smooth, n);
        for (size_t i = 3; p->channels == 4 && i < n; i += 4)
            smooth[i] = here[i + 4]; /* alpha stays */
        k->mix(factor, row + p->channels, smooth, n);
        uint8_t *const free_row = above;
        above = here;
        here = free_row;
    }
    return IMREC_OK;
}
