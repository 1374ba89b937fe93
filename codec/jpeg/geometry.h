/* codec/jpeg/geometry.h - which blocks of an image are made for a region, and where their
 * samples are kept. */
#ifndef IMREC_CODEC_JPEG_GEOMETRY_H
#define IMREC_CODEC_JPEG_GEOMETRY_H

#include "codec/jpeg/frame.h"
#include "imrec/image.h"

#include <stddef.h>

enum { RING = 2 }; /* MCU rows that are kept */

struct span { /* columns or rows, to < end */
    uint32_t from, end;
};

struct plane {
    uint8_t *rows; /* the first row's first sample */
    size_t stride;
    uint32_t h, v;         /* blocks of an MCU, across and down */
    uint32_t across, down; /* pixels of a sample: 1, 2, 4; or 3 */
    bool is_smooth;  /* samples are weighed with their neighbours where a sample is two pixels; else
                        repeated */
    uint32_t block;  /* samples of a block's side: 8, or fewer of an image that is scaled */
    uint32_t height; /* of the ring */
    uint32_t width, all; /* the image's real samples, across and down */
    struct span mcus;    /* that are transformed, across */
    struct span needed;  /* MCU rows */
};

struct geometry {
    uint32_t across, down; /* MCUs */
    uint32_t height;       /* rows of pixels of one */
    uint32_t left;    /* of the first column that is made of planes: even where chroma is halved */
    uint32_t first;   /* MCU column that the planes begin with */
    uint32_t rows;    /* MCU rows to read */
    bool colour;      /* all components are wanted, else the first */
    bool looks_below; /* a row of pixels may need samples of the next MCU row */
    bool is_plain;    /* YCbCr to RGB in 4:4:4, 4:2:2 or 4:2:0, which have kernels of their own */
    struct plane plane[MOST_COMPONENTS];
};

/* What is wanted of an image: of one that is scaled the region is in its scaled pixels. */
struct geometry_request {
    struct imrec_rect region;
    uint32_t channels;    /* 1, 3, 4; 0 = no pixels are wanted, all of the bits are read */
    uint32_t denominator; /* 1, 2, 4, 8 */
};

/* The planes' `rows` stay. */
void geometry_measure(struct geometry *g, const struct frame *p, const struct geometry_request *r);

/* Row `y` of a component, from the sample in column `x`. */
static inline uint8_t *
plane_row(const struct geometry *g, uint32_t component, uint32_t y, uint32_t x)
{
    const struct plane *c = &g->plane[component];
    return c->rows + (y % c->height) * c->stride + (x - g->first * c->h * c->block);
}

/* The first sample of a component's block. */
static inline uint8_t *
plane_block(const struct geometry *g, uint32_t component, uint32_t row, uint32_t column)
{
    const uint32_t block = g->plane[component].block;
    return plane_row(g, component, row * block, column * block);
}

/* Of a plane that is weighed: the row of samples that is next nearest to row `y` of pixels. */
uint32_t plane_far_row(const struct plane *c, uint32_t y);

static inline uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static inline uint32_t at_most(uint32_t a, uint32_t most)
{
    return a < most ? a : most;
}
#endif
