/* data/scenes.h - recipes: each paints one kind of image, never the same twice. */
#ifndef IMREC_DATA_SCENES_H
#define IMREC_DATA_SCENES_H

#include "data/canvas.h"

struct scene {
    const char *name; /* the class */
    void (*paint)(const struct canvas *c, struct dice *d);
};

enum { SCENES = 10 };
extern const struct scene scenes[SCENES];

void paint_bricks(const struct canvas *c, struct dice *d);
void paint_city(const struct canvas *c, struct dice *d);
void paint_clouds(const struct canvas *c, struct dice *d);
void paint_dunes(const struct canvas *c, struct dice *d);
void paint_flowers(const struct canvas *c, struct dice *d);
void paint_forest(const struct canvas *c, struct dice *d);
void paint_fruit(const struct canvas *c, struct dice *d);
void paint_mountains(const struct canvas *c, struct dice *d);
void paint_pebbles(const struct canvas *c, struct dice *d);
void paint_sea(const struct canvas *c, struct dice *d);

/* Shared pieces: a sky down to row `horizon` with a time of day of its own. */
struct sky {
    struct colour zenith, horizon, cloud, shadow; /* shadow: the dark side of the clouds */
    int sun_x, sun_y;                             /* px */
    int cover;                                    /* 0..4096: how much of it is cloud */
    bool low_sun;
};
struct sky sky_draw(const struct canvas *c, struct dice *d);
void paint_sky(const struct canvas *c, const struct sky *s, int horizon, struct dice *d);

/* A field of the canvas's size. */
struct field
noise_field(const struct canvas *c, struct dice *d, int cell_x, int cell_y, int octaves, int gain);

/* The row of a skyline at every column: n values, `top`..`bottom` px; few octaves are
 * soft hills. */
void skyline(int *rows, int n, int top, int bottom, int cell, int octaves, bool ridged,
             struct dice *d);
#endif
