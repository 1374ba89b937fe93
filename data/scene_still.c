/* data/scene_still.c - fruit on a table, and pebbles. */
#include "data/scenes.h"

#include <stdlib.h>

static void paint_table(const struct canvas *c, int edge, struct dice *d)
{
    static const struct colour woods[4] = {RGB(150, 104, 66), RGB(98, 64, 42), RGB(196, 160, 116),
                                           RGB(214, 210, 204)};
    const struct colour wood = varied(woods[dice_between(d, 0, 3)], 500, d);
    struct field grain = noise_field(c, d, c->width / 2, 10, 6, 180),
                 pores = noise_field(c, d, 30, 3, 3, 200);
    const int plank = c->height / 6;
    for (int y = edge; y < c->height; y++) {
        const int board = (y - edge) * (c->height + y) / (plank * c->height);
        const int next = (y + 1 - edge) * (c->height + y + 1) / (plank * c->height);
        for (int x = 0; x < c->width; x++) {
            const int rings = sine(field_at(&grain, x, y) / 6 + board * 377) / 12;
            const int light = 3500 + rings + field_at(&pores, x, y) / 32 + (board * 787 % 500) +
                              (y - edge) * 800 / c->height;
            put(c, x, y, lit(wood, next != board ? 1500 : clamp(light, 800, 6500)));
        }
    }
    field_free(&grain);
    field_free(&pores);
}

struct fruit {
    int x, y, r, squash; /* px; squash: height in percent of width */
    struct colour skin, blush;
    int gloss, bumps;
    uint32_t seed;
};

static void paint_shadow(const struct canvas *c, const struct fruit *f)
{
    const int a = f->r * 5 / 4, b = f->r / 2, cy = f->y + f->r * f->squash / 112,
              cx = f->x + f->r / 3;
    for (int y = clamp(cy - b, 0, c->height); y < clamp(cy + b, 0, c->height); y++)
        for (int x = clamp(cx - a, 0, c->width); x < clamp(cx + a, 0, c->width); x++) {
            const int64_t u = (int64_t)(x - cx) * 4096 / a, v = (int64_t)(y - cy) * 4096 / b;
            const int far = (int)((u * u + v * v) >> 12);
            put(c, x, y, lit(get(c, x, y), 4096 - smooth(4096 - far, 0, 4096) * 11 / 16));
        }
}

static void
paint_fruit_body(const struct canvas *c, const struct fruit *f, const struct field *skin)
{
    const int ry = f->r * f->squash / 100;
    const int from = 65536 + ((int)(f->seed & 15) - 8) * 1000; /* the middle of the skin's field */
    for (int y = clamp(f->y - ry - 1, 0, c->height); y < clamp(f->y + ry + 2, 0, c->height); y++) {
        for (int x = clamp(f->x - f->r - 1, 0, c->width); x < clamp(f->x + f->r + 2, 0, c->width);
             x++) {
            const int nx = (x - f->x) * 4096 / f->r, ny = (y - f->y) * 4096 / ry;
            const int flat = (int)(((int64_t)nx * nx + (int64_t)ny * ny) >> 12);
            const int cover = 4096 - smooth(flat, 4096 - 8192 / f->r, 4096 + 8192 / f->r);
            if (cover == 0)
                continue;
            const int nz = root((uint64_t)(flat < 4096 ? 4096 - flat : 0) << 12);
            const int wrap =
                4096 + (4096 - nz) / 2; /* the skin's pattern narrows towards the rim */
            const int spots = field_sample(skin, from + (int)((int64_t)nx * wrap >> 9),
                                           from + (int)((int64_t)ny * wrap >> 9));
            const int toward =
                (-nx * 2 - ny * 3 + nz * 3) / 5; /* the light: upper left, in front */
            const int diffuse = clamp(toward, 0, 4096), gleam = smooth(toward, 3420, 3660);
            const int blush = smooth(nx + ny / 2 + spots / 9, -2600, 2600);
            struct colour v = mix(f->skin, f->blush, blush);
            v = lit(v, 950 + diffuse * 7 / 8 + (spots * f->bumps >> 13) + (4096 - nz) / 12);
            v = mix(v, RGB(255, 252, 246), (int)((int64_t)gleam * f->gloss >> 12));
            blend(c, x, y, v, cover);
        }
    }
}

static struct fruit draw_fruit(struct dice *d, int kind, int r)
{
    static const struct {
        struct colour skin, blush;
        int squash, gloss, bumps, size;
    } kinds[6] = {
        {RGB(196, 42, 40), RGB(226, 170, 70), 94, 2600, 260, 100}, /* apple */
        {RGB(240, 138, 32), RGB(246, 160, 50), 98, 1500, 220, 96}, /* orange */
        {RGB(110, 150, 46), RGB(158, 176, 60), 92, 2400, 240, 92}, /* green apple */
        {RGB(92, 44, 84), RGB(130, 60, 90), 112, 1300, 300, 66},   /* plum */
        {RGB(238, 206, 62), RGB(248, 224, 96), 78, 1500, 340, 82}, /* lemon */
        {RGB(212, 120, 92), RGB(240, 190, 120), 97, 500, 380, 90}, /* peach */
    };
    struct fruit f = {.r = r * kinds[kind].size / 100,
                      .squash = kinds[kind].squash,
                      .gloss = kinds[kind].gloss,
                      .bumps = kinds[kind].bumps};
    f.skin = varied(kinds[kind].skin, 350, d);
    f.blush = varied(kinds[kind].blush, 350, d);
    f.seed = dice_roll(d);
    return f;
}

