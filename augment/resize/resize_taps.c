/* augment/resize/resize_taps.c - cubic and Lanczos: four or eight taps each way, exact in integers
 * along the rows; across them too, but for most of a cubic's values, which are float32. */
#include "augment/resize/resize_taps.h"

#include "augment/resize/resize_kernels.h"
#include "augment/resize/resize_passes.h"
#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- weights ------------------------------------------------------------------------------ */

/* Keys (1981) with a = -3/4; every operation rounds to float32. */
static void cubic_weights(float f, float *w)
{
    const float a = -0.75f, u = f + 1, v = 1 - f;
    w[0] = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a;
    w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
    w[2] = ((a + 2) * v - (a + 3)) * v * v + 1;
    w[3] = 1.0f - w[0] - w[1] - w[2];
}

static void single(float *w, int tap)
{
    for (int i = 0; i < TAPS_LANCZOS; i++)
        w[i] = i == tap;
}

static void lanczos_weights(float f, float *w)
{
    static const double r = 0.70710678118654752440;
    static const double turn[TAPS_LANCZOS][2] = {{1, 0},  {-r, -r}, {0, 1},  {r, -r},
                                                 {-1, 0}, {r, r},   {0, -1}, {-r, r}};
    const double quarter = 3.14159265358979323846 / 4;
    float sum = 0;
    if (f < FLT_EPSILON || f >= 1) { /* MXNet's table has no weights for 1, only garbage */
        single(w, f < FLT_EPSILON ? 3 : 4);
        return;
    }
    const double y0 = -(double)(f + 3) * quarter, s0 = sin(y0), c0 = cos(y0);
    for (int i = 0; i < TAPS_LANCZOS; i++) {
        const double y = -(double)(f + 3 - (float)i) * quarter;
        w[i] = (float)((turn[i][0] * s0 + turn[i][1] * c0) / (y * y));
        sum += w[i];
    }
    sum = 1.0f / sum;
    for (int i = 0; i < TAPS_LANCZOS; i++)
        w[i] *= sum;
}

void taps_weights(uint32_t taps, float f, float *weights)
{
    if (taps == TAPS_CUBIC)
        cubic_weights(f, weights);
    else
        lanczos_weights(f, weights);
}

/* The same times 2048, each rounded. */
static void weights_11(uint32_t taps, float f, int16_t *weights)
{
    float w[TAPS_MOST];
    taps_weights(taps, f, w);
    for (uint32_t i = 0; i < taps; i++)
        weights[i] = (int16_t)lrintf(w[i] * 2048);
}

/* ---- inner loops -------------------------------------------------------------------------- */

static uint8_t saturated(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v < 255 ? v : 255);
}

void taps_x_scalar(const struct taps_table *t, const uint8_t *row, int32_t *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const int16_t *w = t->weights + (size_t)i * t->taps;
        for (uint32_t c = 0; c < t->channels; c++) {
            const uint8_t *px = row + t->first[i] + c;
            int32_t sum = 0;
            for (uint32_t k = 0; k < t->taps; k++, px += t->channels)
                sum += *px * w[k];
            *out++ = sum;
        }
    }
}

void cubic_y_scalar(const int32_t *const rows[4], const int16_t *weights, uint8_t *out, size_t n)
{
    float w[4];
    for (int k = 0; k < 4; k++)
        w[k] = (float)weights[k] * (1.0f / (1 << 22));
    for (size_t i = 0; i < n; i++) {
        float v = (float)rows[0][i] * w[0];
        for (int k = 1; k < 4; k++)
            v += (float)rows[k][i] * w[k];
        out[i] = saturated((int32_t)lrintf(v));
    }
}

void taps_y_scalar(const int32_t *const *rows, const int16_t *weights, uint32_t taps, uint8_t *out,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = 1 << 21; /* 32 bits hold it: |weights| add up to less than 1.5 each way */
        for (uint32_t k = 0; k < taps; k++)
            sum += weights[k] * rows[k][i];
        out[i] = saturated(sum >> 22);
    }
}

/* ---- a resize ----------------------------------------------------------------------------- */

/* A source row is copied to where its ends can be continued. */
struct taps_row {
    uint8_t *bytes;
    uint32_t lead, tail; /* px that repeat the first and the last */
};

static int64_t first_tap(const struct resize_axis *a, uint32_t taps, uint32_t at, float *f)
{
    const struct taps_place p = taps_at(a, at);
    *f = p.f;
    return p.at - (int64_t)(taps / 2 - 1);
}

/* From which pixel to which the taps reach, unclipped. */
static void find_ends(const struct resize_run *r, uint32_t taps, struct taps_row *row)
{
    float f;
    const uint32_t x = r->job->window.x, last = x + r->to->width - 1;
    const int64_t begin = first_tap(&r->x, taps, x, &f) - r->region.x;
    const int64_t end =
        first_tap(&r->x, taps, last, &f) + taps - ((int64_t)r->region.x + r->region.width);
    row->lead = begin < 0 ? (uint32_t)-begin : 0;
    row->tail = end > 0 ? (uint32_t)end : 0;
}

