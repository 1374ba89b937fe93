/* data/scene_water.c - sea under a sky, with a beach at times. */
#include "data/scenes.h"

#include <stdlib.h>

/* Waves as the eye sees them: rows lie closer the nearer they are to the horizon. */
static void paint_water(const struct canvas *c, const struct sky *sky, int horizon, struct dice *d)
{
    struct field wave, swell;
    field_init(&wave, 512, 512);
    field_init(&swell, 256, 256);
    field_noise(&wave, &(struct noise){.seed = dice_roll(d),
                                       .cell_x = 40,
                                       .cell_y = 16,
                                       .octaves = 5,
                                       .gain = 165,
                                       .ridged = true});
    field_noise(&swell,
                &(struct noise){
                    .seed = dice_roll(d), .cell_x = 64, .cell_y = 24, .octaves = 4, .gain = 130});
    const struct colour deep = varied(mix(sky->zenith, RGB(20, 74, 92), 2600), 600, d);
    const int rough = dice_between(d, 900, 2600), depth = c->height - horizon + 1;
    for (int y = horizon; y < c->height; y++) {
        const int below = y - horizon + 2,
                  far = 4096 * depth / (depth + 12 * below); /* 4096 at the horizon */
        const int zoom =
            256 * 3 * depth / (2 * below + depth / 3); /* 1/256 px of the fields a pixel */
        for (int x = 0; x < c->width; x++) {
            const int across = (x - c->width / 2) * zoom,
                      along = below * below * 90 / (below + depth / 3) * 16 + y * zoom / 2;
            const int v =
                field_sample(&wave, across, along) + field_sample(&swell, across / 3, along / 3);
            const int facing = clamp(2048 + (int)((int64_t)v * rough >> 15), 0, 4096);
            struct colour here = mix(deep, mix(sky->horizon, sky->zenith, 1400), facing * 3 / 4);
            const int aside = abs(x - sky->sun_x) * 4096 / (c->width / 8 + below / 3 + 1);
            const int glint = smooth(v, 9000 + aside * 3, 26000 + aside * 3);
            here = mix(here, sky->low_sun ? RGB(255, 226, 170) : RGB(255, 255, 250), glint);
            put(c, x, y, mix(here, sky->horizon, far * far >> 13));
        }
    }
    field_free(&wave);
    field_free(&swell);
}

static void paint_beach(const struct canvas *c, int shore, struct dice *d)
{
    static int edge[4096];
    skyline(edge, c->width, shore, shore + c->height / 8, c->width / 2, 8, false, d);
    const int lean = dice_between(d, -c->height / 4, c->height / 4);
    struct field sand = noise_field(c, d, 40, 20, 6, 200), foam = noise_field(c, d, 24, 9, 5, 165);
    const struct colour dry = varied(RGB(206, 182, 142), 500, d), wet = lit(dry, 2500);
    const int band = c->height / 14;
    for (int x = 0; x < c->width; x++) {
        const int from = edge[x] + lean * (x - c->width / 2) / c->width;
        for (int y = from - band > 0 ? from - band : 0; y < c->height; y++) {
            const int in = y - from;
            if (in >= 0)
                put(c, x, y,
                    lit(mix(wet, dry, smooth(in, band / 2, band * 3)),
                        4096 + field_at(&sand, x, y) / 18));
            const int white =
                smooth(field_at(&foam, x, y) + 14000 - abs(in) * 36000 / band, 0, 9000);
            blend(c, x, y, RGB(244, 248, 250), white);
        }
    }
    field_free(&sand);
    field_free(&foam);
}

void paint_sea(const struct canvas *c, struct dice *d)
{
    static int land[4096];
    struct sky sky = sky_draw(c, d);
    const int horizon = c->height * dice_between(d, 30, 62) / 100;
    sky.sun_y = horizon - dice_between(d, 0, horizon / 2);
    paint_sky(c, &sky, horizon, d);
    if (dice_percent(d, 40)) { /* an island or a headland */
        const int from = dice_between(d, 0, c->width),
                  wide = c->width * dice_between(d, 25, 60) / 100;
        skyline(land, c->width, horizon - c->height / 6, horizon + c->height / 20, wide / 2, 9,
                true, d);
        struct field rock = noise_field(c, d, 40, 30, 6, 150);
        const struct colour bare = varied(RGB(76, 80, 62), 900, d);
        const struct colour ground = mix(bare, sky.horizon, dice_between(d, 400, 2600));
        for (int x = clamp(from - wide / 2, 0, c->width); x < clamp(from + wide / 2, 0, c->width);
             x++) {
            const int fall = abs(x - from) * c->height / (6 * wide / 2 + 1);
            for (int y = clamp(land[x] + fall, 0, horizon); y < horizon; y++)
                put(c, x, y, lit(ground, 3900 + field_shade(&rock, x, y, 300, 160, 500)));
        }
        field_free(&rock);
    }
    paint_water(c, &sky, horizon, d);
    if (dice_percent(d, 50))
        paint_beach(c, horizon + (c->height - horizon) * dice_between(d, 45, 75) / 100, d);
}
