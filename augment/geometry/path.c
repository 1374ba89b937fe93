/* augment/geometry/path.c - maps composed; points, rectangles and masks moved by them. */
#include "augment/geometry/path.h"

#include "augment/geometry/orient.h"
#include "augment/geometry/projection.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Upright to stored, as in augment/geometry/orient.c. */
static void stored_of_upright(uint32_t o, const struct mask *stored, double m[9])
{
    const bool swaps = orient_swaps(o);
    const double x[3] = {!swaps, swaps, 0}, y[3] = {swaps, !swaps, 0};
    const double last_x = stored->width - 1.0, last_y = stored->height - 1.0;
    const bool flip_x = orient_flips_column(o), flip_y = orient_flips_row(o);
    for (int i = 0; i < 3; i++) {
        m[i] = (flip_x ? -x[i] : x[i]) + (i == 2 && flip_x ? last_x : 0);
        m[3 + i] = (flip_y ? -y[i] : y[i]) + (i == 2 && flip_y ? last_y : 0);
        m[6 + i] = i == 2;
    }
}

/* ---- building ----------------------------------------------------------------------------- */

void path_begin(struct path *p, uint32_t width, uint32_t height)
{
    *p = (struct path){.m = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                       .from_width = width,
                       .from_height = height,
                       .width = width,
                       .height = height};
}

void path_add_map(struct path *p, const double m[9], uint32_t width, uint32_t height)
{
    projection_compose(p->m, m, p->m);
    p->width = width;
    p->height = height;
}

void path_add(struct path *p, const double m[6], uint32_t width, uint32_t height)
{
    const double map[9] = {m[0], m[1], m[2], m[3], m[4], m[5], 0, 0, 1};
    path_add_map(p, map, width, height);
}

void path_add_resize(struct path *p, uint32_t width, uint32_t height)
{
    const double x = (double)width / p->width, y = (double)height / p->height;
    path_add(p, (const double[6]){x, 0, (x - 1) / 2, 0, y, (y - 1) / 2}, width, height);
}

void path_add_shift(struct path *p, double x, double y, uint32_t width, uint32_t height)
{
    path_add(p, (const double[6]){1, 0, x, 0, 1, y}, width, height);
}

void path_add_mirror(struct path *p)
{
    path_add(p, (const double[6]){-1, 0, p->width - 1.0, 0, 1, 0}, p->width, p->height);
}

void path_add_flip(struct path *p)
{
    path_add(p, (const double[6]){1, 0, 0, 0, -1, p->height - 1.0}, p->width, p->height);
}

void path_add_orientation(struct path *p, uint32_t orientation)
{
    const struct mask stored = {.width = p->width, .height = p->height};
    const bool swaps = orient_swaps(orientation);
    double back[9], m[9];
    stored_of_upright(orientation, &stored, back);
    if (projection_invert(back, m))
        path_add_map(p, m, swaps ? p->height : p->width, swaps ? p->width : p->height);
}

void path_join(struct path *p, const struct path *next)
{
    for (uint32_t i = 0; i < next->edge_count && p->edge_count < PATH_EDGES; i++) {
        struct path_edge *e = &p->edges[p->edge_count++];
        *e = next->edges[i];
        projection_compose(p->m, next->edges[i].m, e->m);
    }
    path_add_map(p, next->m, next->width, next->height);
}

void path_add_edge(struct path *p)
{
    struct path_edge *e = &p->edges[p->edge_count];
    if (p->edge_count == PATH_EDGES)
        return;
    memcpy(e->m, p->m, sizeof(e->m));
    e->width = p->width;
    e->height = p->height;
    p->edge_count++;
}

/* ---- points ------------------------------------------------------------------------------- */

void path_point(const struct path *p, double *x, double *y)
{
    projection_apply(p->m, x, y);
}

static bool inside(const double m[9], double x, double y, uint32_t width, uint32_t height)
{
    if (!(m[6] * x + m[7] * y + m[8] > PROJECTION_LEAST))
        return false;
    projection_apply(m, &x, &y);
    return x >= -0.5 && x < width - 0.5 && y >= -0.5 && y < height - 0.5;
}

bool path_shows(const struct path *p, double x, double y)
{
    for (uint32_t i = 0; i < p->edge_count; i++)
        if (!inside(p->edges[i].m, x, y, p->edges[i].width, p->edges[i].height))
            return false;
    return inside(p->m, x, y, p->width, p->height);
}

/* ---- rectangles --------------------------------------------------------------------------- */

/* A convex polygon; each cut adds a corner at most. */
enum { CORNERS = 4 + 5 * (PATH_EDGES + 1) };
struct polygon {
    uint32_t n;
    double x[CORNERS], y[CORNERS];
};

