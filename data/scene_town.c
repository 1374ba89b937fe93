/* data/scene_town.c - houses against a sky, and a wall of bricks. */
#include "data/scenes.h"

struct house {
    int x0, x1, top, foot; /* px */
    int pane, gap, storey; /* widths of a window and the wall next to it, height of a storey, px */
    struct colour wall, glass;
    int lit_percent; /* windows with a lamp in them */
    int haze;
    uint32_t seed;
};

static struct colour
window_colour(const struct house *h, int column, int storey, int up, int across)
{
    const uint32_t bits = hash_at(h->seed, column, storey);
    const struct colour lamp = mix(RGB(255, 206, 120), RGB(250, 240, 214), (int)(bits >> 8 & 4095));
    if ((int)(bits % 100) < h->lit_percent)
        return lit(lamp, 2200 + (int)(bits >> 20 & 1023) + up * 12);
    const int blind = (int)(bits >> 4 & 7) * h->storey / 10; /* curtains and reflections */
    const struct colour pane = lit(h->glass, 2600 + (int)(bits >> 16 & 2047) + across * 30);
    return up < blind ? mix(pane, RGB(220, 214, 200), 2200) : pane;
}

static void paint_house(const struct canvas *c, const struct house *h, const struct field *stain,
                        struct colour air)
{
    const int step = h->pane + h->gap, frame = h->storey / 4 + 1;
    for (int y = h->top > 0 ? h->top : 0; y < h->foot && y < c->height; y++) {
        for (int x = h->x0 > 0 ? h->x0 : 0; x < h->x1 && x < c->width; x++) {
            const int in = x - h->x0, down = y - h->top;
            const int across = in % step - h->gap / 2, up = down % h->storey - frame;
            const bool window = across >= 0 && across < h->pane && up >= 0 &&
                                up < h->storey - 2 * frame && down > h->storey / 2 && in > h->gap &&
                                h->x1 - x > h->gap;
            struct colour v = lit(h->wall, 3900 + field_at(stain, x, y) / 22);
            if (window)
                v = window_colour(h, in / step, down / h->storey, up, across);
            else if (up == -1 || across == -1 || up == h->storey - 2 * frame)
                v = lit(v, up == -1 ? 2700 : 4700); /* sills and reveals */
            const int corner = clamp(2600 + in * 6000 / (h->x1 - h->x0 + 1), 0, 4300);
            put(c, x, y, mix(lit(v, corner), air, h->haze));
        }
    }
}

static void paint_street(const struct canvas *c, int from, int lamps, struct dice *d)
{
    struct field tar = noise_field(c, d, 12, 4, 4, 230);
    const struct colour grey = varied(RGB(88, 88, 92), 500, d);
    for (int y = from; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const int kerb = (y - from) * 8 < c->height - from ? 5600 : 4096;
            put(c, x, y, lit(grey, kerb * (lamps > 40 ? 5 : 8) / 8 + field_at(&tar, x, y) / 22));
        }
    const int cars = dice_between(d, 3, 9), size = (c->height - from) * 5;
    for (int i = 0; i < cars; i++) {
        const int x = dice_between(d, 0, c->width) * 16,
                  y = (from + (c->height - from) * dice_between(d, 30, 80) / 100) * 16;
        const int tone = dice_between(d, 500, 3300);
        struct colour paint = {tone, tone, tone};
        paint.r += dice_between(d, -300, 700);
        paint.b += dice_between(d, -400, 400);
        paint_blob(c, &(struct blob){x, y + size / 4, size * 2, size / 3, 0, 0, RGB(26, 26, 30)});
        paint_blob(c, &(struct blob){x, y - size / 3, size, size / 2, 0, 900, lit(paint, 3000)});
        paint_blob(
            c, &(struct blob){x, y - size / 3, size * 4 / 5, size / 3, 0, 900, RGB(50, 60, 74)});
        paint_blob(c, &(struct blob){x, y, size * 7 / 4, size / 2, 0, 1300, paint});
        for (int k = -1; k <= 1; k += 2)
            paint_blob(c, &(struct blob){x + k * size, y + size / 4, size / 3, size / 3, 0, 0,
                                         RGB(18, 18, 20)});
    }
    field_free(&tar);
}

