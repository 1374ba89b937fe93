/* data/scene_sky.c - skies, and images of nothing else. */
#include "data/scenes.h"

const struct scene scenes[SCENES] = {
    {"bricks", paint_bricks}, {"city", paint_city},           {"clouds", paint_clouds},
    {"dunes", paint_dunes},   {"flowers", paint_flowers},     {"forest", paint_forest},
    {"fruit", paint_fruit},   {"mountains", paint_mountains}, {"pebbles", paint_pebbles},
    {"sea", paint_sea},
};

struct field
noise_field(const struct canvas *c, struct dice *d, int cell_x, int cell_y, int octaves, int gain)
{
    struct field f;
    field_init(&f, c->width, c->height);
    field_noise(&f, &(struct noise){.seed = dice_roll(d),
                                    .cell_x = cell_x > 1 ? cell_x : 1,
                                    .cell_y = cell_y > 1 ? cell_y : 1,
                                    .octaves = octaves,
                                    .gain = gain});
    return f;
}

void skyline(int *rows, int n, int top, int bottom, int cell, int octaves, bool ridged,
             struct dice *d)
{
    static int16_t line[4096];
    line_noise(line, n,
               &(struct noise){.seed = dice_roll(d),
                               .cell_x = cell > 1 ? cell : 1,
                               .cell_y = cell > 1 ? cell : 1,
                               .octaves = octaves,
                               .gain = 120,
                               .ridged = ridged});
    for (int x = 0; x < n; x++)
        rows[x] = bottom - (int)((int64_t)(line[x] + FIELD_TOP) * (bottom - top) / (2 * FIELD_TOP));
}

struct sky sky_draw(const struct canvas *c, struct dice *d)
{
    static const struct {
        struct colour zenith, horizon, cloud, shadow;
        bool low_sun;
    } hours[] = {
        {RGB(52, 98, 172), RGB(178, 205, 228), RGB(250, 250, 250), RGB(150, 160, 176), false},
        {RGB(30, 78, 160), RGB(140, 184, 222), RGB(252, 252, 250), RGB(132, 146, 168), false},
        {RGB(120, 134, 150), RGB(196, 202, 206), RGB(222, 224, 226), RGB(104, 110, 120), false},
        {RGB(46, 60, 108), RGB(246, 166, 96), RGB(252, 190, 130), RGB(92, 72, 96), true},
        {RGB(70, 84, 138), RGB(240, 196, 170), RGB(250, 214, 200), RGB(120, 106, 134), true},
        {RGB(22, 32, 70), RGB(196, 96, 66), RGB(236, 120, 84), RGB(44, 36, 58), true},
    };
    const int i = dice_between(d, 0, 5);
    struct sky s = {.cloud = hours[i].cloud, .low_sun = hours[i].low_sun};
    s.zenith = varied(hours[i].zenith, 500, d);
    s.horizon = varied(hours[i].horizon, 300, d);
    s.shadow = varied(hours[i].shadow, 400, d);
    s.sun_x = dice_between(d, 0, c->width);
    s.sun_y = dice_between(d, c->height / 12, c->height / 3);
    s.cover = dice_between(d, 300, 2900);
    return s;
}

static struct colour sky_colour(const struct sky *s, int x, int y, int horizon, int size)
{
    const int t = clamp(y * 4096 / (horizon > 0 ? horizon : 1), 0, 4096);
    const struct colour base = mix(s->zenith, s->horizon, t * (t + 2048) / 6144);
    const int64_t dx = x - s->sun_x, dy = y - s->sun_y;
    const int away = root((uint64_t)(dx * dx + dy * dy));
    const int glow = 4096 * size / (size + 5 * away);
    return mix(base, s->low_sun ? RGB(255, 214, 150) : RGB(255, 252, 244), glow * glow >> 12);
}

void paint_sky(const struct canvas *c, const struct sky *s, int horizon, struct dice *d)
{
    const int cell = c->width * dice_between(d, 30, 70) / 100;
    struct field cloud = noise_field(c, d, cell, cell / 2, 9, 122);
    struct field fold = noise_field(c, d, cell / 3, cell / 4, 4, 128);
    field_warp(&cloud, &fold, &cloud, c->width / 12);
    const int edge = 9000 - s->cover * 5; /* noise above it is cloud */
    const int lx = s->sun_x > c->width / 2 ? -256 : 256;
    for (int y = 0; y < horizon && y < c->height; y++) {
        for (int x = 0; x < c->width; x++) {
            const struct colour clear = sky_colour(s, x, y, horizon, c->width);
            const int v = field_at(&cloud, x, y);
            const int cover = smooth(v, edge, edge + 9000);
            if (cover == 0) {
                put(c, x, y, clear);
                continue;
            }
            const int thick = smooth(v, edge + 2000, edge + 20000);
            const int slope = field_shade(&cloud, x, y, lx, 300, 110);
            const int light = clamp(3900 - thick * 3 / 4 + slope, 0, 4096);
            put(c, x, y, mix(clear, mix(s->shadow, s->cloud, light), cover));
        }
    }
    field_free(&cloud);
    field_free(&fold);
}

void paint_clouds(const struct canvas *c, struct dice *d)
{
    struct sky s = sky_draw(c, d);
    s.cover = dice_between(d, 1800, 3800);
    paint_sky(c, &s, c->height, d);
    if (!dice_percent(d, 60))
        return;
    static int land[4096]; /* a dark strip of land */
    const int top = c->height * dice_between(d, 82, 92) / 100;
    skyline(land, c->width, top, c->height - 1, c->width / 4, 9, false, d);
    struct field rough = noise_field(c, d, 24, 12, 5, 170);
    const struct colour dark = varied(RGB(34, 38, 30), 1200, d);
    for (int x = 0; x < c->width; x++)
        for (int y = land[x]; y < c->height; y++)
            put(c, x, y, lit(dark, 4096 + field_at(&rough, x, y) / 10));
    field_free(&rough);
}
