/* data/scene_land.c - mountains and dunes: slopes in layers, the far ones in haze. */
#include "data/scenes.h"

struct slope {
    const int *top; /* the row where it begins, per column */
    struct colour low, high, snow;
    int snow_line; /* rows below the frame's top where snow ends; 0 = none */
    int haze;      /* 0..4096 */
    int relief;    /* of the rock */
};

static void
paint_slope(const struct canvas *c, const struct slope *s, const struct sky *sky, struct dice *d)
{
    const int cell = c->width / 5;
    struct field rock = noise_field(c, d, cell, cell * 2 / 3, 9, 156);
    struct field tint = noise_field(c, d, cell / 2, cell / 3, 6, 150);
    field_warp(&rock, &tint, &rock, c->width / 30);
    const int lx = sky->sun_x < c->width / 2 ? -300 : 300;
    for (int x = 0; x < c->width; x++) {
        for (int y = s->top[x] > 0 ? s->top[x] : 0; y < c->height; y++) {
            const int light = 3300 + field_shade(&rock, x, y, lx, 160, s->relief);
            const int t = clamp(2048 + field_at(&tint, x, y) / 6, 0, 4096);
            struct colour v = mix(s->low, s->high, t);
            if (s->snow_line > 0) {
                const int line = s->snow_line + field_at(&rock, x, y) * c->height / 90000;
                v = mix(v, s->snow, 4096 - smooth(y, line - 8, line + c->height / 24));
            }
            put(c, x, y, mix(lit(v, clamp(light, 900, 6500)), sky->horizon, s->haze));
        }
    }
    field_free(&rock);
    field_free(&tint);
}

/* Fir trees along the near slope: dark spikes of uneven light. */
static void paint_firs(const struct canvas *c, const int *top, struct dice *d)
{
    const struct colour dark = varied(RGB(28, 46, 30), 900, d),
                        light = varied(RGB(70, 92, 46), 900, d);
    const int count = c->width * dice_between(d, 1, 4) / 2;
    for (int i = 0; i < count; i++) {
        const int x = dice_between(d, 0, c->width - 1);
        const int depth = i * 4096 / count; /* the far ones first */
        const int foot = top[x] + (c->height - top[x]) * depth / 4096;
        const int tall =
            (c->height / 30 + c->height * depth / 40000) * dice_between(d, 60, 150) / 100;
        for (int k = 0; k < 12; k++) {
            const int y = foot - tall * k / 12, half = tall * (12 - k) / 40 + 1;
            const int way = (k & 1) ? 1 : -1;
            const struct colour root = varied(dark, 1000, d);
            const struct colour tip = varied(mix(dark, light, 2000), 1500, d);
            paint_stroke(c,
                         &(struct stroke){x * 16 - way * half * 8, y * 16, x * 16 + way * half * 16,
                                          y * 16 + half * 6, 0, 16 + tall, root, tip});
        }
    }
}

void paint_mountains(const struct canvas *c, struct dice *d)
{
    static int rows[4096];
    const struct sky sky = sky_draw(c, d);
    const int w = c->width, h = c->height, layers = dice_between(d, 2, 4);
    paint_sky(c, &sky, h * 3 / 5, d);
    const struct colour rock = varied(RGB(96, 92, 92), 900, d),
                        grass = varied(RGB(84, 98, 56), 900, d);
    const bool snow = dice_percent(d, 65);
    for (int i = 0; i < layers; i++) {
        const int top = h * (14 + 48 * i / layers + dice_between(d, -5, 5)) / 100;
        skyline(rows, w, top, top + h * 38 / 100, w * dice_between(d, 35, 70) / 100, 9,
                i + 1 < layers, d);
        const int near = 4096 * (i + 1) / layers;
        paint_slope(
            c,
            &(struct slope){rows, mix(lit(rock, 2600), lit(grass, 2300), near),
                            mix(rock, grass, near), RGB(238, 242, 248),
                            snow && i + 1 < layers ? top + h * dice_between(d, 12, 26) / 100 : 0,
                            3000 * (layers - 1 - i) / layers, 420},
            &sky, d);
    }
    if (dice_percent(d, 75))
        paint_firs(c, rows, d);
}

struct ripples {
    int across, along; /* px a wave, px over which its course bends */
    int height;
};

static void paint_dune(const struct canvas *c, const int *crest, const struct ripples *r,
                       struct colour sunny, struct colour shade, struct dice *d)
{
    struct field bend = noise_field(c, d, r->along, r->along / 4, 5, 120);
    struct field grains = noise_field(c, d, 4, 4, 3, 230);
    static int lee[4096]; /* how far down the shadow side reaches */
    skyline(lee, c->width, -c->height / 10, c->height / 4, c->width / 3, 4, false, d);
    for (int x = 0; x < c->width; x++) {
        const int next = crest[x + 8 < c->width ? x + 8 : x] - crest[x > 7 ? x - 8 : x];
        for (int y = crest[x] > 0 ? crest[x] : 0; y < c->height; y++) {
            const int below = y - crest[x];
            const int turn = (below * 8 + x) * 128 / r->across + field_at(&bend, x, y) / 14;
            const int wave = sine(turn) * r->height >> 12;
            const int lit_side = smooth(below - lee[x], -4, 4 + c->height / 100);
            const int face = clamp(3700 + next * 60 - below * 900 / c->height, 2000, 5000);
            const int grain = field_at(&grains, x, y) / 28;
            struct colour v =
                lit(mix(shade, sunny, lit_side), face + (wave * (1024 + lit_side) >> 12));
            put(c, x, y, lit(v, 4096 + grain));
        }
    }
    field_free(&bend);
    field_free(&grains);
}

void paint_dunes(const struct canvas *c, struct dice *d)
{
    static int crest[4096];
    static const struct colour sands[4] = {RGB(214, 160, 98), RGB(226, 190, 140), RGB(190, 116, 70),
                                           RGB(222, 204, 170)};
    struct sky sky = sky_draw(c, d);
    sky.cover = dice_between(d, 0, 1200);
    const int h = c->height, layers = dice_between(d, 2, 4);
    paint_sky(c, &sky, h / 2, d);
    const struct colour sand = varied(sands[dice_between(d, 0, 3)], 500, d);
    for (int i = 0; i < layers; i++) {
        const int top = h * (22 + 55 * i / layers) / 100;
        skyline(crest, c->width, top - h / 8, top + h / 3,
                c->width * dice_between(d, 50, 110) / 100, 2, false, d);
        const int haze = 1600 * (layers - 1 - i) / layers;
        const struct ripples r = {6 + h * (i + 1) / (60 * layers) * 2, c->width / 4,
                                  dice_between(d, 250, 700) * (i + 1) / layers};
        const struct colour shadow = mix(lit(sand, dice_between(d, 1500, 2400)), sky.zenith, 500);
        paint_dune(c, crest, &r, mix(sand, sky.horizon, haze), mix(shadow, sky.horizon, haze), d);
    }
}