static enum imrec_status build(const struct resize_run *r, uint32_t taps, struct taps_table *t,
                               struct taps_row *row, struct imrec_error *err)
{
    const uint32_t count = r->to->width, channels = r->from->channels;
    find_ends(r, taps, row);
    const size_t pixels = (size_t)row->lead + r->region.width + row->tail;
    uint32_t *first = scratch_room(r->scratch, ROOM_FIRST, count, sizeof(*first));
    int16_t *weights =
        scratch_room(r->scratch, ROOM_WEIGHT, (size_t)count * taps, sizeof(*weights));
    row->bytes = scratch_room(r->scratch, ROOM_EDGE, pixels * channels + TAPS_SLACK, 1);
    if (first == NULL || weights == NULL || row->bytes == NULL)
        return scratch_no_memory(err);
    memset(row->bytes + pixels * channels, 0, TAPS_SLACK);
    *t = (struct taps_table){
        .first = first, .weights = weights, .count = count, .taps = taps, .channels = channels};
    for (uint32_t i = 0; i < count; i++) {
        float f;
        const int64_t at = first_tap(&r->x, taps, r->job->window.x + i, &f) - r->region.x;
        first[i] = (uint32_t)(at + row->lead) * channels;
        weights_11(taps, f, weights + (size_t)i * taps);
    }
    return IMREC_OK;
}

static void repeat_pixel(uint8_t *to, const uint8_t *pixel, uint32_t n, uint32_t channels)
{
    for (uint32_t i = 0; i < n; i++, to += channels)
        memcpy(to, pixel, channels);
}

static void pass_x(const struct resize_run *r, const struct taps_table *t,
                   const struct taps_row *row, uint32_t y, int32_t *out)
{
    const uint32_t c = t->channels;
    const uint8_t *from = run_row(r, y);
    const size_t bytes = (size_t)r->region.width * c;
    uint8_t *to = row->bytes + (size_t)row->lead * c;
    memcpy(to, from, bytes);
    repeat_pixel(row->bytes, from, row->lead, c);
    repeat_pixel(to + bytes, from + bytes - c, row->tail, c);
    r->kernels->taps_x(t, row->bytes, out);
}

/* The last rows of the first pass, each in the place of its number. */
struct taps_ring {
    int32_t *rows[TAPS_MOST];
    int64_t of[TAPS_MOST];
};

static const int32_t *ring_row(const struct resize_run *r, const struct taps_table *t,
                               const struct taps_row *row, struct taps_ring *ring, int64_t y)
{
    y = y < 0 ? 0 : y < (int64_t)r->y.from ? y : (int64_t)r->y.from - 1;
    const uint32_t slot = (uint32_t)(y % t->taps);
    if (ring->of[slot] != y)
        pass_x(r, t, row, (uint32_t)y, ring->rows[slot]);
    ring->of[slot] = y;
    return ring->rows[slot];
}

/* Values of the window's row that OpenCV's vectors of 8 make: the first of the whole row. */
static size_t in_floats(const struct resize_run *r, size_t values)
{
    const uint64_t channels = r->to->channels;
    const uint64_t whole = r->job->to_width * channels / 8 * 8, begin = r->job->window.x * channels;
    const uint64_t n = whole > begin ? whole - begin : 0;
    return n < values ? (size_t)n : values;
}

enum imrec_status run_taps(const struct resize_run *r, struct imrec_error *err)
{
    const uint32_t taps = r->kind == KIND_CUBIC ? TAPS_CUBIC : TAPS_LANCZOS;
    struct taps_table t;
    struct taps_row row;
    struct taps_ring ring;
    IMREC_TRY(build(r, taps, &t, &row, err));
    const size_t values = (size_t)r->to->width * t.channels;
    const size_t padded = (values + TAPS_SLACK + 15) / 16 * 16;
    int32_t *rows = scratch_room(r->scratch, ROOM_ROWS, taps * padded, sizeof(*rows));
    if (rows == NULL)
        return scratch_no_memory(err);
    for (uint32_t k = 0; k < taps; k++)
        ring.rows[k] = rows + k * padded, ring.of[k] = -1;
    const size_t floats = taps == TAPS_CUBIC ? in_floats(r, values) : 0;
    for (uint32_t y = 0; y < r->to->height; y++) {
        IMREC_TRY(stop_check(r->scratch->stop, err));
        const int32_t *made[TAPS_MOST];
        int16_t w[TAPS_MOST];
        float f;
        const int64_t at = first_tap(&r->y, taps, r->job->window.y + y, &f);
        weights_11(taps, f, w);
        for (uint32_t k = 0; k < taps; k++)
            made[k] = ring_row(r, &t, &row, &ring, at + k);
        uint8_t *out = run_out(r, y);
        if (floats != 0)
            r->kernels->cubic_y(made, w, out, floats);
        for (uint32_t k = 0; k < taps; k++)
            made[k] += floats;
        r->kernels->taps_y(made, w, taps, out + floats, values - floats);
    }
    return IMREC_OK;
}
