/* augment/resize/pillow.c - weights as Pillow computes them, and its two passes. */
#include "augment/resize/pillow.h"

#include "augment/resize/resize_kernels.h"
#include "augment/resize/scratch.h"
#include "base/bytes.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* ---- weights ------------------------------------------------------------------------------ */

static double sinc(double x)
{
    const double turn = x * 3.14159265358979323846;
    return x == 0 ? 1 : sin(turn) / turn;
}

static double weight_at(enum resize_method method, double x)
{
    const double a = -0.5, size = fabs(x);
    if (method == RESIZE_AREA)
        return x > -0.5 && x <= 0.5 ? 1 : 0;
    if (method == RESIZE_BILINEAR)
        return size < 1 ? 1 - size : 0;
    if (method == RESIZE_LANCZOS)
        return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    if (size < 1)
        return ((a + 2) * size - (a + 3)) * size * size + 1;
    return size < 2 ? (((size - 5) * size + 8) * size - 4) * a : 0;
}

static double half_width(enum resize_method method)
{
    return method == RESIZE_AREA       ? 0.5
           : method == RESIZE_BILINEAR ? 1
           : method == RESIZE_CUBIC    ? 2
                                       : 3;
}

struct reach {
    double scale, filter, support; /* filter: by which it is widened */
};

static struct reach reach_of(const struct pillow_axis *a)
{
    struct reach r = {.scale = resize_part_size(a->part, a->from) / a->to};
    r.filter = r.scale < 1 ? 1 : r.scale;
    r.support = half_width(a->method) * r.filter;
    return r;
}

static double centre_of(const struct pillow_axis *a, uint32_t at)
{
    return resize_part_begin(a->part) + (at + 0.5) * reach_of(a).scale;
}

static void span_of(const struct pillow_axis *a, uint32_t at, int32_t *first, int32_t *used)
{
    const struct reach r = reach_of(a);
    const double centre = centre_of(a, at);
    const int32_t low = (int32_t)(centre - r.support + 0.5);
    const int32_t high = (int32_t)(centre + r.support + 0.5);
    *first = low < 0 ? 0 : low;
    *used = (high > (int32_t)a->from ? (int32_t)a->from : high) - *first;
}

static void
set_weights(const struct pillow_axis *a, uint32_t at, int32_t first, int32_t used, int32_t *weights)
{
    const struct reach r = reach_of(a);
    const double centre = centre_of(a, at), by = 1 / r.filter, one = 1 << PILLOW_BITS;
    double sum = 0;
    for (int32_t k = 0; k < used; k++)
        sum += weight_at(a->method, (k + first - centre + 0.5) * by);
    for (int32_t k = 0; k < used; k++) {
        double w = weight_at(a->method, (k + first - centre + 0.5) * by);
        w = sum != 0 ? w / sum : w;
        weights[k] = (int32_t)(w < 0 ? -0.5 + w * one : 0.5 + w * one);
    }
}

static uint32_t taps_of(const struct pillow_axis *a)
{
    return (uint32_t)ceil(reach_of(a).support) * 2 + 1;
}

static bool make_axis(struct pillow_axis *a, struct resize_scratch *s)
{
    enum { KIND = 2000 }; /* of a table in the scratch; others: resample_axis.c, warp.c */
    const struct scratch_key key = {a->from,  a->to,    KIND + (uint32_t)a->method,
                                    a->begin, a->count, a->part};
    size_t values;
    bool fresh;
    a->taps = taps_of(a);
    if (!mul_fits(a->count, (size_t)a->taps + 2, &values) ||
        !mul_fits(values, sizeof(int32_t), &values))
        return false;
    int32_t *table = scratch_table(s, key, values, &fresh);
    if (table == NULL)
        return false;
    int32_t *first = table, *used = first + a->count, *weights = used + a->count;
    a->first = first, a->used = used, a->weights = weights;
    for (uint32_t i = 0; fresh && i < a->count; i++) {
        span_of(a, a->begin + i, &first[i], &used[i]);
        set_weights(a, a->begin + i, first[i], used[i], weights + (size_t)i * a->taps);
    }
    return true;
}

/* ---- passes ------------------------------------------------------------------------------- */

static struct pillow_axis axis_of(const struct pillow_job *j, bool y)
{
    return (struct pillow_axis){.from = y ? j->from_height : j->from_width,
                                .to = y ? j->to_height : j->to_width,
                                .begin = y ? j->window.y : j->window.x,
                                .count = y ? j->window.height : j->window.width,
                                .part = y ? j->y : j->x,
                                .method = j->method};
}

static void region_of(const struct pillow_axis *a, uint32_t *begin, uint32_t *count)
{
    int32_t first, used, last, last_used;
    span_of(a, a->begin, &first, &used);
    span_of(a, a->begin + a->count - 1, &last, &last_used);
    *begin = (uint32_t)first;
    *count = (uint32_t)(last + last_used - first);
}

struct imrec_rect pillow_source_region(const struct pillow_job *job)
{
    const struct pillow_axis x = axis_of(job, false), y = axis_of(job, true);
    struct imrec_rect r;
    region_of(&x, &r.x, &r.width);
    region_of(&y, &r.y, &r.height);
    return r;
}

