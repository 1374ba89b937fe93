/* augment/geometry/warp.c - warps: each pixel of the result is looked for in the source.
 *
 * The place is the sum of a column's and a row's share, so that it can be tabulated; with a
 * perspective it is tabulated for each row. Taps outside the image are the fill value, each by
 * itself. */
#include "augment/geometry/warp.h"

#include "augment/geometry/projection.h"
#include "augment/geometry/warp_kernels.h"
#include "augment/resize/resize_taps.h"
#include "augment/resize/scratch.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

#define PLACE_LIMIT (1 << 29) /* px * 1024: further out nothing is, and sums of two fit */

/* ---- places ------------------------------------------------------------------------------- */

struct inverse {
    double a, b, c, d, e, g; /* x = a x' + b y' + c, y = d x' + e y' + g */
};

static struct inverse invert(const float m[6])
{
    const double determinant = (double)m[0] * m[4] - (double)m[1] * m[3];
    const double k = determinant != 0 ? 1 / determinant : 0;
    struct inverse i = {.a = m[4] * k, .b = -m[1] * k, .d = -m[3] * k, .e = m[0] * k};
    i.c = -i.a * m[2] - i.b * m[5];
    i.g = -i.d * m[2] - i.e * m[5];
    return i;
}

static int32_t fixed(double v)
{
    v *= 1 << WARP_BITS;
    return v > PLACE_LIMIT ? PLACE_LIMIT : v < -PLACE_LIMIT ? -PLACE_LIMIT : (int32_t)lrint(v);
}

static bool is_tilted(const struct warp_job *j)
{
    return j->tilt[0] != 0 || j->tilt[1] != 0;
}

/* From result to source. A map that cannot be inverted shows nothing. */
static void invert_tilted(const struct warp_job *j, double back[9])
{
    double m[9];
    warp_projection(j->matrix, j->tilt, m);
    if (!projection_invert(m, back))
        memset(back, 0, 9 * sizeof(*back));
}

/* To whole numbers as lrint() does it, without a call: there are two for each pixel. */
static int32_t whole(double v)
{
    const double limit = PLACE_LIMIT, to_integers = 0x1.8p52;
    v = v > limit ? limit : v < -limit ? -limit : v;
    return (int32_t)(v + to_integers - to_integers);
}

/* Places of n pixels of a row, in px * 1024; false: one is beyond the horizon, where nothing is. */
static bool
tilted_places(const double back[9], double x, double y, uint32_t n, int32_t *u, int32_t *v)
{
    const double u0 = back[1] * y + back[2], v0 = back[4] * y + back[5], z0 = back[7] * y + back[8];
    bool all = true;
    for (uint32_t i = 0; i < n; i++) {
        const double at = x + i, z = back[6] * at + z0, by = (1 << WARP_BITS) / z;
        const bool is_seen = z > PROJECTION_LEAST;
        u[i] = is_seen ? whole((back[0] * at + u0) * by) : -PLACE_LIMIT;
        v[i] = is_seen ? whole((back[3] * at + v0) * by) : -PLACE_LIMIT;
        all = all && is_seen;
    }
    return all;
}

static uint32_t taps_of(const struct warp_job *j)
{
    switch (j->method) {
    case RESIZE_NEAREST:
        return 1;
    case RESIZE_CUBIC:
        return TAPS_CUBIC;
    case RESIZE_LANCZOS:
        return TAPS_LANCZOS;
    default:
        return 2;
    }
}

/* ---- the region --------------------------------------------------------------------------- */

struct span {
    int64_t first, end;
};

/* Places are monotone along a row and along a column: the corners tell all. */
static struct span span_of(int32_t c0, int32_t c1, int32_t r0, int32_t r1, uint32_t taps)
{
    const int64_t low = (int64_t)(c0 < c1 ? c0 : c1) + (r0 < r1 ? r0 : r1) + warp_rounding(taps);
    const int64_t high = (int64_t)(c0 < c1 ? c1 : c0) + (r0 < r1 ? r1 : r0) + warp_rounding(taps);
    const int64_t before = taps / 2 > 1 ? taps / 2 - 1 : 0;
    return (struct span){(low >> WARP_BITS) - before, (high >> WARP_BITS) + taps / 2 + 1};
}

static void clip(struct span s, uint32_t size, uint32_t *first, uint32_t *count)
{
    const int64_t n = size;
    s.first = s.first < 0 ? 0 : s.first < n ? s.first : n - 1;
    s.end = s.end > n ? n : s.end > s.first ? s.end : s.first + 1;
    *first = (uint32_t)s.first;
    *count = (uint32_t)(s.end - s.first);
}