/* What lies where a x + b y + c >= 0. */
static void cut(struct polygon *p, double a, double b, double c)
{
    const struct polygon old = *p;
    p->n = 0;
    for (uint32_t i = 0; i < old.n; i++) {
        const uint32_t k = i + 1 < old.n ? i + 1 : 0;
        const double here = a * old.x[i] + b * old.y[i] + c;
        const double there = a * old.x[k] + b * old.y[k] + c;
        if (here >= 0 && p->n < CORNERS) {
            p->x[p->n] = old.x[i];
            p->y[p->n++] = old.y[i];
        }
        if ((here >= 0) != (there >= 0) && p->n < CORNERS) {
            const double t = here / (here - there);
            p->x[p->n] = old.x[i] + t * (old.x[k] - old.x[i]);
            p->y[p->n++] = old.y[i] + t * (old.y[k] - old.y[i]);
        }
    }
}

/* 0 <= x' + 0.5 < width, times z: the edges of the result are lines of the source. */
static void cut_edges(struct polygon *p, const double m[9], double width, double height)
{
    const double right = width - 0.5, bottom = height - 0.5;
    if (!projection_is_affine(m))
        cut(p, m[6], m[7], m[8] - PROJECTION_LEAST);
    cut(p, m[0] + 0.5 * m[6], m[1] + 0.5 * m[7], m[2] + 0.5 * m[8]);
    cut(p, right * m[6] - m[0], right * m[7] - m[1], right * m[8] - m[2]);
    cut(p, m[3] + 0.5 * m[6], m[4] + 0.5 * m[7], m[5] + 0.5 * m[8]);
    cut(p, bottom * m[6] - m[3], bottom * m[7] - m[4], bottom * m[8] - m[5]);
}

static double area(const struct polygon *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t k = i + 1 < p->n ? i + 1 : 0;
        sum += p->x[i] * p->y[k] - p->x[k] * p->y[i];
    }
    return fabs(sum) / 2;
}

/* The rectangle around it when it is moved; rounding may have left it outside by a little. */
static void surround(const struct path *p, struct polygon *g, double to[4])
{
    to[0] = to[1] = INFINITY;
    to[2] = to[3] = -INFINITY;
    for (uint32_t i = 0; i < g->n; i++) {
        projection_apply(p->m, &g->x[i], &g->y[i]);
        to[0] = fmin(to[0], g->x[i] + 0.5);
        to[1] = fmin(to[1], g->y[i] + 0.5);
        to[2] = fmax(to[2], g->x[i] + 0.5);
        to[3] = fmax(to[3], g->y[i] + 0.5);
    }
    to[0] = fmax(to[0], 0);
    to[1] = fmax(to[1], 0);
    to[2] = fmin(to[2], p->width);
    to[3] = fmin(to[3], p->height);
}

double path_rectangle(const struct path *p, const double from[4], double to[4])
{
    struct polygon g = {.n = 4,
                        .x = {from[0] - 0.5, from[2] - 0.5, from[2] - 0.5, from[0] - 0.5},
                        .y = {from[1] - 0.5, from[1] - 0.5, from[3] - 0.5, from[3] - 0.5}};
    const double all = area(&g);
    for (uint32_t i = 0; i < p->edge_count; i++)
        cut_edges(&g, p->edges[i].m, p->edges[i].width, p->edges[i].height);
    cut_edges(&g, p->m, p->width, p->height);
    const double seen = g.n >= 3 && all > 0 ? area(&g) / all : 0;
    surround(p, &g, to);
    return seen;
}

/* ---- masks -------------------------------------------------------------------------------- */

/* A function of the column, in a row: a x + b. */
struct line {
    double a, b;
};
struct edge_row {
    struct line x, y, z; /* places of half a pixel more, times z */
    double width, height;
};

static struct edge_row row_of(const double m[9], double y, double width, double height)
{
    const struct line z = {m[6], m[7] * y + m[8]};
    return (struct edge_row){.x = {m[0] + 0.5 * z.a, m[1] * y + m[2] + 0.5 * z.b},
                             .y = {m[3] + 0.5 * z.a, m[4] * y + m[5] + 0.5 * z.b},
                             .z = z,
                             .width = width,
                             .height = height};
}

static double value_at(const struct line *l, double x)
{
    return l->a * x + l->b;
}

static bool reaches(const struct edge_row *e, uint32_t n, double x)
{
    for (uint32_t i = 0; i < n; i++) {
        const double u = value_at(&e[i].x, x), v = value_at(&e[i].y, x), z = value_at(&e[i].z, x);
        if (!(z > 0 && u >= 0 && u < e[i].width * z && v >= 0 && v < e[i].height * z))
            return false;
    }
    return true;
}