/* Pillow 13 begins with the pass that leaves less: along the columns where they shrink by more than
 * twice as many pixels as the rows. Up to 12 it begins along the rows. */
static bool columns_first(const struct pillow_job *j)
{
    const int64_t down = (int64_t)j->from_height - j->to_height;
    return down > 0 && down > 2 * ((int64_t)j->from_width - j->to_width);
}

static uint64_t
between_bytes(const struct pillow_job *j, uint32_t width, uint32_t height, uint32_t channels)
{
    return columns_first(j) ? (uint64_t)width * j->window.height * channels
                            : (uint64_t)j->window.width * height * channels;
}

uint64_t pillow_scratch_claim(const struct pillow_job *job, uint32_t channels)
{
    const struct imrec_rect r = pillow_source_region(job);
    const struct pillow_axis x = axis_of(job, false), y = axis_of(job, true);
    const uint64_t tables =
        (uint64_t)x.count * (taps_of(&x) + 2) + (uint64_t)y.count * (taps_of(&y) + 2);
    return tables * sizeof(int32_t) + between_bytes(job, r.width, r.height, channels) +
           (uint64_t)(r.width + x.count) * channels + 3 * PILLOW_SLACK;
}

struct pillow_run {
    const struct resize_kernels *kernels;
    const struct imrec_image *from, *to;
    struct pillow_axis x, y;
    uint8_t *between; /* rows between the passes, dense */
    uint8_t *edge;    /* a source row, and one of the result, with room after them */
    const struct stop *stop;
};

/* A row of the result or between the passes: where nothing may be written after it, by way of
 * another place. */
static void
along(const struct pillow_run *r, const uint8_t *row, size_t left, uint8_t *out, size_t room)
{
    const size_t bytes = (size_t)r->from->width * r->from->channels;
    const size_t made = (size_t)r->x.count * r->from->channels;
    uint8_t *const last = r->edge + bytes + PILLOW_SLACK;
    if (left < PILLOW_SLACK)
        row = memcpy(r->edge, row, bytes);
    r->kernels->pillow_x(&r->x, row, r->from->channels, room < PILLOW_SLACK ? last : out);
    if (room < PILLOW_SLACK)
        memcpy(out, last, made);
}

/* Row i of the second pass, or of the first one, across rows that are `stride` bytes apart. */
static void across(const struct pillow_run *r, uint32_t i, const uint8_t *rows, size_t stride,
                   size_t n, uint8_t *out)
{
    r->kernels->pillow_y(rows + (size_t)(r->y.first[i] - r->y.first[0]) * stride, stride,
                         r->y.weights + (size_t)i * r->y.taps, (uint32_t)r->y.used[i], n, out);
}

static enum imrec_status rows_then_columns(const struct pillow_run *r, struct imrec_error *err)
{
    const struct imrec_image *from = r->from, *to = r->to;
    const size_t line = (size_t)r->x.count * from->channels;
    for (uint32_t i = 0; i < from->height; i++) {
        IMREC_TRY(stop_check(r->stop, err));
        along(r, from->pixels + i * from->stride, (from->height - 1 - i) * from->stride,
              r->between + i * line, PILLOW_SLACK);
    }
    for (uint32_t i = 0; i < r->y.count; i++)
        across(r, i, r->between, line, line, to->pixels + i * to->stride);
    return IMREC_OK;
}

static enum imrec_status columns_then_rows(const struct pillow_run *r, struct imrec_error *err)
{
    const struct imrec_image *from = r->from, *to = r->to;
    const size_t line = (size_t)from->width * from->channels;
    for (uint32_t i = 0; i < r->y.count; i++) {
        IMREC_TRY(stop_check(r->stop, err));
        across(r, i, from->pixels, from->stride, line, r->between + i * line);
    }
    for (uint32_t i = 0; i < r->y.count; i++)
        along(r, r->between + i * line, PILLOW_SLACK, to->pixels + i * to->stride,
              (r->y.count - 1 - i) * to->stride);
    return IMREC_OK;
}

enum imrec_status pillow_window(const struct pillow_job *job, const struct imrec_image *from,
                                struct image *to, struct resize_scratch *scratch,
                                struct imrec_error *err)
{
    struct pillow_run r = {.kernels = &resize_kernels[cpu_level()],
                           .from = from,
                           .to = &to->view,
                           .x = axis_of(job, false),
                           .y = axis_of(job, true),
                           .stop = scratch->stop};
    const uint64_t between = between_bytes(job, from->width, from->height, from->channels);
    const size_t edge = ((size_t)from->width + r.x.count) * from->channels + 2 * PILLOW_SLACK;
    IMREC_TRY(image_resize_buffer(to, r.x.count, r.y.count, from->channels, err));
    r.between = between < SIZE_MAX - PILLOW_SLACK
                    ? scratch_room(scratch, ROOM_ROWS, (size_t)between + PILLOW_SLACK, 1)
                    : NULL;
    r.edge = scratch_room(scratch, ROOM_EDGE, edge, 1);
    if (r.between == NULL || r.edge == NULL || !make_axis(&r.x, scratch) ||
        !make_axis(&r.y, scratch))
        return scratch_no_memory(err);
    return columns_first(job) ? columns_then_rows(&r, err) : rows_then_columns(&r, err);
}
