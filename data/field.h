/* data/field.h - a number for every pixel: noise with the spectrum of natural scenes.
 *
 * Integers only, so that every machine computes the same. Values are -32767..32767. */
#ifndef IMREC_DATA_FIELD_H
#define IMREC_DATA_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELD_TOP 32767

struct field {
    int width, height;
    int16_t *v;
};

struct noise {
    uint32_t seed;
    int cell_x, cell_y; /* of the coarsest octave, px */
    int octaves;        /* each half the cell of the one before; ends at cells of 1 px */
    int gain;           /* amplitude of an octave relative to the one before, 1/256 */
    bool ridged;        /* sharp crests instead of smooth hills */
};

void field_init(struct field *f, int width,
                int height); /* zeroed; ends the program without memory */
void field_free(struct field *f);

/* Fractal value noise over the whole field. */
void field_noise(struct field *f, const struct noise *how);

/* The same along a line of n values. */
void line_noise(int16_t *v, int n, const struct noise *how);

/* Moves what is at (x, y) by (dx, dy)(x, y) * px / FIELD_TOP: swirls, folds. */
void field_warp(struct field *f, const struct field *dx, const struct field *dy, int px);

/* Smooths by a box of 2 r + 1, twice; colours of out-of-focus places. */
void field_blur(struct field *f, int r);

/* The field between the pixels, repeated in both directions: x, y in 1/256 px. */
int field_sample(const struct field *f, int x, int y);

static inline int field_at(const struct field *f, int x, int y) /* clamped to the edges */
{
    x = x < 0 ? 0 : x >= f->width ? f->width - 1 : x;
    y = y < 0 ? 0 : y >= f->height ? f->height - 1 : y;
    return f->v[y * f->width + x];
}

/* Slope against light from the direction (lx, ly): -4096..4096; `strength` 256 is plain. */
int field_shade(const struct field *f, int x, int y, int lx, int ly, int strength);

static inline int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* 0 below lo, 4096 above hi, smooth between. */
int smooth(int v, int lo, int hi);

int sine(int turn);   /* 1024 a turn; -4096..4096 */
int root(uint64_t v); /* floor of the square root */
#endif