/* Rectangles become convex: their corners tell all, but for the last bit of what is between. */
static struct imrec_rect tilted_region(const struct warp_job *j)
{
    const struct imrec_rect w = j->window, all = {0, 0, j->from_width, j->from_height};
    const double x[2] = {w.x, (double)w.x + w.width - 1}, y[2] = {w.y, (double)w.y + w.height - 1};
    int32_t low_u = PLACE_LIMIT, low_v = PLACE_LIMIT, high_u = -PLACE_LIMIT, high_v = -PLACE_LIMIT;
    double back[9];
    invert_tilted(j, back);
    for (int i = 0; i < 4; i++) {
        int32_t u, v;
        if (!tilted_places(back, x[i % 2], y[i / 2], 1, &u, &v))
            return all;
        low_u = u < low_u ? u : low_u, high_u = u > high_u ? u : high_u;
        low_v = v < low_v ? v : low_v, high_v = v > high_v ? v : high_v;
    }
    struct imrec_rect r;
    clip(span_of(low_u - 1, high_u + 1, 0, 0, taps_of(j)), j->from_width, &r.x, &r.width);
    clip(span_of(low_v - 1, high_v + 1, 0, 0, taps_of(j)), j->from_height, &r.y, &r.height);
    return r;
}

struct imrec_rect warp_source_region(const struct warp_job *j)
{
    if (is_tilted(j))
        return tilted_region(j);
    const struct inverse i = invert(j->matrix);
    const struct imrec_rect w = j->window;
    const double x0 = w.x, x1 = (double)w.x + w.width - 1, y0 = w.y,
                 y1 = (double)w.y + w.height - 1;
    const uint32_t taps = taps_of(j);
    struct imrec_rect r;
    clip(span_of(fixed(i.a * x0), fixed(i.a * x1), fixed(i.b * y0 + i.c), fixed(i.b * y1 + i.c),
                 taps),
         j->from_width, &r.x, &r.width);
    clip(span_of(fixed(i.d * x0), fixed(i.d * x1), fixed(i.e * y0 + i.g), fixed(i.e * y1 + i.g),
                 taps),
         j->from_height, &r.y, &r.height);
    return r;
}

/* ---- weights ------------------------------------------------------------------------------ */

/* The weights add up to 32768 exactly: what is missing goes to one of the four in the middle. */
static void even_out(int16_t *w, uint32_t taps, int32_t sum)
{
    const uint32_t half = taps / 2;
    uint32_t least = half * taps + half, most = least;
    for (uint32_t y = half; y < half + 2; y++)
        for (uint32_t x = half; x < half + 2; x++) {
            const uint32_t at = y * taps + x;
            if (w[at] < w[least])
                least = at;
            else if (w[at] > w[most])
                most = at;
        }
    const uint32_t at = sum < 32768 ? most : least;
    w[at] = (int16_t)(w[at] + 32768 - sum);
}

static void fill_weights(uint32_t taps, const float *wx, const float *wy, int16_t *w)
{
    int32_t sum = 0;
    for (uint32_t y = 0; y < taps; y++)
        for (uint32_t x = 0; x < taps; x++) {
            const long v = lrintf(wy[y] * wx[x] * 32768);
            w[y * taps + x] = (int16_t)(v > INT16_MAX ? INT16_MAX : v);
            sum += w[y * taps + x];
        }
    if (sum != 32768)
        even_out(w, taps, sum);
}

/* One block of weights for each pair of fractions, kept between images. */
static const int16_t *weights_of(uint32_t taps, struct resize_scratch *s)
{
    const size_t block = (size_t)taps * taps;
    const struct scratch_key key = {.from = taps, .to = taps, .kind = SCRATCH_KIND_WARP};
    bool fresh = false;
    int16_t *w =
        scratch_table(s, key, WARP_FRACTIONS * WARP_FRACTIONS * block * sizeof(*w), &fresh);
    float one[WARP_FRACTIONS][TAPS_MOST];
    if (w == NULL || !fresh)
        return w;
    for (int i = 0; i < WARP_FRACTIONS; i++)
        taps_weights(taps, (float)i / WARP_FRACTIONS, one[i]);
    for (int v = 0; v < WARP_FRACTIONS; v++)
        for (int u = 0; u < WARP_FRACTIONS; u++)
            fill_weights(taps, one[u], one[v], w + (size_t)(v * WARP_FRACTIONS + u) * block);
    return w;
}

/* ---- a warp ------------------------------------------------------------------------------- */

