#include "data/field.h"

#include "base/alloc.h"
#include "data/dice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 4096 };

void field_init(struct field *f, int width, int height)
{
    f->width = width;
    f->height = height;
    f->v = imrec_zalloc((size_t)width * (size_t)height, sizeof(*f->v));
    if (f->v == NULL) {
        fprintf(stderr, "make_photos: no memory for %d x %d values\n", width, height);
        exit(EXIT_FAILURE);
    }
}

void field_free(struct field *f)
{
    imrec_free(f->v);
    f->v = NULL;
}

static int ease(int t) /* 3t^2 - 2t^3, 0..4096 */
{
    return (int)((int64_t)t * t * (3 * 4096 - 2 * t) >> 24);
}

static int lattice(uint32_t seed, int x, int y) /* -32768..32767 */
{
    return (int16_t)(hash_at(seed, x, y) >> 16);
}

/* One octave while its rows are made, top to bottom: lattice rows above and below the row at
 * hand, and where each pixel lies between two knots. Its amplitude is in the lattice values. */
struct octave {
    uint32_t seed;
    int cell_x, cell_y;  /* px */
    int amplitude;       /* 1/65536 */
    const int16_t *tile; /* fine octaves come from a stock of noise */
    int row;             /* of the lattice that `top` holds */
    int knots;
    int top[MAX_SIDE + 4], low[MAX_SIDE + 4], here[MAX_SIDE + 4];
    int16_t weight[MAX_SIDE]; /* of the right knot, at a pixel of a cell: 0..32767 */
};

static void lattice_row(const struct octave *o, int row, int *out)
{
    for (int i = 0; i < o->knots; i++)
        out[i] = (int)((int64_t)lattice(o->seed, i, row) * o->amplitude >> 16);
}

static void octave_init(struct octave *o, int n)
{
    for (int x = 0; x < o->cell_x && x < MAX_SIDE; x++)
        o->weight[x] = (int16_t)(ease(x * 4096 / o->cell_x) * 8 - (x > 0));
    o->knots = (n - 1) / o->cell_x + 2;
    o->row = 0;
    lattice_row(o, 0, o->top);
    lattice_row(o, 1, o->low);
}

/* The lattice at row y, and nothing more when it did not move on. Rows come in order. */
static void octave_go_to(struct octave *o, int y)
{
    if (y / o->cell_y != o->row) {
        o->row = y / o->cell_y;
        memcpy(o->top, o->low, (size_t)o->knots * sizeof(*o->top));
        lattice_row(o, o->row + 1, o->low);
    }
    const int down = ease(y % o->cell_y * 4096 / o->cell_y);
    for (int i = 0; i < o->knots; i++)
        o->here[i] = o->top[i] + ((o->low[i] - o->top[i]) * down >> 12);
}

/* Adds row y of an octave to sum[]. */
static void octave_row(struct octave *o, int y, int n, bool ridged, int32_t *sum)
{
    octave_go_to(o, y);
    for (int x = 0, i = 0; x < n; x += o->cell_x, i++) {
        const int left = o->here[i], count = n - x < o->cell_x ? n - x : o->cell_x;
        const int16_t half = (int16_t)((o->here[i + 1] - left) >> 1);
        int32_t *out = sum + x;
        if (!ridged) {
            for (int k = 0; k < count; k++) /* the compiler makes vectors of this */
                out[k] += left + 4 * (int16_t)(half * o->weight[k] >> 16);
        } else {
            for (int k = 0; k < count; k++)
                out[k] += o->amplitude / 2 - 2 * abs(left + 4 * (half * o->weight[k] >> 16));
        }
    }
}

/* Octaves of square cells of 1, 2, 4 and 8 px are most of the work and look alike wherever they
 * are cut from: each is a window of a tile that is made once. */
enum { TILE = 1024, TILES = 4 };

