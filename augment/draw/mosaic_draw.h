/* augment/draw/mosaic_draw.h - four samples in one slot: what is drawn for the slot, and where each
 * of the four lies. */
#ifndef IMREC_AUGMENT_DRAW_MOSAIC_DRAW_H
#define IMREC_AUGMENT_DRAW_MOSAIC_DRAW_H

#include "augment/draw/det_label.h"
#include "augment/draw/draw.h"

enum { MOSAIC_TILES = 4 };

struct mosaic_draw {
    uint32_t width, height;             /* of the canvas, px */
    uint32_t x, y;                      /* where the four meet on it */
    float scale;                        /* of what the slot shows of it */
    uint64_t partner[MOSAIC_TILES - 1]; /* random bits, for each tile but the first */
};

static inline bool recipe_has_mosaics(const struct recipe *r)
{
    return r->det.on && r->o->rand_mosaic_prob > 0;
}
/* False: the slot shows its own sample alone. */
bool mosaic_draw(const struct recipe *r, struct sample_key key, struct mosaic_draw *out);

/* A tile's image, which may reach over the canvas's edges: 0 and 1 are the upper ones, 2 and 3
 * the lower ones. */
struct mosaic_place {
    int64_t x, y; /* of its left upper corner on the canvas, px */
    uint32_t width, height;
};
struct mosaic_place
mosaic_place(const struct mosaic_draw *m, uint32_t tile, uint32_t width, uint32_t height);

/* Values of an object of a tile, fractions of its image, become those of the canvas; nothing is cut
 * off. The object ends in that many keypoints. */
void mosaic_move_object(const struct mosaic_draw *m, const struct mosaic_place *at,
                        uint32_t keypoints, float *object, uint32_t n);
#endif
