/* augment/resize/resize_area.c - shrinking by area: sums over cells, in float32 in a fixed order;
 * of whole pixels they are exact, in integers where float32 would not be. */
#include "augment/resize/resize_kernels.h"
#include "augment/resize/resize_passes.h"

#include "base/error.h"

#include <string.h>

enum { FLOAT_EXACT = 1 << 24 }; /* up to here every integer is a float32 */

/* ---- inner loops -------------------------------------------------------------------------- */

static uint8_t rounded(float v) /* v >= 0: to the nearest, ties to even */
{
    const float whole = (v + 12582912.0f) - 12582912.0f; /* 1.5 * 2^23: no fraction is left */
    return (uint8_t)(whole < 255 ? whole : 255);
}

void area_x_scalar(const struct area_table *t, const uint8_t *row, float *out)
{
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t c = 0; c < t->channels; c++) {
            const uint8_t *px = row + t->first[i] + c;
            float sum = 0;
            for (uint32_t k = t->begin[i]; k < t->begin[i + 1]; k++, px += t->channels)
                sum += (float)*px * t->weights[k];
            *out++ = sum;
        }
}

void area_y_scalar(float *sum, const float *row, float weight, bool add, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = add ? sum[i] + weight * row[i] : weight * row[i];
}

void area_round_scalar(const float *sum, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rounded(sum[i]);
}

void half_scalar(const uint8_t *row0, const uint8_t *row1, uint8_t *out, uint32_t width,
                 uint32_t channels)
{
    for (uint32_t x = 0; x < width; x++, row0 += 2 * channels, row1 += 2 * channels)
        for (uint32_t c = 0; c < channels; c++)
            *out++ =
                (uint8_t)((row0[c] + row0[c + channels] + row1[c] + row1[c + channels] + 2) >> 2);
}

/* ---- cells that cut pixels, or not -------------------------------------------------------- */

static struct area_taps
taps_of(const struct resize_run *r, const struct resize_axis *a, uint32_t at)
{
    if (r->kind == KIND_AREA)
        return area_at(a, at);
    return (struct area_taps){.first = at * a->whole,
                              .count = a->whole,
                              .first_weight = 1,
                              .inner_weight = 1,
                              .last_weight = 1};
}

static bool add_blocks(const struct resize_run *r, struct area_table *t, uint32_t taps)
{
    void *room = NULL;
    if (!resize_make_blocks(r, t->first, NULL, taps, &t->blocks, &room))
        return false;
    float *weights = room;
    uint32_t value = 0;
    for (uint32_t i = 0; i < t->count && t->blocks.count != 0; i++)
        for (uint32_t c = 0; c < t->channels; c++, value++) {
            float *lane = weights + (size_t)(value / RESIZE_BLOCK) * taps * RESIZE_BLOCK;
            lane += value % RESIZE_BLOCK;
            for (uint32_t k = t->begin[i]; k < t->begin[i + 1]; k++, lane += RESIZE_BLOCK)
                *lane = t->weights[k];
        }
    return true;
}

static enum imrec_status
build(const struct resize_run *r, struct area_table *t, struct imrec_error *err)
{
    const uint32_t count = r->to->width, channels = r->from->channels;
    const size_t row_bytes = (size_t)r->region.width * channels;
    /* Neighbours share at most one source pixel. */
    const size_t taps = (size_t)r->region.width + count;
    uint32_t *first = scratch_room(r->scratch, ROOM_FIRST, count, sizeof(*first));
    uint32_t *begin = scratch_room(r->scratch, ROOM_SECOND, (size_t)count + 1, sizeof(*begin));
    float *weights = scratch_room(r->scratch, ROOM_WEIGHT, taps, sizeof(*weights));
    if (first == NULL || begin == NULL || weights == NULL || taps > UINT32_MAX)
        return scratch_no_memory(err);
    *t = (struct area_table){
        .first = first, .begin = begin, .weights = weights, .count = count, .channels = channels};
    begin[0] = 0;
    uint32_t most = 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct area_taps a = taps_of(r, &r->x, r->job->window.x + i);
        most = a.count > most ? a.count : most;
        first[i] = (a.first - r->region.x) * channels;
        begin[i + 1] = begin[i] + a.count;
        for (uint32_t k = 0; k < a.count; k++)
            weights[begin[i] + k] = area_weight(&a, k);
        if ((size_t)first[i] + (size_t)a.count * channels < row_bytes)
            t->vector = i + 1;
    }
    return add_blocks(r, t, most) ? IMREC_OK : scratch_no_memory(err);
}

