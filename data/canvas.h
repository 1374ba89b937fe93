/* data/canvas.h - what a scene is painted on, and the camera that looks at it. */
#ifndef IMREC_DATA_CANVAS_H
#define IMREC_DATA_CANVAS_H

#include "data/dice.h"
#include "data/field.h"

enum { WHITE = 4095 }; /* a colour's values are 0..WHITE, as displayed (not linear light) */

struct colour {
    int r, g, b;
};

struct canvas {
    int width, height;
    int16_t *rgb; /* three a pixel */
};

#define RGB(r8, g8, b8) ((struct colour){(r8)*16, (g8)*16, (b8)*16})

void canvas_init(struct canvas *c, int width, int height);
void canvas_free(struct canvas *c);

static inline struct colour mix(struct colour a, struct colour b, int weight) /* of b, 0..4096 */
{
    return (struct colour){a.r + ((b.r - a.r) * weight >> 12), a.g + ((b.g - a.g) * weight >> 12),
                           a.b + ((b.b - a.b) * weight >> 12)};
}

static inline struct colour lit(struct colour a, int light) /* 4096 = as it is */
{
    return (struct colour){(int)((int64_t)a.r * light >> 12), (int)((int64_t)a.g * light >> 12),
                           (int)((int64_t)a.b * light >> 12)};
}

/* a little off, as no two leaves are alike; `spread` 0..4096 */
struct colour varied(struct colour a, int spread, struct dice *d);

/* the same, and lit by lo..hi */
struct colour varied_light(struct colour a, int spread, int lo, int hi, struct dice *d);

static inline int16_t *canvas_at(const struct canvas *c, int x, int y)
{
    return c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
}

static inline void put(const struct canvas *c, int x, int y, struct colour v)
{
    int16_t *p = canvas_at(c, x, y);
    p[0] = (int16_t)clamp(v.r, 0, WHITE);
    p[1] = (int16_t)clamp(v.g, 0, WHITE);
    p[2] = (int16_t)clamp(v.b, 0, WHITE);
}

static inline struct colour get(const struct canvas *c, int x, int y)
{
    const int16_t *p = canvas_at(c, x, y);
    return (struct colour){p[0], p[1], p[2]};
}

static inline void blend(const struct canvas *c, int x, int y, struct colour v, int weight)
{
    put(c, x, y, mix(get(c, x, y), v, weight));
}

/* A filled ellipse, half axes a and b turned by `turn` (1024 a turn), lit from the upper left
 * by `relief` (0 = flat, 4096 = a ball), its edge one pixel soft. Positions in 1/16 px. */
struct blob {
    int x, y, a, b;
    int turn, relief;
    struct colour colour;
};
void paint_blob(const struct canvas *c, const struct blob *b);

/* A tapering stroke from (x0, y0) over a bend to (x1, y1), `width` at its root. 1/16 px. */
struct stroke {
    int x0, y0, x1, y1, bend, width;
    struct colour root, tip;
};
void paint_stroke(const struct canvas *c, const struct stroke *s);

/* Smooths the whole canvas, or rows y0..y1 of it, by a box of 2 r + 1, twice. */
void canvas_blur(const struct canvas *c, int y0, int y1, int r);

struct camera {
    uint32_t seed;
    int noise;    /* of the sensor, standard deviation in 1/16 of an 8-bit level at middle grey */
    int blur;     /* of the lens: 0 sharp .. 256 soft */
    int sharpen;  /* 1/256 */
    int vignette; /* darkening of the corners, 0..4096 */
    int contrast; /* 0..4096 */
    struct colour white; /* balance, 4096 = neutral */
    bool grey;
};

/* Takes the image: 8-bit R, G, B, width * height of them, into `out`. */
void develop(const struct canvas *c, const struct camera *how, uint8_t *out);
#endif