static const int16_t *stock(int level)
{
    static int16_t tiles[TILES][TILE * TILE];
    static bool made[TILES];
    if (!made[level]) {
        static struct octave o;
        static int32_t sum[TILE];
        o = (struct octave){.seed = 0x7117e5u + (uint32_t)level,
                            .cell_x = 1 << level,
                            .cell_y = 1 << level,
                            .amplitude = 65536};
        octave_init(&o, TILE);
        for (int y = 0; y < TILE; y++) {
            memset(sum, 0, sizeof(sum));
            octave_row(&o, y, TILE, false, sum);
            for (int x = 0; x < TILE; x++)
                tiles[level][y * TILE + x] = (int16_t)clamp(sum[x], -FIELD_TOP, FIELD_TOP);
        }
        made[level] = true;
    }
    return tiles[level];
}

/* The tile for cells of this size, or NULL. */
static const int16_t *tile_for(int cell_x, int cell_y)
{
    static const int8_t levels[12] = {0, 0, 1, 1, 2, 2,
                                      3, 3, 3, 3, 3, 3}; /* 1; 2, 3; 4, 5; 6 to 11 */
    if (cell_x > 11 || cell_y > 11 || levels[cell_x] != levels[cell_y])
        return NULL;
    return stock(levels[cell_x]);
}

static void tile_row(const struct octave *o, int y, int n, bool ridged, int32_t *sum)
{
    const int16_t *row = o->tile + (size_t)((o->seed >> 10) + (uint32_t)y) % TILE * TILE;
    const int16_t strength = (int16_t)(o->amplitude / 2);
    for (int x = 0, from = (int)(o->seed % TILE); x < n; from = 0) {
        const int count = n - x < TILE - from ? n - x : TILE - from;
        const int16_t *in = row + from;
        int32_t *out = sum + x;
        if (!ridged) {
            for (int k = 0; k < count; k++)
                out[k] += 2 * (int16_t)(in[k] * strength >> 16);
        } else {
            for (int k = 0; k < count; k++)
                out[k] += strength - 4 * abs(in[k] * strength >> 16);
        }
        x += count;
    }
}

static struct octave g_octaves[12]; /* one field is made at a time */

/* Makes ready the octaves of `how` for rows of n, amplitudes adding up to 1. */
static int octaves_start(const struct noise *how, int n)
{
    int count = 0, weight = 65536, total = 0, wx = how->cell_x, wy = how->cell_y;
    for (; count < how->octaves && count < 12 && wx >= 1 && wy >= 1; count++) {
        struct octave *o = &g_octaves[count];
        o->seed = how->seed + 0x51ed27u * (uint32_t)(count + 1);
        o->cell_x = wx;
        o->cell_y = wy;
        o->tile = tile_for(wx, wy);
        o->amplitude = weight;
        total += weight;
        weight = weight * how->gain >> 8;
        wx /= 2;
        wy /= 2;
    }
    for (int i = 0; i < count; i++) {
        g_octaves[i].amplitude = (int)((int64_t)g_octaves[i].amplitude * 65536 / total);
        if (g_octaves[i].tile == NULL)
            octave_init(&g_octaves[i], n);
    }
    return count;
}

static void noise_row(int octaves, int y, int n, bool ridged, int16_t *out)
{
    static int32_t sum[MAX_SIDE];
    memset(sum, 0, (size_t)n * sizeof(*sum));
    for (int i = 0; i < octaves; i++) {
        if (g_octaves[i].tile != NULL)
            tile_row(&g_octaves[i], y, n, ridged, sum);
        else
            octave_row(&g_octaves[i], y, n, ridged, sum);
    }
    for (int x = 0; x < n; x++)
        out[x] = (int16_t)clamp(sum[x], -FIELD_TOP, FIELD_TOP);
}

void field_noise(struct field *f, const struct noise *how)
{
    const int n = octaves_start(how, f->width);
    for (int y = 0; y < f->height; y++)
        noise_row(n, y, f->width, how->ridged, f->v + (size_t)y * (size_t)f->width);
}

void line_noise(int16_t *v, int n, const struct noise *how)
{
    noise_row(octaves_start(how, n), 0, n, how->ridged, v);
}

