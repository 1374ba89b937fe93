/* augment/draw/affine_draw.h - the affine move of an image with boxes: drawn, and boxes moved by
 * it.
 */
#ifndef IMREC_AUGMENT_DRAW_AFFINE_DRAW_H
#define IMREC_AUGMENT_DRAW_AFFINE_DRAW_H

#include "augment/draw/det_label.h"
#include "augment/draw/draw.h"

/* Whether the sample is moved. */
bool affine_is_drawn(const struct recipe *r, struct sample_key key);
/* The move of an image of width x height px into its slot: matrix, tilt and size of the result.
 * `drawn` false: only its middle comes to that of the slot, `scale` times as large. */
void affine_draw(const struct recipe *r, struct sample_key key, uint32_t width, uint32_t height,
                 bool drawn, float scale, struct imrec_draw *d);
/* Boxes of that image become those of its slot. Those of which too little is seen, that are too
 * small or too thin, are dropped. */
void affine_move(const struct recipe *r, const struct imrec_draw *d, uint32_t width,
                 uint32_t height, struct det_label *label);
#endif