/* Where a x + b >= 0, and up to two columns more. */
static void narrow(double a, double b, double *begin, double *end)
{
    const double turn = -b / a;
    if (a > 0)
        *begin = fmax(*begin, floor(turn) - 1);
    else if (a < 0)
        *end = fmin(*end, ceil(turn) + 2);
}

/* Where 0 <= l < size z. */
static void
narrow_to(const struct line *l, const struct line *z, double size, double *begin, double *end)
{
    narrow(l->a, l->b, begin, end);
    narrow(size * z->a - l->a, size * z->b - l->b, begin, end);
}

struct span {
    uint32_t begin, end;
};

/* Of n columns from x on those that lie within all edges: one piece, as everything is convex. */
static struct span span_of(const struct edge_row *e, uint32_t edges, uint32_t x, uint32_t n)
{
    double begin = x, end = (double)x + n;
    for (uint32_t i = 0; i < edges; i++) {
        narrow_to(&e[i].x, &e[i].z, e[i].width, &begin, &end);
        narrow_to(&e[i].y, &e[i].z, e[i].height, &begin, &end);
    }
    if (!(begin < end))
        return (struct span){0, 0};
    struct span s = {(uint32_t)(begin - x), (uint32_t)(end - x)};
    while (s.begin < s.end && !reaches(e, edges, (double)x + s.begin))
        s.begin++;
    while (s.begin < s.end && !reaches(e, edges, (double)x + s.end - 1))
        s.end--;
    return s;
}

static uint32_t nearest(double v, uint32_t size)
{
    return v < 0 ? 0 : v < size ? (uint32_t)(int64_t)v : size - 1;
}

/* A row that is only cropped, maybe mirrored, is copied: the same values as one by one, as halves
 * and whole numbers of this size are exact. False: it is another one. */
static bool copy_run(const uint16_t *row, uint32_t width, const struct line *l, double x,
                     uint32_t n, uint16_t *out)
{
    const double at = l->a * x + l->b, last = at + l->a * (n - 1.0);
    if ((l->a != 1 && l->a != -1) || n == 0 || floor(2 * l->b) != 2 * l->b ||
        !(fmin(at, last) >= 0 && fmax(at, last) < width))
        return false;
    row += (uint32_t)at;
    if (l->a > 0)
        memcpy(out, row, n * sizeof(*out));
    for (uint32_t i = 0; l->a < 0 && i < n; i++)
        out[i] = row[-(ptrdiff_t)i];
    return true;
}

/* With a perspective. */
static void
gather_by_z(const struct mask *from, const struct edge_row *r, double x, uint32_t n, uint16_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const double z = fmax(value_at(&r->z, x + i), PROJECTION_LEAST);
        const size_t sx = nearest(value_at(&r->x, x + i) / z, from->width);
        const size_t sy = nearest(value_at(&r->y, x + i) / z, from->height);
        out[i] = from->values[sy * from->width + sx];
    }
}

/* n values from column x on. */
static void
gather(const struct mask *from, const struct edge_row *place, double x, uint32_t n, uint16_t *out)
{
    const uint16_t *row = from->values;
    if (place->y.a == 0) /* nothing is turned */
        row += (size_t)nearest(place->y.b, from->height) * from->width;
    if (place->y.a == 0 && copy_run(row, from->width, &place->x, x, n, out))
        return;
    for (uint32_t i = 0; place->y.a == 0 && i < n; i++)
        out[i] = row[nearest(value_at(&place->x, x + i), from->width)];
    for (uint32_t i = 0; place->y.a != 0 && i < n; i++) {
        const size_t sx = nearest(value_at(&place->x, x + i), from->width);
        const size_t sy = nearest(value_at(&place->y, x + i), from->height);
        out[i] = row[sy * from->width + sx];
    }
}

void path_mask_row(const struct path_mask *m, uint32_t x, uint32_t y, uint32_t n, uint16_t *out)
{
    const struct path *p = m->path;
    const struct mask *from = m->from;
    double back[9], there[9];
    struct edge_row edges[PATH_EDGES];
    struct span span = {0, 0};
    if (projection_invert(p->m, back)) {
        for (uint32_t i = 0; i < p->edge_count; i++) {
            projection_compose(back, p->edges[i].m, there);
            edges[i] = row_of(there, y, p->edges[i].width, p->edges[i].height);
        }
        span = span_of(edges, p->edge_count, x, n);
        stored_of_upright(m->orientation, from, there);
        projection_compose(back, there, back);
        const struct edge_row place = row_of(back, y, from->width, from->height);
        (projection_is_affine(back) ? gather : gather_by_z)(
            from, &place, (double)x + span.begin, span.end - span.begin, out + span.begin);
    }
    for (uint32_t i = 0; i < n; i++)
        if (i < span.begin || i >= span.end)
            out[i] = m->nothing;
}
