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
static uint32_t mcu_rows(const struct frame *p, const struct geometry *g, uint32_t end)
{
    const bool looks_below = g->colour && p->v == 2;
    const uint32_t last = (end - 1) % g->mcu_height;
    const uint32_t rows = divide_up(end, g->mcu_height);
    return at_most(rows + (looks_below && last + 2 >= g->mcu_height), g->down);
}

static void measure_plane(struct geometry *g, const struct frame *p, uint32_t component,
                          struct span x, struct span y)
{
    struct plane *c = &g->plane[component];
    const uint32_t h = component == 0 ? 1 : p->h, v = component == 0 ? 1 : p->v;
    c->width = divide_up(p->width, h);
    c->all = divide_up(p->height, v);
    c->mcus = blocks_of(samples_of(x, h, c->width), g->mcu_width / h);
    c->needed = blocks_of(samples_of(y, v, c->all), g->mcu_height / v);
}

void geometry_measure(struct geometry *g, const struct frame *p, struct imrec_rect r,
                      uint32_t channels)
{
    const struct span x = {p->h == 2 ? r.x & ~1u : r.x, r.x + r.width}, y = {r.y, r.y + r.height};
    g->mcu_width = BLOCK * p->h;
    g->mcu_height = BLOCK * p->v;
    g->across = divide_up(p->width, g->mcu_width);
    g->down = divide_up(p->height, g->mcu_height);
    g->colour = p->components == 3 && channels == 3;
    g->left = x.from;
    g->rows = channels == 0 ? g->down : mcu_rows(p, g, y.end);
    for (uint32_t i = 0; i < p->components; i++) {
        measure_plane(g, p, i, x, y);
        if (channels == 0 || (i > 0 && !g->colour))
            g->plane[i].mcus = (struct span){0, 0};
    }
    g->first = g->plane[0].mcus.from;
    if (g->colour)
        g->first = at_most(g->plane[1].mcus.from, g->first);
}
