/* codec/jpeg/geometry.c - which blocks of an image are made for a region, and where their
 * samples are kept. */
#include "codec/jpeg/geometry.h"

/* Samples of a plane, halved by `by`, that pixels [from, end) are made of. */
static struct span samples_of(struct span pixels, uint32_t by, uint32_t all)
{
    struct span s = pixels;
    if (by == 2) { /* the nearest one, and the next nearest on its other side */
        s.from = pixels.from > 0 ? (pixels.from - 1) / 2 : 0;
        s.end = at_most(pixels.end / 2 + 1, all);
    }
    return s;
}

static struct span blocks_of(struct span samples, uint32_t size)
{
    return (struct span){samples.from / size, divide_up(samples.end, size)};
}

/* Rows of MCUs that are read: libjpeg reads the next one as soon as the upper of the two rows that
 * share the last chroma row has been asked for. */
static uint32_t mcu_rows(const struct geometry *g, uint32_t end)
{
    const bool looks_below = g->colour && g->v == 2;
    const uint32_t height = g->plane[0].v * g->plane[0].block;
    const uint32_t last = (end - 1) % height;
    const uint32_t rows = divide_up(end, height);
    return at_most(rows + (looks_below && last + 2 >= height), g->down);
}

/* As libjpeg scales: chroma that is halved both ways is taken from more coefficients instead. */
static void measure_blocks(struct geometry *g, const struct frame *p, uint32_t denominator)
{
    const bool halved = p->h == 2 && p->v == 2, evens = halved && denominator > 1;
    const uint32_t block = BLOCK / denominator;
    g->h = evens ? 1 : p->h;
    g->v = evens ? 1 : p->v;
    for (uint32_t i = 0; i < p->components; i++) {
        struct plane *c = &g->plane[i];
        c->h = i == 0 ? p->h : 1;
        c->v = i == 0 ? p->v : 1;
        c->block = i > 0 && evens ? 2 * block : block;
        c->width = divide_up(p->width * c->h * c->block, BLOCK * p->h);
        c->all = divide_up(p->height * c->v * c->block, BLOCK * p->v);
    }
}

static void measure_plane(struct geometry *g, uint32_t component, struct span x, struct span y)
{
    struct plane *c = &g->plane[component];
    const uint32_t h = component == 0 ? 1 : g->h, v = component == 0 ? 1 : g->v;
    c->mcus = blocks_of(samples_of(x, h, c->width), c->h * c->block);
    c->needed = blocks_of(samples_of(y, v, c->all), c->v * c->block);
}

void geometry_measure(struct geometry *g, const struct frame *p,
                      const struct geometry_request *request)
{
    const struct imrec_rect r = request->region;
    const uint32_t channels = request->channels;
    measure_blocks(g, p, request->denominator);
    const struct span x = {g->h == 2 ? r.x & ~1u : r.x, r.x + r.width}, y = {r.y, r.y + r.height};
    g->across = divide_up(p->width, BLOCK * p->h);
    g->down = divide_up(p->height, BLOCK * p->v);
    g->colour = p->components == 3 && channels == 3;
    g->left = x.from;
    g->rows = channels == 0 ? g->down : mcu_rows(g, y.end);
    for (uint32_t i = 0; i < p->components; i++) {
        measure_plane(g, i, x, y);
        if (channels == 0 || (i > 0 && !g->colour))
            g->plane[i].mcus = (struct span){0, 0};
    }
    g->first = g->plane[0].mcus.from;
    if (g->colour)
        g->first = at_most(g->plane[1].mcus.from, g->first);
}
