/* data/camera.c - lens, sensor and the processing that cameras do. */
#include "data/canvas.h"

enum { MAX_SIDE = 4096 };

struct darkroom {             /* tables of one image */
    int16_t tone[WHITE + 1];  /* the curve */
    int16_t grain[WHITE + 1]; /* strength of the noise at a level, 1/4096 */
    int corner_x[MAX_SIDE];   /* what the vignette takes off, 0..4096: a sum of both */
};

/* The lens: some light of every pixel falls on its neighbours; sharpening undoes a part of it. */
static void through_lens(const struct canvas *c, int weight, int y, int16_t *out)
{
    const int last = 3 * (c->width - 1);
    const int16_t *row = canvas_at(c, 0, y);
    const int16_t *above = y > 0 ? canvas_at(c, 0, y - 1) : row;
    const int16_t *below = y + 1 < c->height ? canvas_at(c, 0, y + 1) : row;
    for (int i = 0; i < 3 * c->width; i++) {
        const int around = row[i < last ? i + 3 : i] + row[i > 2 ? i - 3 : i] + above[i] + below[i];
        out[i] = (int16_t)(row[i] + ((around - 4 * row[i]) * weight >> 10));
    }
}

static void fill_tables(struct darkroom *r, const struct canvas *c, const struct camera *how)
{
    const int64_t diagonal = (int64_t)c->width * c->width + (int64_t)c->height * c->height;
    for (int v = 0; v <= WHITE; v++) { /* an S-curve through black, middle and white */
        r->tone[v] = (int16_t)(v + ((smooth(v, 0, WHITE) - v) * how->contrast >> 12));
        /* shot noise grows with light, and the eye's curve takes most of that back */
        r->grain[v] = (int16_t)(how->noise * (6144 - v) / 148);
    }
    for (int x = 0; x < c->width; x++) {
        const int64_t dx = 2 * x - c->width;
        r->corner_x[x] = (int)(dx * dx * how->vignette / diagonal);
    }
}

/* A sum of four bytes is near enough to a normal distribution: standard deviation 148. */
static int grain(uint32_t bits)
{
    return (int)(bits & 255) + (int)(bits >> 8 & 255) + (int)(bits >> 16 & 255) +
           (int)(bits >> 24) - 510;
}

/* The noise of a row, three values a pixel. */
static void fill_specks(uint32_t seed, int width, int y, int16_t *out)
{
    int tint = 0;
    for (int x = 0; x < width; x++, out += 3) {
        const int luma = grain(hash_at(seed, x, y));
        if ((x & 1) == 0)
            tint = grain(hash_at(seed + 1, x, y >> 1)) / 2;
        out[0] = (int16_t)(luma + tint);
        out[1] = (int16_t)luma;
        out[2] = (int16_t)(luma - tint);
    }
}

static void develop_row(const struct darkroom *r, const struct camera *how, const int16_t *row,
                        const int16_t *specks, int width, int corner_y, uint8_t *out)
{
    const int white[3] = {how->white.r, how->white.g, how->white.b};
    for (int k = 0; k < 3; k++) {
        int before = 0;
        for (int x = 0; x < width; x++) {
            const int light = (4096 - corner_y - r->corner_x[x]) * white[k] >> 12;
            const int v = clamp(row[3 * x + k] * light >> 12, 0, WHITE);
            const int noisy = specks[3 * x + k] * r->grain[v] >> 12;
            out[3 * x + k] =
                (uint8_t)clamp((r->tone[v] + ((noisy * 3 + before) >> 2) + 8) >> 4, 0, 255);
            before = noisy; /* demosaicing smooths it */
        }
    }
    for (int x = 0; how->grey && x < width; x++, out += 3)
        out[0] = out[1] = out[2] = (uint8_t)((out[0] * 77 + out[1] * 150 + out[2] * 29) >> 8);
}

void develop(const struct canvas *c, const struct camera *how, uint8_t *out)
{
    static struct darkroom room;
    static int16_t row[3 * MAX_SIDE], specks[3 * MAX_SIDE];
    const int64_t diagonal = (int64_t)c->width * c->width + (int64_t)c->height * c->height;
    fill_tables(&room, c, how);
    for (int y = 0; y < c->height; y++) {
        const int64_t dy = 2 * y - c->height;
        through_lens(c, how->blur - how->sharpen, y, row);
        fill_specks(how->seed, c->width, y, specks);
        develop_row(&room, how, row, specks, c->width, (int)(dy * dy * how->vignette / diagonal),
                    out + 3 * (size_t)y * (size_t)c->width);
    }
}
