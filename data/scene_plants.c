/* data/scene_plants.c - a forest seen from inside, and flowers in grass. */
#include "data/scenes.h"

static struct colour leaf_colour(struct dice *d)
{
    static const struct colour leaves[5] = {RGB(82, 112, 44), RGB(60, 96, 48), RGB(124, 130, 48),
                                            RGB(164, 116, 44), RGB(96, 124, 70)};
    return leaves[dice_between(d, 0, 4)];
}

/* What is far in a wood: light that comes through leaves, out of focus. */
static void paint_thicket(const struct canvas *c, struct colour leaf, struct dice *d)
{
    struct field big = noise_field(c, d, c->width / 4, c->height / 3, 5, 150);
    struct field fine = noise_field(c, d, 30, 26, 5, 205);
    const struct colour bright = mix(leaf, RGB(236, 244, 214), 2600), dark = lit(leaf, 1100);
    for (int y = 0, i = 0; y < c->height; y++) {
        const int height_light = 2400 - 2600 * y / c->height;
        for (int x = 0; x < c->width; x++, i++) {
            const int v = big.v[i] / 6 + fine.v[i] / 7 + height_light / 2;
            const struct colour here =
                mix(dark, mix(leaf, bright, clamp(v, 0, 4096)), clamp(v + 2300, 0, 4096));
            put(c, x, y, here);
        }
    }
    field_free(&big);
    field_free(&fine);
}

struct trunk {
    int x, width, lean; /* px; lean over the whole height */
    int foot;
    struct colour bark;
    int haze;
};

static void paint_trunk(const struct canvas *c, const struct trunk *t, struct colour air,
                        const struct field *bark)
{
    for (int y = 0; y < t->foot && y < c->height; y++) {
        const int middle = t->x + t->lean * (t->foot - y) / c->height;
        const int half = t->width * (c->height + y) / (4 * c->height) + 1;
        for (int x = clamp(middle - half, 0, c->width); x < clamp(middle + half, 0, c->width);
             x++) {
            const int side = (x - middle) * 4096 / half; /* -4096..4096 */
            const int round = 4096 - (int)((int64_t)(side + 1200) * (side + 1200) >> 13);
            const int bumps =
                field_sample(bark, (x - middle + 200) * 256 * 40 / (t->width + 12), y * 200);
            const int light = clamp(round + (bumps >> 3), 500, 6000);
            put(c, x, y, mix(lit(t->bark, light), air, t->haze));
        }
    }
}

static void
paint_leaves(const struct canvas *c, struct colour leaf, int count, int size, struct dice *d)
{
    struct field clump = noise_field(c, d, c->width / 3, c->height / 3, 3, 128);
    for (int i = 0; i < count; i++) {
        const int x = dice_between(d, 0, c->width - 1), y = dice_between(d, 0, c->height * 2 / 3);
        if (field_at(&clump, x, y) < y * 26000 / c->height - 6000)
            continue;
        const int a = size * dice_between(d, 60, 150) / 100;
        const int turn = dice_between(d, 0, 1023);
        const struct colour here = varied_light(leaf, 1400, 1500, 6200, d);
        paint_blob(c, &(struct blob){x * 16, y * 16, a, a / 2 + 3, turn, 900, here});
    }
    field_free(&clump);
}

static void paint_floor(const struct canvas *c, struct colour leaf, int from, struct dice *d)
{
    struct field litter = noise_field(c, d, 20, 8, 5, 210),
                 patch = noise_field(c, d, c->width / 4, 24, 4, 140);
    const struct colour earth = varied(RGB(104, 82, 56), 900, d);
    for (int y = from; y < c->height; y++) {
        const int soft = smooth(y - from, 0, c->height / 10);
        for (int x = 0; x < c->width; x++) {
            const int sun = smooth(field_at(&patch, x, y), 2000, 12000);
            const struct colour ground =
                mix(earth, leaf, clamp(2048 + field_at(&litter, x, y) / 6, 0, 4096));
            const int light = 2300 + sun * 2600 / 4096 + field_shade(&litter, x, y, 200, 260, 110);
            blend(c, x, y, lit(ground, clamp(light, 700, 7000)), soft);
        }
    }
    field_free(&litter);
    field_free(&patch);
}

void paint_forest(const struct canvas *c, struct dice *d)
{
    const struct colour leaf = varied(leaf_colour(d), 600, d);
    const struct colour air = mix(leaf, RGB(226, 234, 216), 2700);
    const struct colour bark =
        varied(dice_percent(d, 25) ? RGB(196, 190, 178) : RGB(86, 70, 54), 800, d);
    paint_thicket(c, leaf, d);
    paint_floor(c, leaf, c->height * dice_between(d, 60, 74) / 100, d);
    struct field rind;
    field_init(&rind, 256, 512);
    struct noise how = {.seed = dice_roll(d), .cell_x = 8, .cell_y = 48, .octaves = 5, .gain = 180};
    how.ridged = dice_percent(d, 60);
    field_noise(&rind, &how);
    const int trunks = dice_between(d, 6, 20);
    for (int i = 0; i < trunks; i++) {
        const int near = 4096 * (i + 1) / trunks;
        const int scale = c->width * (1 + near * near / 1500000);
        struct trunk t = {.foot = c->height * (64 + 40 * near / 4096) / 100};
        t.x = dice_between(d, 0, c->width);
        t.width = scale * dice_between(d, 70, 140) / 10000 + 3;
        t.lean = dice_between(d, -c->width / 14, c->width / 14);
        t.bark = varied(bark, 700, d);
        t.haze = 3000 - near * 3 / 4 + dice_between(d, -200, 200);
        paint_trunk(c, &t, air, &rind);
        if (i == trunks / 2)
            paint_leaves(c, leaf, c->width * 7, 14 + c->height / 11, d);
    }
    paint_leaves(c, leaf, c->width * dice_between(d, 4, 14), 24 + c->height / 8, d);
    field_free(&rind);
}

