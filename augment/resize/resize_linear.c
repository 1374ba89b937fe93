/* augment/resize/resize_linear.c - bilinear, and enlarging by area: two taps, in integers. */
#include "augment/resize/resize_kernels.h"
#include "augment/resize/resize_passes.h"

#include "base/error.h"

void linear_x_scalar(const struct linear_table *t, const uint8_t *row, int16_t *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const int32_t w0 = (int32_t)(t->weights[i] & 0xffffu), w1 = (int32_t)(t->weights[i] >> 16);
        for (uint32_t c = 0; c < t->channels; c++)
            *out++ = (int16_t)((row[t->first[i] + c] * w0 + row[t->second[i] + c] * w1) >> 4);
    }
}

void linear_y_scalar(const int16_t *t0, const int16_t *t1, int16_t b0, int16_t b1, uint8_t *out,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t v = (((t0[i] * b0) >> 16) + ((t1[i] * b1) >> 16) + 2) >> 2;
        out[i] = (uint8_t)(v < 255 ? v : 255); /* weights are not negative */
    }
}

/* The left border moves the weight to the first pixel, the right one to the last. */
static struct linear_tap at_border(struct linear_tap tap, uint32_t from)
{
    const int64_t last = (int64_t)from - 1;
    if (tap.at >= 0 && tap.at < last)
        return tap;
    return (struct linear_tap){.at = tap.at < 0 ? 0 : last, .weight = 2048};
}

static bool add_blocks(const struct resize_run *r, struct linear_table *t)
{
    void *room = NULL;
    if (!resize_make_blocks(r, t->first, t->second, 1, &t->blocks, &room))
        return false;
    uint32_t *weights = room;
    for (uint32_t i = 0; i < t->count && t->blocks.count != 0; i++)
        for (uint32_t c = 0; c < t->channels; c++)
            *weights++ = t->weights[i];
    return true;
}

static enum imrec_status
build(const struct resize_run *r, struct linear_table *t, struct imrec_error *err)
{
    const uint32_t count = r->to->width, channels = r->from->channels;
    const size_t row_bytes = (size_t)r->region.width * channels;
    uint32_t *first = scratch_room(r->scratch, ROOM_FIRST, count, sizeof(*first));
    uint32_t *second = scratch_room(r->scratch, ROOM_SECOND, count, sizeof(*second));
    uint32_t *weights = scratch_room(r->scratch, ROOM_WEIGHT, count, sizeof(*weights));
    if (first == NULL || second == NULL || weights == NULL)
        return scratch_no_memory(err);
    const uint32_t reach = channels == 1 ? 4 : 8;
    *t = (struct linear_table){
        .first = first, .second = second, .weights = weights, .count = count, .channels = channels};
    for (uint32_t i = 0; i < count; i++) {
        const struct linear_tap tap =
            at_border(linear_at(&r->x, r->kind, r->job->window.x + i), r->x.from);
        const uint32_t at = (uint32_t)tap.at - r->region.x, last = r->region.width - 1;
        first[i] = at * channels; /* the next pixel of a border has no weight */
        second[i] = (at < last ? at + 1 : last) * channels;
        weights[i] = (uint32_t)tap.weight | (uint32_t)tap.next_weight << 16;
        if (at < last && (size_t)first[i] + reach <= row_bytes)
            t->vector = i + 1;
    }
    return add_blocks(r, t) ? IMREC_OK : scratch_no_memory(err);
}

/* Rows of the first pass: the last two, by the source row that they are of. */
struct two_rows {
    int16_t *rows[2];
    int64_t of[2];
};

static const int16_t *pass_x(const struct resize_run *r, const struct linear_table *t,
                             struct two_rows *have, int64_t y, int64_t keep)
{
    for (int i = 0; i < 2; i++)
        if (have->of[i] == y)
            return have->rows[i];
    const int slot = have->of[0] == keep ? 1 : 0;
    r->kernels->linear_x(t, run_row(r, (uint32_t)y), have->rows[slot]);
    have->of[slot] = y;
    return have->rows[slot];
}

static int64_t clip(int64_t y, uint32_t rows)
{
    return y < 0 ? 0 : y < (int64_t)rows ? y : (int64_t)rows - 1;
}

enum imrec_status run_linear(const struct resize_run *r, struct imrec_error *err)
{
    struct linear_table t;
    IMREC_TRY(build(r, &t, err));
    const size_t values = (size_t)r->to->width * r->to->channels;
    const size_t row = (values + 8 + 31) / 32 * 32; /* aligned, with room to write over */
    int16_t *rows = scratch_room(r->scratch, ROOM_ROWS, 2 * row, sizeof(*rows));
    if (rows == NULL)
        return scratch_no_memory(err);
    struct two_rows have = {.rows = {rows, rows + row}, .of = {-1, -1}};
    for (uint32_t y = 0; y < r->to->height; y++) {
        IMREC_TRY(stop_check(r->scratch->stop, err));
        /* The weights are those of the unclipped place; only the row numbers are clipped. */
        const struct linear_tap tap = linear_at(&r->y, r->kind, r->job->window.y + y);
        const int64_t y0 = clip(tap.at, r->y.from), y1 = clip(tap.at + 1, r->y.from);
        const int16_t *t0 = pass_x(r, &t, &have, y0, y1);
        const int16_t *t1 = pass_x(r, &t, &have, y1, y0);
        r->kernels->linear_y(t0, t1, tap.weight, tap.next_weight, run_out(r, y), values);
    }
    return IMREC_OK;
}
