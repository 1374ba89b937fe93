/* augment/geometry/path.c - affine maps composed; points, rectangles and masks moved by them. */
#include "augment/geometry/path.h"

#include "augment/geometry/orient.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* out = b after a. */
static void compose(const double a[6], const double b[6], double out[6])
{
    const double m[6] = {b[0] * a[0] + b[1] * a[3],        b[0] * a[1] + b[1] * a[4],
                         b[0] * a[2] + b[1] * a[5] + b[2], b[3] * a[0] + b[4] * a[3],
                         b[3] * a[1] + b[4] * a[4],        b[3] * a[2] + b[4] * a[5] + b[5]};
    memcpy(out, m, sizeof(m));
}

static bool invert(const double m[6], double out[6])
{
    const double k = m[0] * m[4] - m[1] * m[3];
    if (!(fabs(k) > 1e-12))
        return false;
    const double i[6] = {m[4] / k,  -m[1] / k, (m[1] * m[5] - m[4] * m[2]) / k,
                         -m[3] / k, m[0] / k,  (m[3] * m[2] - m[0] * m[5]) / k};
    memcpy(out, i, sizeof(i));
    return true;
}

static void apply(const double m[6], double *x, double *y)
{
    const double u = m[0] * *x + m[1] * *y + m[2], v = m[3] * *x + m[4] * *y + m[5];
    *x = u;
    *y = v;
}

/* Upright to stored, as in augment/geometry/orient.c. */
static void stored_of_upright(uint32_t o, const struct mask *stored, double m[6])
{
    const bool swaps = orient_swaps(o);
    const double x[3] = {!swaps, swaps, 0}, y[3] = {swaps, !swaps, 0};
    const double last_x = stored->width - 1.0, last_y = stored->height - 1.0;
    const bool flip_x = orient_flips_column(o), flip_y = orient_flips_row(o);
    for (int i = 0; i < 3; i++) {
        m[i] = (flip_x ? -x[i] : x[i]) + (i == 2 && flip_x ? last_x : 0);
        m[3 + i] = (flip_y ? -y[i] : y[i]) + (i == 2 && flip_y ? last_y : 0);
    }
}

/* ---- building ----------------------------------------------------------------------------- */

void path_begin(struct path *p, uint32_t width, uint32_t height)
{
    *p = (struct path){.m = {1, 0, 0, 0, 1, 0},
                       .from_width = width,
                       .from_height = height,
                       .width = width,
                       .height = height};
}

void path_add(struct path *p, const double m[6], uint32_t width, uint32_t height)
{
    compose(p->m, m, p->m);
    p->width = width;
    p->height = height;
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
    double back[6], m[6];
    stored_of_upright(orientation, &stored, back);
    if (invert(back, m))
        path_add(p, m, swaps ? p->height : p->width, swaps ? p->width : p->height);
}

void path_join(struct path *p, const struct path *next)
{
    for (uint32_t i = 0; i < next->edge_count && p->edge_count < PATH_EDGES; i++) {
        struct path_edge *e = &p->edges[p->edge_count++];
        *e = next->edges[i];
        compose(p->m, next->edges[i].m, e->m);
    }
    path_add(p, next->m, next->width, next->height);
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
    apply(p->m, x, y);
}

static bool inside(const double m[6], double x, double y, uint32_t width, uint32_t height)
{
    apply(m, &x, &y);
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
enum { CORNERS = 4 + 4 * (PATH_EDGES + 1) };
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

static void cut_edges(struct polygon *p, const double m[6], double width, double height)
{
    cut(p, m[0], m[1], m[2] + 0.5);
    cut(p, -m[0], -m[1], width - 0.5 - m[2]);
    cut(p, m[3], m[4], m[5] + 0.5);
    cut(p, -m[3], -m[4], height - 0.5 - m[5]);
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
        apply(p->m, &g->x[i], &g->y[i]);
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

/* x as a function of the column, in a row. */
struct line {
    double a, b;
};
struct edge_row {
    struct line x, y;
    double width, height;
};

static struct edge_row row_of(const double m[6], double y, double width, double height)
{
    return (struct edge_row){
        {m[0], m[1] * y + m[2] + 0.5}, {m[3], m[4] * y + m[5] + 0.5}, width, height};
}

static bool reaches(const struct edge_row *e, uint32_t n, double x)
{
    for (uint32_t i = 0; i < n; i++) {
        const double u = e[i].x.a * x + e[i].x.b, v = e[i].y.a * x + e[i].y.b;
        if (!(u >= 0 && u < e[i].width && v >= 0 && v < e[i].height))
            return false;
    }
    return true;
}

/* Where 0 <= a x + b < size, and up to two columns more on either side. */
static void narrow(const struct line *l, double size, double *begin, double *end)
{
    const double at = -l->b / l->a, to = (size - l->b) / l->a;
    if (l->a != 0) {
        *begin = fmax(*begin, floor(fmin(at, to)) - 1);
        *end = fmin(*end, ceil(fmax(at, to)) + 2);
    }
}

struct span {
    uint32_t begin, end;
};

/* Of n columns from x on those that lie within all edges: one piece, as everything is convex. */
static struct span span_of(const struct edge_row *e, uint32_t edges, uint32_t x, uint32_t n)
{
    double begin = x, end = (double)x + n;
    for (uint32_t i = 0; i < edges; i++) {
        narrow(&e[i].x, e[i].width, &begin, &end);
        narrow(&e[i].y, e[i].height, &begin, &end);
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
        out[i] = row[nearest(place->x.a * (x + i) + place->x.b, from->width)];
    for (uint32_t i = 0; place->y.a != 0 && i < n; i++) {
        const size_t sx = nearest(place->x.a * (x + i) + place->x.b, from->width);
        const size_t sy = nearest(place->y.a * (x + i) + place->y.b, from->height);
        out[i] = row[sy * from->width + sx];
    }
}

void path_mask_row(const struct path_mask *m, uint32_t x, uint32_t y, uint32_t n, uint16_t *out)
{
    const struct path *p = m->path;
    const struct mask *from = m->from;
    double back[6], there[6];
    struct edge_row edges[PATH_EDGES];
    struct span span = {0, 0};
    if (invert(p->m, back)) {
        for (uint32_t i = 0; i < p->edge_count; i++) {
            compose(back, p->edges[i].m, there);
            edges[i] = row_of(there, y, p->edges[i].width, p->edges[i].height);
        }
        span = span_of(edges, p->edge_count, x, n);
        stored_of_upright(m->orientation, from, there);
        compose(back, there, back);
        const struct edge_row place = row_of(back, y, from->width, from->height);
        gather(from, &place, (double)x + span.begin, span.end - span.begin, out + span.begin);
    }
    for (uint32_t i = 0; i < n; i++)
        if (i < span.begin || i >= span.end)
            out[i] = m->nothing;
}