static enum imrec_status
check(const struct warp_job *j, const struct imrec_image *from, struct imrec_error *err)
{
    const struct imrec_rect w = j->window, r = warp_source_region(j);
    if (j->from_width == 0 || j->from_height == 0 || w.width == 0 || w.height == 0 ||
        w.x > j->to_width || w.y > j->to_height || w.width > j->to_width - w.x ||
        w.height > j->to_height - w.y || j->from_width > INT32_MAX || j->from_height > INT32_MAX)
        return IMREC_REFUSE(err,
                            "a warp of %u x %u px to %u x %u px has no window of %u x %u px at "
                            "(%u, %u)",
                            j->from_width, j->from_height, j->to_width, j->to_height, w.width,
                            w.height, w.x, w.y);
    if ((unsigned)j->method >= RESIZE_METHODS)
        return IMREC_REFUSE(err,
                            "inter_method of a warp is 0 (nearest), 1 or 3 (bilinear), 2 (cubic) "
                            "or 4 (Lanczos), not %d",
                            (int)j->method);
    if (from->width != r.width || from->height != r.height)
        return IMREC_REFUSE(err, "a warp needs %u x %u px of its source, not %u x %u px", r.width,
                            r.height, from->width, from->height);
    return IMREC_OK;
}

/* Tables of a row: the shares of columns, or, tilted, whole places. */
struct tables {
    int32_t *u, *v;
    struct inverse affine;
    double tilted[9];
    bool is_tilted;
};

static enum imrec_status columns(const struct warp_job *j, struct tables *t, struct warp_row *r,
                                 struct resize_scratch *s, struct imrec_error *err)
{
    t->u = scratch_room(s, ROOM_FIRST, r->width, sizeof(*t->u));
    t->v = scratch_room(s, ROOM_SECOND, r->width, sizeof(*t->v));
    if (t->u == NULL || t->v == NULL)
        return scratch_no_memory(err);
    t->affine = invert(j->matrix);
    t->is_tilted = is_tilted(j);
    if (t->is_tilted)
        invert_tilted(j, t->tilted);
    for (uint32_t x = 0; x < r->width && !t->is_tilted; x++) {
        t->u[x] = fixed(t->affine.a * ((double)j->window.x + x));
        t->v[x] = fixed(t->affine.d * ((double)j->window.x + x));
    }
    r->u = t->u, r->v = t->v;
    if (r->taps > 2 && (r->weights = weights_of(r->taps, s)) == NULL)
        return scratch_no_memory(err);
    return IMREC_OK;
}

static void
begin_row(const struct warp_job *j, const struct tables *t, uint32_t y, struct warp_row *r)
{
    const double at_y = (double)j->window.y + y;
    if (t->is_tilted)
        (void)tilted_places(t->tilted, j->window.x, at_y, r->width, t->u, t->v);
    r->u0 = t->is_tilted ? 0 : fixed(t->affine.b * at_y + t->affine.c);
    r->v0 = t->is_tilted ? 0 : fixed(t->affine.e * at_y + t->affine.g);
}

enum imrec_status warp_window_into(const struct warp_job *job, const struct imrec_image *from,
                                   const struct imrec_image *to, struct resize_scratch *scratch,
                                   enum cpu_level level, struct imrec_error *err)
{
    IMREC_TRY(check(job, from, err));
    const struct imrec_rect region = warp_source_region(job);
    struct tables tables;
    struct warp_row r = {
        .width = to->width,
        .from = from->pixels,
        .stride = from->stride,
        .x0 = (int32_t)region.x,
        .y0 = (int32_t)region.y,
        .x1 = (int32_t)(region.x + region.width),
        .y1 = (int32_t)(region.y + region.height),
        .channels = from->channels,
        .taps = taps_of(job),
    };
    memcpy(r.fill, job->fill, sizeof(r.fill));
    IMREC_TRY(columns(job, &tables, &r, scratch, err));
    for (uint32_t y = 0; y < to->height; y++) {
        IMREC_TRY(stop_check(scratch->stop, err));
        begin_row(job, &tables, y, &r);
        warp_kernels[level].row(&r, to->pixels + (size_t)y * to->stride);
    }
    return IMREC_OK;
}

enum imrec_status warp_window(const struct warp_job *job, const struct imrec_image *from,
                              struct image *to, struct resize_scratch *scratch,
                              struct imrec_error *err)
{
    IMREC_TRY(check(job, from, err));
    IMREC_TRY(image_resize_buffer(to, job->window.width, job->window.height, from->channels, err));
    return warp_window_into(job, from, &to->view, scratch, cpu_level(), err);
}