static int between(const struct field *f, int x, int y) /* x, y in 1/256 px, inside */
{
    const int x0 = x >> 8, y0 = y >> 8, wx = x & 255, wy = y & 255;
    const int x1 = x0 + 1 < f->width ? x0 + 1 : x0;
    const int16_t *top = f->v + (size_t)y0 * (size_t)f->width;
    const int16_t *low = y0 + 1 < f->height ? top + f->width : top;
    const int a = top[x0] * (256 - wx) + top[x1] * wx;
    const int b = low[x0] * (256 - wx) + low[x1] * wx;
    return (int)(((int64_t)a * (256 - wy) + (int64_t)b * wy) >> 16);
}

void field_warp(struct field *f, const struct field *dx, const struct field *dy, int px)
{
    struct field moved;
    field_init(&moved, f->width, f->height);
    for (int y = 0, i = 0; y < f->height; y++) {
        for (int x = 0; x < f->width; x++, i++) {
            const int sx = x * 256 + (int)((int64_t)dx->v[i] * px >> 7);
            const int sy = y * 256 + (int)((int64_t)dy->v[i] * px >> 7);
            moved.v[i] = (int16_t)between(f, clamp(sx, 0, f->width * 256 - 256),
                                          clamp(sy, 0, f->height * 256 - 256));
        }
    }
    imrec_free(f->v);
    f->v = moved.v;
}

/* A running mean of 2 r + 1 along n values that lie `step` apart. */
static void blur_line(int16_t *v, int n, int step, int r)
{
    static int16_t line[MAX_SIDE];
    for (int i = 0; i < n; i++)
        line[i] = v[(size_t)i * (size_t)step];
    int sum = 0;
    for (int i = -r; i <= r; i++)
        sum += line[clamp(i, 0, n - 1)];
    for (int i = 0; i < n; i++) {
        v[(size_t)i * (size_t)step] = (int16_t)(sum / (2 * r + 1));
        sum += line[clamp(i + r + 1, 0, n - 1)] - line[clamp(i - r, 0, n - 1)];
    }
}

void field_blur(struct field *f, int r)
{
    for (int pass = 0; pass < 2 && r > 0; pass++) {
        for (int y = 0; y < f->height; y++)
            blur_line(f->v + (size_t)y * (size_t)f->width, f->width, 1, r);
        for (int x = 0; x < f->width; x++)
            blur_line(f->v + x, f->height, f->width, r);
    }
}

int field_sample(const struct field *f, int x, int y)
{
    x %= f->width * 256;
    y %= f->height * 256;
    return between(f, x < 0 ? x + f->width * 256 : x, y < 0 ? y + f->height * 256 : y);
}

int field_shade(const struct field *f, int x, int y, int lx, int ly, int strength)
{
    const int gx = field_at(f, x + 1, y) - field_at(f, x - 1, y);
    const int gy = field_at(f, x, y + 1) - field_at(f, x, y - 1);
    return clamp((int)(((int64_t)gx * lx + (int64_t)gy * ly) * strength >> 16), -4096, 4096);
}

int smooth(int v, int lo, int hi)
{
    if (v <= lo || v >= hi)
        return v >= hi ? 4096 : 0;
    return ease((int)((int64_t)(v - lo) * 4096 / (hi - lo)));
}

int sine(int turn) /* Bhaskara's rational approximation (7th century), under 0.2 % off */
{
    const int t = turn & 511, half = t * (512 - t);
    const int v = (int)((int64_t)4096 * 16 * half / (5 * 512 * 512 - 4 * half));
    return (turn & 512) != 0 ? -v : v;
}

int root(uint64_t v)
{
    uint64_t r = 0;
    if (v == 0)
        return 0;
    for (uint64_t bit = (uint64_t)1 << (63 - __builtin_clzll(v)) / 2; bit != 0; bit >>= 1)
        if ((r | bit) * (r | bit) <= v)
            r |= bit;
    return (int)r;
}
