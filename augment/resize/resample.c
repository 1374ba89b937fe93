/* augment/resize/resample.c - separable resampling: along the rows first, two source rows at a
 * time, into a ring of the few that a row of the result is made of; then across them.
 *
 * Weights have 14 bits and sum up to exactly 1, a row between the passes keeps 6 bits after the
 * point. All is integer arithmetic in which nothing overflows (the weights' sizes sum up to less
 * than 1.3): every variant gives the same bytes. */
#include "augment/resize/resample.h"

#include "augment/resize/resize_kernels.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"

#include <string.h>

enum { LINE_VALUES = 64 }; /* rows of the ring are lines of exactly this many values */

struct run {
    const struct resize_kernels *kernels;
    const struct imrec_image *from;
    struct resample_axis x, y;
    uint32_t made; /* pairs of rows */
    uint32_t places;
    int16_t **ring;   /* pair p is at place p % places; the places are here twice, so that any
                         run of them is in one piece */
    uint8_t *edge[2]; /* a source row with room after it */
};

static void set_axes(const struct resample_job *j, uint32_t from_width, uint32_t from_height,
                     uint32_t channels, struct resample_axis *x, struct resample_axis *y)
{
    *x = (struct resample_axis){.from = from_width,
                                .to = j->window.width,
                                .channels = channels,
                                .whole = j->to_width,
                                .begin = j->window.x,
                                .part = j->x,
                                .filter = j->filter};
    *y = (struct resample_axis){.from = from_height,
                                .to = j->window.height,
                                .channels = 1,
                                .whole = j->to_height,
                                .begin = j->window.y,
                                .part = j->y,
                                .filter = j->filter};
}

/* Values of a pair of rows between the passes. With three channels the last pixel's vector has a
 * fourth value, which must not be another row's. */
static size_t line_of(const struct resample_axis *x)
{
    const size_t values = (size_t)x->to * x->channels + (x->channels == 3);
    return 2 * align_up(values, LINE_VALUES);
}

uint64_t resample_scratch_claim(const struct resample_job *job, uint32_t from_width,
                                uint32_t from_height, uint32_t channels)
{
    struct resample_axis x, y;
    set_axes(job, from_width, from_height, channels, &x, &y);
    const uint64_t tables = resample_axis_bytes(&x, false) + resample_axis_bytes(&y, true);
    const uint64_t places = y.taps / RESAMPLE_PAIR;
    const uint64_t row = (uint64_t)from_width * channels + RESAMPLE_SLACK;
    return tables + places * (line_of(&x) * sizeof(int16_t) + 2 * sizeof(int16_t *)) + 2 * row;
}

static bool
begin(struct run *r, const struct resample_job *j, enum cpu_level level, struct resize_scratch *s)
{
    const struct imrec_image *from = r->from;
    set_axes(j, from->width, from->height, from->channels, &r->x, &r->y);
    const size_t bytes = (size_t)from->width * from->channels + RESAMPLE_SLACK;
    if (!resample_axis_x(&r->x, cpu_picks_bytes(level), s) || !resample_axis_y(&r->y, s))
        return false;
    r->places = r->y.taps / RESAMPLE_PAIR;
    const size_t values = (size_t)r->x.to * from->channels;
    const size_t line = line_of(&r->x);
    size_t count;
    if (!mul_fits(line, r->places, &count))
        return false;
    int16_t *rows = scratch_room(s, ROOM_ROWS, count, sizeof(*rows));
    r->ring = scratch_room(s, ROOM_RING, 2 * (size_t)r->places, sizeof(*r->ring));
    r->edge[0] = scratch_room(s, ROOM_EDGE, 2 * bytes, 1);
    if (rows == NULL || r->ring == NULL || r->edge[0] == NULL)
        return false;
    r->edge[1] = r->edge[0] + bytes;
    memset(r->edge[0], 0, 2 * bytes);
    for (uint32_t p = 0; p < r->places; p++) {
        int16_t *row = r->ring[p] = r->ring[p + r->places] = rows + p * line;
        memset(row + 2 * values, 0, (line - 2 * values) * sizeof(*row)); /* no pass fills it */
    }
    return true;
}

/* A row after which RESAMPLE_SLACK bytes can be read; past the last one, the last. */
static const uint8_t *source_row(const struct run *r, uint32_t y)
{
    const struct imrec_image *from = r->from;
    y = y < from->height ? y : from->height - 1;
    const uint8_t *row = from->pixels + (size_t)y * from->stride;
    if ((size_t)(from->height - 1 - y) * from->stride >= RESAMPLE_SLACK)
        return row;
    return memcpy(r->edge[y % 2], row, (size_t)from->width * from->channels);
}

/* Pairs of rows up to `end`. */
static void make_pairs(struct run *r, uint32_t end)
{
    for (; r->made < end; r->made++) {
        const uint8_t *rows[2] = {source_row(r, 2 * r->made), source_row(r, 2 * r->made + 1)};
        r->kernels->resample_x(&r->x, rows, r->ring[r->made % r->places]);
    }
}

static enum imrec_status
resample_window_at(const struct resample_job *job, const struct imrec_image *from, struct image *to,
                   struct resize_scratch *scratch, enum cpu_level level, struct imrec_error *err)
{
    const struct imrec_rect w = job->window;
    struct run r = {.kernels = &resize_kernels[level], .from = from};
    IMREC_TRY(image_resize_buffer(to, w.width, w.height, from->channels, err));
    if (!begin(&r, job, level, scratch))
        return scratch_no_memory(err);
    const size_t values = (size_t)w.width * from->channels;
    for (uint32_t at = 0; at < w.height; at++) {
        IMREC_TRY(stop_check(scratch->stop, err));
        const uint32_t first = r.y.first[at] / RESAMPLE_PAIR, pairs = r.y.count[at] / RESAMPLE_PAIR;
        r.made = at == 0 ? first : r.made; /* what lies above the window is not made */
        make_pairs(&r, first + pairs);
        r.kernels->resample_y((const int16_t *const *)(r.ring + first % r.places),
                              r.y.weights + (size_t)at * r.y.taps, pairs, values,
                              to->view.pixels + at * to->view.stride);
    }
    return IMREC_OK;
}

enum imrec_status resample_window(const struct resample_job *job, const struct imrec_image *from,
                                  struct image *to, struct resize_scratch *scratch,
                                  struct imrec_error *err)
{
    return resample_window_at(job, from, to, scratch, cpu_level(), err);
}

enum imrec_status resample_at(const struct imrec_image *from, uint32_t to_width, uint32_t to_height,
                              struct image *to, struct resize_scratch *scratch,
                              enum cpu_level level, struct imrec_error *err)
{
    const struct resample_job whole = {.to_width = to_width,
                                       .to_height = to_height,
                                       .window = {0, 0, to_width, to_height},
                                       .filter = RESAMPLE_CUBIC};
    return resample_window_at(&whole, from, to, scratch, level, err);
}

enum imrec_status resample(const struct imrec_image *from, uint32_t to_width, uint32_t to_height,
                           struct image *to, struct resize_scratch *scratch,
                           struct imrec_error *err)
{
    return resample_at(from, to_width, to_height, to, scratch, cpu_level(), err);
}