void paint_fruit(const struct canvas *c, struct dice *d)
{
    const int edge = c->height * dice_between(d, 28, 52) / 100, count = dice_between(d, 3, 11);
    struct colour wall;
    wall.r = dice_between(d, 900, 3400);
    wall.g = dice_between(d, 900, 3200);
    wall.b = dice_between(d, 900, 3200);
    struct field plaster = noise_field(c, d, c->width / 2, c->height / 2, 9, 150);
    for (int y = 0; y < edge; y++)
        for (int x = 0; x < c->width; x++)
            put(c, x, y,
                lit(wall, 3300 + field_at(&plaster, x, y) / 20 + (c->width - x) * 1200 / c->width));
    canvas_blur(c, 0, edge, 2);
    paint_table(c, edge, d);
    struct field skin;
    field_init(&skin, 512, 512);
    field_noise(&skin,
                &(struct noise){
                    .seed = dice_roll(d), .cell_x = 64, .cell_y = 64, .octaves = 6, .gain = 190});
    const int usual = dice_between(d, 0, 5), base = c->height * dice_between(d, 11, 22) / 100;
    for (int i = 0; i < count; i++) {
        const int depth = 4096 * i / count;
        struct fruit f = draw_fruit(d, dice_percent(d, 55) ? usual : dice_between(d, 0, 5),
                                    base * (4096 + depth) / 6000 + 4);
        f.x = dice_between(d, c->width / 10, c->width * 9 / 10);
        f.y = edge + (c->height - edge) * (depth * 3 / 4 + 200) / 4096 - f.r / 4;
        paint_shadow(c, &f);
        paint_fruit_body(c, &f, &skin);
        if (f.gloss > 2000)
            paint_stroke(c, &(struct stroke){f.x * 16, (f.y - f.r * f.squash / 125) * 16,
                                             (f.x + f.r / 6) * 16, (f.y - f.r * f.squash / 80) * 16,
                                             f.r, f.r, RGB(74, 52, 30), RGB(110, 84, 52)});
    }
    field_free(&skin);
    field_free(&plaster);
}

struct stone {        /* the two cell centres that are nearest to a pixel */
    int near, second; /* distances, 1/16 px */
    uint32_t id;
    int dx, dy;
};

static struct stone nearest_stones(uint32_t seed, int x, int y, int cell) /* Worley 1996 */
{
    struct stone s = {1 << 20, 1 << 20, 0, 0, 0};
    const int cx = x / cell, cy = y / cell;
    int64_t near = INT64_MAX, second = INT64_MAX;
    for (int j = cy - 1; j <= cy + 1; j++) {
        for (int i = cx - 1; i <= cx + 1; i++) {
            const uint32_t bits = hash_at(seed, i, j);
            const int dx = x - i * cell - (int)(bits & 0xffff) * cell / 65536,
                      dy = y - j * cell - (int)(bits >> 16) * cell / 65536;
            const int64_t far = (int64_t)dx * dx + (int64_t)dy * dy;
            if (far < near) {
                second = near;
                near = far;
                s.id = bits;
                s.dx = dx;
                s.dy = dy;
            } else if (far < second) {
                second = far;
            }
        }
    }
    s.near = root((uint64_t)near);
    s.second = root((uint64_t)second);
    return s;
}

static struct colour stone_colour(uint32_t id, struct colour tone)
{
    static const struct colour kinds[6] = {RGB(134, 128, 120), RGB(104, 100, 98),
                                           RGB(170, 160, 146), RGB(150, 116, 90),
                                           RGB(90, 92, 102),   RGB(206, 202, 194)};
    const uint32_t bits = hash_at(id, 7, 9);
    return mix(lit(kinds[bits % 6], 3300 + (int)(bits >> 8 & 1535)), tone, 900);
}

void paint_pebbles(const struct canvas *c, struct dice *d)
{
    const int cell = c->height * dice_between(d, 60, 190) / 1000 * 16 + 64;
    const uint32_t seed = dice_roll(d);
    const struct colour tone = varied(RGB(150, 142, 130), 1400, d);
    struct field rough = noise_field(c, d, 26, 20, 6, 200),
                 sway = noise_field(c, d, cell / 16, cell / 16, 3, 128);
    struct field vein = noise_field(c, d, cell / 20, cell / 30, 5, 150);
    const int wet = dice_between(d, 0, 2600);
    for (int y = 0, i = 0; y < c->height; y++) {
        for (int x = 0; x < c->width; x++, i++) {
            const struct stone s =
                nearest_stones(seed, x * 16 + sway.v[i] * cell / 240000 + 4 * cell,
                               y * 16 + sway.v[i] * cell / 300000 + 4 * cell, cell);
            const int rim = (s.second - s.near) * 4096 / cell; /* 0 in the cracks */
            const int round = smooth(rim, 0, 2200);
            const int tilt = (-s.dx * 3 - s.dy * 4) * 2200 / (5 * cell / 2) * (4600 - round) / 4096;
            const int light =
                2900 + tilt + field_shade(&rough, x, y, 220, 260, 70) + vein.v[i] / 40;
            struct colour v = stone_colour(s.id, tone);
            const int band = smooth(vein.v[i] + (int)(s.id & 8191), 12000, 15000);
            v = mix(v, RGB(222, 216, 204), (s.id & 3) == 0 ? band / 2 : 0);
            v = lit(v, clamp(light * (800 + round * 4200 / 4096) >> 12, 250, 7000));
            const int gleam = smooth(tilt + field_at(&rough, x, y) / 40, 1300, 2300);
            put(c, x, y, mix(v, RGB(250, 250, 250), (int)((int64_t)gleam * wet >> 13)));
        }
    }
    field_free(&rough);
    field_free(&sway);
    field_free(&vein);
}