/* One pixel's share of a cell of whole pixels. */
static float share_of(const struct resize_run *r)
{
    return 1.0f / (float)((uint64_t)r->x.whole * r->y.whole);
}

enum imrec_status run_area(const struct resize_run *r, struct imrec_error *err)
{
    struct area_table t;
    IMREC_TRY(build(r, &t, err));
    const size_t values = (size_t)r->to->width * r->to->channels;
    const size_t padded = (values + 4 + 15) / 16 * 16;
    float *row = scratch_room(r->scratch, ROOM_ROWS, 2 * padded, sizeof(*row));
    if (row == NULL)
        return scratch_no_memory(err);
    memset(row, 0, 2 * padded * sizeof(*row)); /* vectors compute with the padding too */
    float *sum = row + padded;
    uint32_t have = UINT32_MAX; /* the source row that `row` is of: cells share their border */
    for (uint32_t y = 0; y < r->to->height; y++) {
        IMREC_TRY(stop_check(r->scratch->stop, err));
        const struct area_taps a = taps_of(r, &r->y, r->job->window.y + y);
        for (uint32_t k = 0; k < a.count; k++) {
            if (a.first + k != have)
                r->kernels->area_x(&t, run_row(r, a.first + k), row);
            have = a.first + k;
            r->kernels->area_y(sum, row, area_weight(&a, k), k > 0, values);
        }
        if (r->kind == KIND_AREA_WHOLE)
            r->kernels->area_y(sum, sum, share_of(r), false, values);
        r->kernels->area_round(sum, run_out(r, y), values);
    }
    return IMREC_OK;
}

/* ---- cells of whole pixels, very large ---------------------------------------------------- */

static void add_row(uint32_t *sum, const uint8_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += row[i];
}

/* One row of the result out of the sums of its columns. */
static void sum_cells(const struct resize_run *r, const uint32_t *columns, uint8_t *out)
{
    const uint32_t channels = r->from->channels;
    const float share = share_of(r);
    for (uint32_t x = 0; x < r->to->width; x++, columns += (size_t)r->x.whole * channels)
        for (uint32_t c = 0; c < channels; c++) {
            uint64_t sum = 0;
            for (uint32_t k = 0; k < r->x.whole; k++)
                sum += columns[(size_t)k * channels + c];
            *out++ = rounded((float)sum * share);
        }
}

enum imrec_status run_area_whole(const struct resize_run *r, struct imrec_error *err)
{
    /* Where sums of floats are exact, their vector loops give the same, sooner. */
    if (r->level != CPU_SCALAR && (uint64_t)r->x.whole * r->y.whole <= FLOAT_EXACT / 255)
        return run_area(r, err);
    const size_t values = (size_t)r->region.width * r->from->channels;
    uint32_t *columns = scratch_room(r->scratch, ROOM_ROWS, values, sizeof(*columns));
    if (columns == NULL)
        return scratch_no_memory(err);
    for (uint32_t y = 0; y < r->to->height; y++) {
        IMREC_TRY(stop_check(r->scratch->stop, err));
        memset(columns, 0, values * sizeof(*columns));
        for (uint32_t k = 0; k < r->y.whole; k++)
            add_row(columns, run_row(r, r->region.y + y * r->y.whole + k), values);
        sum_cells(r, columns, run_out(r, y));
    }
    return IMREC_OK;
}
