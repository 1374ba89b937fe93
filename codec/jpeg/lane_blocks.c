/* codec/jpeg/lane_blocks.c - what lanes decode of an image, and samples of what they have
 * decoded. */
#include "codec/jpeg/lane_blocks.h"

#include <string.h>

enum { BLOCK_SIZE = BLOCK * BLOCK };

/* ---- what is wanted ------------------------------------------------------------------------- */

uint32_t mcu_blocks(const struct frame *f)
{
    return f->components == 1 ? 1 : f->h * f->v + 2;
}

enum lane_mcu lane_mcu_of(const struct frame *f)
{
    if (f->components == 1)
        return LANE_GREY;
    return f->h * f->v == 4 ? LANE_LUMA_4 : f->h * f->v == 2 ? LANE_LUMA_2 : LANE_LUMA_1;
}

bool lanes_suit(const struct frame *f)
{
    const uint32_t luma = f->h * f->v;
    if (f->components != 3)
        return f->components == 1;
    return (luma == 1 || luma == 2 || luma == 4) && f->dc_of[1] == f->dc_of[2] &&
           f->ac_of[1] == f->ac_of[2] && f->across[0] == f->h && f->down[0] == f->v &&
           f->across[1] * f->down[1] * f->across[2] * f->down[2] == 1;
}

static uint32_t kinds_of(const struct frame *f)
{
    return f->components == 1 ? 1 : 2;
}

bool lanes_have_tables(const struct lane_tables *t, const struct frame *f)
{
    for (uint32_t i = 0; i < kinds_of(f); i++)
        if (!lane_tables_are(t, i, &f->ac[f->ac_of[i]], &f->dc[f->dc_of[i]]))
            return false;
    return true;
}

bool lanes_make_tables(struct lane_tables *t, const struct frame *f)
{
    for (uint32_t i = 0; i < kinds_of(f); i++)
        if (!lane_tables_make(t, i, &f->ac[f->ac_of[i]], &f->dc[f->dc_of[i]]))
            return false;
    return true;
}

struct span wanted_columns(const struct frame *f, const struct jpeg_planes *p, uint32_t y)
{
    struct span s = {p->g.across, 0};
    for (uint32_t i = 0; i < f->components; i++) {
        const struct plane *c = &p->g.plane[i];
        if (!span_holds(c->needed, y) || c->mcus.from >= c->mcus.end)
            continue;
        s.from = at_most(c->mcus.from, s.from);
        s.end = c->mcus.end > s.end ? c->mcus.end : s.end;
    }
    return s;
}

struct span wanted_intervals(const struct frame *f, struct span columns)
{
    if (columns.from >= columns.end)
        return (struct span){0, 0};
    return (struct span){columns.from / f->restart, divide_up(columns.end, f->restart)};
}

/* ---- coefficients to samples ---------------------------------------------------------------- */

void lane_blocks_aim(const struct frame *f, const struct jpeg_planes *p, uint32_t y,
                     struct block_target *target)
{
    const struct geometry *g = &p->g;
    const uint32_t blocks = mcu_blocks(f), luma = blocks == 1 ? 1 : blocks - 2;
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t c = i < luma ? 0 : i - luma + 1;
        const struct plane *plane = &g->plane[c];
        const uint32_t across = c == 0 ? i % plane->h : 0, down = c == 0 ? i / plane->h : 0;
        const bool wanted = span_holds(plane->needed, y) && plane->mcus.from < plane->mcus.end;
        target[i] = (struct block_target){.quant = f->quant[f->quant_of[c]],
                                          .component = c,
                                          .stride = plane->stride,
                                          .step = (size_t)plane->h * plane->block};
        if (!wanted)
            continue;
        target[i].mcus = plane->mcus;
        target[i].out =
            plane_block(g, c, y * plane->v + down, plane->mcus.from * plane->h + across);
    }
}

/* DC of blocks [from, end) of the MCUs, which are those of one component, out of its differences.
 */
static bool add_up(uint32_t blocks, uint32_t mcus, struct span of, int32_t *dc, int16_t *zigzag)
{
    int32_t sum = *dc;
    for (uint32_t x = 0; x < mcus; x++, zigzag += (size_t)blocks * BLOCK_SIZE)
        for (uint32_t b = of.from; b < of.end; b++) {
            int16_t *difference = zigzag + (size_t)b * BLOCK_SIZE;
            sum += *difference;
            if (sum != (int16_t)sum)
                return false;
            *difference = (int16_t)sum;
        }
    *dc = sum;
    return true;
}

static bool add_up_all(uint32_t blocks, uint32_t mcus, int32_t *dc, int16_t *zigzag)
{
    const uint32_t luma = blocks == 1 ? 1 : blocks - 2;
    if (!add_up(blocks, mcus, (struct span){0, luma}, &dc[0], zigzag))
        return false;
    for (uint32_t b = luma; b < blocks; b++)
        if (!add_up(blocks, mcus, (struct span){b, b + 1}, &dc[b - luma + 1], zigzag))
            return false;
    return true;
}

static void clear_blocks(int16_t *coef, size_t apart, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, coef += apart)
        memset(coef, 0, BLOCK_SIZE * sizeof(*coef));
}

/* The blocks of one place of the strip's MCUs. */
static void transform(const struct jpeg_planes *p, const struct strip *s,
                      const struct block_target *target, size_t apart, int16_t *zigzag)
{
    const uint32_t end = s->first + s->mcus;
    const uint32_t from = target->mcus.from > s->first ? target->mcus.from : s->first;
    const uint32_t to = at_most(target->mcus.end, end);
    if (from >= to) {
        clear_blocks(zigzag, apart, s->mcus);
        return;
    }
    clear_blocks(zigzag, apart, from - s->first);
    clear_blocks(zigzag + (to - s->first) * apart, apart, end - to);
    const struct block_run r = {.coef = zigzag + (from - s->first) * apart,
                                .apart = apart,
                                .n = to - from,
                                .quant = target->quant,
                                .out = target->out + (from - target->mcus.from) * target->step,
                                .stride = target->stride,
                                .step = target->step};
    planes_transform(p, target->component, &r);
}

bool lane_blocks_transform(const struct frame *f, const struct jpeg_planes *p,
                           const struct block_target *target, const struct strip *s, int32_t *dc,
                           int16_t *zigzag)
{
    const uint32_t blocks = mcu_blocks(f);
    if (!add_up_all(blocks, s->mcus, dc, zigzag))
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        transform(p, s, &target[b], (size_t)blocks * BLOCK_SIZE, zigzag + b * BLOCK_SIZE);
    return true;
}
