/* codec/jpeg/geometry.c - which blocks of an image are made for a region, and where their
 * samples are kept. */
#include "codec/jpeg/geometry.h"

/* Samples of a plane that pixels [from, end) are made of, of which `by` come from one. */
static struct span samples_of(struct span pixels, uint32_t by, bool is_smooth, uint32_t all)
{
    if (by == 2 && is_smooth) /* the nearest one, and the next nearest on its other side */
        return (struct span){pixels.from > 0 ? (pixels.from - 1) / 2 : 0,
                             at_most(pixels.end / 2 + 1, all)};
    return (struct span){pixels.from / by, divide_up(pixels.end, by)};
}

static struct span blocks_of(struct span samples, uint32_t size)
{
    return (struct span){samples.from / size, divide_up(samples.end, size)};
}

/* Rows of MCUs that are read: libjpeg reads the next one as soon as one of the last rows has been
 * asked for that are made of the last row of samples. */
static uint32_t mcu_rows(const struct geometry *g, const struct frame *p, uint32_t end)
{
    const uint32_t last = (end - 1) % g->height;
    const uint32_t rows = divide_up(end, g->height) + (g->looks_below && last + p->v >= g->height);
    return at_most(divide_up(rows, p->grey_rows) * p->grey_rows, g->down);
}

/* Samples of a block's side of a component. As libjpeg scales: what is halved both ways is taken
 * from more coefficients instead. */
static uint32_t block_of(const struct frame *p, uint32_t component, uint32_t block)
{
    const uint32_t across = p->h / p->across[component], down = p->v / p->down[component];
    uint32_t times = 1;
    while (block * times < BLOCK && across % (2 * times) == 0 && down % (2 * times) == 0)
        times *= 2;
    return block * times;
}

/* What libjpeg interpolates: no chroma of one or two columns in 4:2:2 and 4:2:0, and nothing where
 * a block is one sample. */
static bool is_smooth(const struct plane *c, uint32_t block)
{
    if (block == 1 || c->across > 2 || c->down > 2)
        return false;
    return c->across == 2 ? c->width > 2 : c->down == 2;
}

static void measure_blocks(struct geometry *g, const struct frame *p, uint32_t denominator)
{
    const uint32_t block = BLOCK / denominator;
    g->across = divide_up(p->width, BLOCK * p->h);
    g->down = divide_up(p->height, BLOCK * p->v);
    g->height = p->v * block;
    for (uint32_t i = 0; i < p->components; i++) {
        struct plane *c = &g->plane[i];
        c->h = p->across[i];
        c->v = p->down[i];
        c->block = block_of(p, i, block);
        c->across = p->h * block / (c->h * c->block);
        c->down = p->v * block / (c->v * c->block);
        c->width = divide_up(p->width * c->h * c->block, BLOCK * p->h);
        c->all = divide_up(p->height * c->v * c->block, BLOCK * p->v);
        c->is_smooth = is_smooth(c, block);
    }
}

static bool is_plain(const struct geometry *g, const struct frame *p, uint32_t channels)
{
    const struct plane *y = &g->plane[0], *cb = &g->plane[1], *cr = &g->plane[2];
    if (p->colour != COLOUR_YCC || channels != 3 || y->across != 1 || y->down != 1 ||
        cb->across != cr->across || cb->down != cr->down)
        return false;
    return cb->down <= cb->across && cb->is_smooth == (cb->across == 2) && cb->across <= 2;
}

static void measure_plane(struct geometry *g, uint32_t component, struct span x, struct span y)
{
    struct plane *c = &g->plane[component];
    const struct span columns = samples_of(x, c->across, c->is_smooth, c->width);
    c->mcus = blocks_of(columns, c->h * c->block);
    c->needed = blocks_of(samples_of(y, c->down, c->is_smooth, c->all), c->v * c->block);
}

void geometry_measure(struct geometry *g, const struct frame *p,
                      const struct geometry_request *request)
{
    const struct imrec_rect r = request->region;
    const uint32_t channels = request->channels;
    measure_blocks(g, p, request->denominator);
    g->is_plain = is_plain(g, p, channels);
    g->colour = p->components > 1 && (channels > 1 || (channels == 1 && p->colour != COLOUR_YCC));
    g->left = g->is_plain && g->plane[1].across == 2 ? r.x & ~1u : r.x;
    const struct span x = {g->left, r.x + r.width}, y = {r.y, r.y + r.height};
    g->looks_below = false;
    g->first = g->across;
    for (uint32_t i = 0; i < p->components; i++) {
        struct plane *c = &g->plane[i];
        measure_plane(g, i, x, y);
        if (channels == 0 || (i > 0 && !g->colour)) {
            c->mcus = (struct span){0, 0};
            continue;
        }
        g->looks_below |= c->is_smooth && c->down == 2;
        g->first = at_most(c->mcus.from, g->first);
    }
    g->first = channels == 0 ? 0 : g->first;
    g->rows = channels == 0 ? g->down : mcu_rows(g, p, y.end);
}

uint32_t plane_far_row(const struct plane *c, uint32_t y)
{
    if (y % 2 == 0)
        return y > 0 ? y / 2 - 1 : 0;
    return at_most(y / 2 + 1, c->all - 1);
}