void paint_city(const struct canvas *c, struct dice *d)
{
    static const struct colour walls[6] = {RGB(168, 158, 142), RGB(140, 96, 76),
                                           RGB(206, 198, 184), RGB(112, 118, 128),
                                           RGB(190, 160, 120), RGB(84, 88, 96)};
    const struct sky sky = sky_draw(c, d);
    const int w = c->width, h = c->height, ground = h * dice_between(d, 82, 96) / 100;
    paint_sky(c, &sky, ground, d);
    struct field stain = noise_field(c, d, 60, 90, 7, 190);
    const int lamps = sky.low_sun ? dice_between(d, 30, 75) : dice_between(d, 2, 12), rows = 3;
    for (int row = 0; row < rows; row++) {
        for (int x = -dice_between(d, 0, w / 12); x < w;) {
            const int wide = w * dice_between(d, 7, 18) / 100 * (2 + row) / 3 + 8;
            const int storey = h * dice_between(d, 26, 44) * (2 + row) / 3000 + 3;
            const struct colour wall = varied(walls[dice_between(d, 0, 5)], 700, d);
            const int tall = h * dice_between(d, 30, 80 - 12 * row) / 100;
            struct house one = {.x0 = x,
                                .x1 = x + wide,
                                .top = ground - tall,
                                .foot = ground,
                                .storey = storey,
                                .lit_percent = lamps,
                                .wall = lit(wall, sky.low_sun ? 1900 : 3700),
                                .glass = mix(sky.zenith, RGB(50, 60, 70), 2000),
                                .haze = 1300 * (rows - 1 - row)};
            one.pane = storey * dice_between(d, 35, 90) / 100 + 1;
            one.gap = storey * dice_between(d, 30, 70) / 100 + 1;
            one.seed = dice_roll(d);
            paint_house(c, &one, &stain, sky.horizon);
            x += wide + (dice_percent(d, 30) ? dice_between(d, 0, w / 12) : 0);
        }
    }
    paint_street(c, ground, lamps, d);
    field_free(&stain);
}

void paint_bricks(const struct canvas *c, struct dice *d)
{
    static const struct colour clays[5] = {RGB(158, 84, 60), RGB(178, 112, 80), RGB(126, 66, 54),
                                           RGB(186, 156, 122), RGB(142, 134, 128)};
    const int tall = c->height * dice_between(d, 45, 110) / 1000 + 4,
              wide = tall * dice_between(d, 22, 32) / 10;
    const int joint = tall / 9 + 1, uneven = dice_between(d, 400, 1500);
    const uint32_t seed = dice_roll(d);
    const struct colour clay = varied(clays[dice_between(d, 0, 4)], 500, d),
                        mortar = varied(RGB(176, 170, 160), 700, d);
    struct field rough = noise_field(c, d, 36, 30, 6, 176),
                 damp = noise_field(c, d, c->width / 2, c->height / 2, 6, 140);
    struct field bend = noise_field(c, d, wide, tall, 4, 140);
    const int lean = dice_between(d, -60, 60),
              shadow = dice_percent(d, 40) ? dice_between(d, c->width / 4, c->width) : 2 * c->width;
    const int slant = dice_between(d, -120, 120);
    for (int y = 0, i = 0; y < c->height; y++) {
        for (int x = 0; x < c->width; x++, i++) {
            const int v = y + 10000 * tall + x * lean / 1024 + bend.v[i] / 12000, course = v / tall;
            const int u = x + 10000 * wide + (course & 1) * wide / 2 + bend.v[i] / 14000,
                      brick = u / wide;
            const int in_x = u % wide, in_y = v % tall;
            const int edge_x = in_x < wide - joint ? in_x : wide - joint - in_x,
                      edge_y = in_y < tall - joint ? in_y : tall - joint - in_y;
            const uint32_t bits = hash_at(seed, brick, course);
            struct colour here = mortar;
            int light = 3000 + field_shade(&rough, x, y, 240, 240, 90);
            if (in_x < wide - joint && in_y < tall - joint) {
                here = lit(clay, 4096 + ((int)(bits & 4095) - 2048) * uneven / 2048);
                here.r += (int)(bits >> 12 & 255) - 128;
                light +=
                    700 + (edge_x == 0 || edge_y == 0 ? 900 : 0); /* the lit upper left edges */
            } else if (edge_x >= -1 || edge_y >= -1) {
                light -= 1400; /* the bricks' shadow on the joint */
            }
            light += damp.v[i] / 20;
            if (x + slant * y / 100 > shadow + bend.v[i] / 2500)
                light = light * 5 / 9;
            put(c, x, y, lit(here, clamp(light, 600, 6500)));
        }
    }
    field_free(&rough);
    field_free(&damp);
    field_free(&bend);
}