static void paint_flower(const struct canvas *c, int x, int y, int size, struct colour petal,
                         struct colour heart, struct dice *d)
{
    const int petals = dice_between(d, 5, 14), first = dice_between(d, 0, 1023),
              tilt = dice_between(d, 55, 100);
    for (int ring = 0; ring < 2; ring++) {
        for (int i = 0; i < petals; i++) {
            const int turn = first + (2 * i + ring) * 512 / petals;
            const int out = size * (ring == 0 ? 62 : 50) / 100;
            const int dx = sine(turn + 256) * out >> 12, dy = (sine(turn) * out >> 12) * tilt / 100;
            paint_blob(c,
                       &(struct blob){x + dx, y + dy, size / 2, size * 3 / (petals + 4) + 4, turn,
                                      1700, lit(varied(petal, 300, d), ring == 0 ? 3300 : 4200)});
        }
    }
    paint_blob(c, &(struct blob){x, y, size / 4, size * tilt / 400, 0, 2600, heart});
    for (int i = 0; i < size / 4; i++) { /* pollen */
        const int turn = dice_between(d, 0, 1023), out = dice_between(d, 0, size / 5);
        paint_blob(c,
                   &(struct blob){x + (sine(turn) * out >> 12), y + (sine(turn + 256) * out >> 12),
                                  10 + size / 60, 10 + size / 60, 0, 2000,
                                  lit(heart, dice_between(d, 2400, 6400))});
    }
}

static void
paint_blade(const struct canvas *c, int x, int y, int tall, struct colour green, struct dice *d)
{
    const int lean = dice_between(d, -tall / 2, tall / 2);
    const struct colour shade = varied_light(green, 1200, 1200, 3600, d);
    paint_stroke(c, &(struct stroke){x * 16, y * 16, (x + lean) * 16, (y - tall) * 16, lean * -6,
                                     tall / 2 + 14, lit(shade, 2200),
                                     mix(shade, RGB(220, 226, 150), 900)});
}

void paint_flowers(const struct canvas *c, struct dice *d)
{
    static const struct colour petals[8] = {
        RGB(224, 60, 70),  RGB(250, 208, 60), RGB(244, 244, 240), RGB(196, 96, 190),
        RGB(104, 90, 206), RGB(246, 140, 50), RGB(244, 150, 186), RGB(120, 150, 236)};
    const int h = c->height, w = c->width;
    const struct colour green = varied(mix(leaf_colour(d), RGB(76, 128, 40), 2400), 500, d);
    paint_thicket(c, green, d);
    const int focus = h * dice_between(d, 15, 45) / 100; /* above it all is blurred */
    const struct colour petal = petals[dice_between(d, 0, 7)],
                        other = petals[dice_between(d, 0, 7)];
    const struct colour heart = dice_percent(d, 70) ? RGB(226, 178, 40) : RGB(70, 48, 30);
    for (int i = 0; i < w / 3; i++) {
        const int x = dice_between(d, 0, w), y = dice_between(d, 0, h);
        const struct colour here = varied(dice_percent(d, 25) ? petal : green, 1500, d);
        paint_blob(c, &(struct blob){x * 16, y * 16, h / 2, h / 3, 0, 800, here});
    }
    canvas_blur(c, 0, h, h / 40);
    const int rows = 26, big = h * dice_between(d, 5, 17) / 10; /* 1/16 px */
    for (int row = 0; row < rows; row++) {
        const int y = focus + (h * 5 / 4 - focus) * row / rows,
                  tall = h / 12 + h * row / (5 * rows);
        for (int i = 0; i < w / 7; i++) {
            const int x = dice_between(d, -10, w + 10), foot = y + dice_between(d, 0, h / 12);
            paint_blade(c, x, foot, tall * dice_between(d, 50, 130) / 100, green, d);
        }
        for (int i = 0; i < 3; i++) {
            const int x = dice_between(d, 0, w), up = y - tall + dice_between(d, -h / 20, h / 20);
            const struct colour here = varied(dice_percent(d, 85) ? petal : other, 500, d);
            if (dice_percent(d, 45))
                paint_flower(c, x * 16, up * 16, big * (rows + 2 * row) / (3 * rows), here, heart,
                             d);
        }
        if (row < rows / 4)
            canvas_blur(c, 0, y - tall / 2, 1);
    }
}
