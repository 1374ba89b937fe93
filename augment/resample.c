/*
 * augment/resample.c - separable resampling with the cubic of Keys (1981), a = -1/2.
 *
 * Shrinking widens the filter by the factor, so that nothing aliases. Columns first: a row of
 * the result out of its source rows, kept with 6 more bits; then along that row. Weights have 14
 * bits and sum up to exactly 1. All is integer arithmetic: every variant gives the same bytes.
 */
#include "augment/resample.h"

#include "augment/kernels.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

#define SUPPORT 2.0 /* of the cubic, in pixels of the coarser picture */

static double cubic(double x)
{
    x = fabs(x);
    if (x < 1)
        return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* Taps of one place: rounded so that they sum up to RESAMPLE_ONE; the largest takes the rest. */
static void quantize(const double *weights, uint32_t n, double sum, int16_t *out)
{
    int32_t left = RESAMPLE_ONE;
    uint32_t largest = 0;
    for (uint32_t k = 0; k < n; k++) {
        out[k] = (int16_t)lrint(weights[k] / sum * RESAMPLE_ONE);
        left -= out[k];
        if (out[k] > out[largest])
            largest = k;
    }
    out[largest] = (int16_t)(out[largest] + left);
}

/* Most taps that a place of the axis can have, in whole groups. */
static uint32_t axis_taps(uint32_t from, uint32_t to)
{
    const double scale = from > to ? (double)from / to : 1;
    const double most = 2 * SUPPORT * scale + 2;
    const uint32_t n = most < from ? (uint32_t)most : from;
    return (n + RESAMPLE_GROUP - 1) / RESAMPLE_GROUP * RESAMPLE_GROUP;
}

/* Fills `first` and `weights` of place `at`; returns how many taps there are. */
static void fill_place(const struct resample_axis *a, uint32_t at, double *real)
{
    const double step = (double)a->from / a->to, scale = step > 1 ? step : 1;
    const double centre = (at + 0.5) * step, radius = SUPPORT * scale;
    const double low = floor(centre - radius), high = ceil(centre + radius);
    const uint32_t begin = low > 0 ? (uint32_t)low : 0;
    const uint32_t end = high < a->from ? (uint32_t)high : a->from;
    uint32_t first = begin, n = end - begin;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        real[k] = cubic((first + k + 0.5 - centre) / scale);
    uint32_t skip = 0;
    while (n > a->taps && real[skip] == 0) { /* places on the filter's edge weigh nothing */
        skip++;
        n--;
    }
    if (n > a->taps)
        n = a->taps;
    for (uint32_t k = 0; k < n; k++)
        sum += real[skip + k];
    int16_t *weights = a->weights + (size_t)at * a->taps;
    memset(weights, 0, a->taps * sizeof(*weights));
    quantize(real + skip, n, sum, weights);
    a->first[at] = first + skip;
}

static bool make_axis(struct resample_axis *a, uint32_t from, uint32_t to, enum scratch_room first,
                      enum scratch_room weights, struct resize_scratch *s)
{
    a->from = from;
    a->to = to;
    a->taps = axis_taps(from, to);
    a->first = scratch_room(s, first, to, sizeof(*a->first));
    a->weights = scratch_room(s, weights, (size_t)to * a->taps, sizeof(*a->weights));
    double *real = scratch_room(s, ROOM_ROWS, (size_t)a->taps + 8, sizeof(*real));
    if (a->first == NULL || a->weights == NULL || real == NULL)
        return false;
    for (uint32_t at = 0; at < to; at++)
        fill_place(a, at, real);
    return true;
}

/* ---- scalar passes ------------------------------------------------------------------------ */

static int16_t to_row(int32_t sum)
{
    const int32_t v = (sum + (1 << (RESAMPLE_Y_SHIFT - 1))) >> RESAMPLE_Y_SHIFT;
    return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}

static uint8_t to_byte(int32_t sum)
{
    const int32_t v = (sum + (1 << (RESAMPLE_X_SHIFT - 1))) >> RESAMPLE_X_SHIFT;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void resample_y_values(const struct resample_column *c, size_t begin, size_t n, int16_t *out)
{
    for (size_t x = begin; x < n; x++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < c->taps; k++)
            sum += c->weights[k] * c->rows[(size_t)k * c->stride + x];
        out[x] = to_row(sum);
    }
}

void resample_y_scalar(const struct resample_column *c, size_t n, int16_t *out)
{
    resample_y_values(c, 0, n, out);
}

void resample_x_pixels(const struct resample_axis *a, const int16_t *row, uint32_t channels,
                       uint32_t begin, uint8_t *out)
{
    for (uint32_t at = begin; at < a->to; at++) {
        const int16_t *weights = a->weights + (size_t)at * a->taps;
        const int16_t *px = row + (size_t)a->first[at] * channels;
        for (uint32_t c = 0; c < channels; c++) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < a->taps; k++)
                sum += weights[k] * px[(size_t)k * channels + c];
            out[(size_t)at * channels + c] = to_byte(sum);
        }
    }
}

void resample_x_scalar(const struct resample_axis *a, const int16_t *row, uint32_t channels,
                       uint8_t *out)
{
    resample_x_pixels(a, row, channels, 0, out);
}

/* ---- all of a picture ---------------------------------------------------------------------- */

/* Taps past the last row weigh nothing: they are not read. */
static struct resample_column
column_at(const struct resample_axis *y, const struct imrec_image *from, uint32_t at)
{
    const uint32_t first = y->first[at], left = from->height - first;
    return (struct resample_column){
        .rows = from->pixels + (size_t)first * from->stride,
        .stride = from->stride,
        .weights = y->weights + (size_t)at * y->taps,
        .taps = left < y->taps ? left : y->taps,
    };
}

enum imrec_status resample_at(const struct imrec_image *from, uint32_t to_width, uint32_t to_height,
                              struct image *to, struct resize_scratch *scratch,
                              enum cpu_level level, struct imrec_error *err)
{
    const struct kernels *kernels = kernels_of(level);
    const size_t values = (size_t)from->width * from->channels;
    struct resample_axis x, y;
    IMREC_TRY(image_resize_buffer(to, to_width, to_height, from->channels, err));
    if (!make_axis(&x, from->width, to_width, ROOM_FIRST, ROOM_WEIGHT, scratch) ||
        !make_axis(&y, from->height, to_height, ROOM_Y, ROOM_Y_WEIGHT, scratch))
        return scratch_no_memory(err);
    const size_t slack = (size_t)x.taps * from->channels; /* taps past the end weigh nothing */
    int16_t *row = scratch_room(scratch, ROOM_ROWS, values + slack, sizeof(*row));
    if (row == NULL)
        return scratch_no_memory(err);
    memset(row + values, 0, slack * sizeof(*row));
    for (uint32_t at = 0; at < to_height; at++) {
        const struct resample_column column = column_at(&y, from, at);
        kernels->resample_y(&column, values, row);
        kernels->resample_x(&x, row, from->channels, to->view.pixels + at * to->view.stride);
    }
    return IMREC_OK;
}

enum imrec_status resample(const struct imrec_image *from, uint32_t to_width, uint32_t to_height,
                           struct image *to, struct resize_scratch *scratch,
                           struct imrec_error *err)
{
    return resample_at(from, to_width, to_height, to, scratch, cpu_level(), err);
}
