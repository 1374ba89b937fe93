/* augment/draw/det_draw.h - what is random about an image with boxes: a pure function of its key,
 * its size and its label. */
#ifndef IMREC_AUGMENT_DRAW_DET_DRAW_H
#define IMREC_AUGMENT_DRAW_DET_DRAW_H

#include "augment/draw/det_label.h"
#include "augment/draw/draw.h"
#include "augment/draw/mosaic_draw.h"

/* Draws for an upright image of width x height px, and moves its boxes with it. */
IMREC_NODISCARD enum imrec_status det_draw(const struct recipe *r, struct sample_key key,
                                           uint32_t width, uint32_t height, struct det_label *label,
                                           struct imrec_draw *d, struct imrec_error *err);
/* The same for the canvas of a mosaic, whose boxes may reach over its edges. */
void det_draw_mosaic(const struct recipe *r, struct sample_key key, const struct mosaic_draw *m,
                     struct det_label *label, struct imrec_draw *d);
/* Colours and what is erased, for an image that is a slot already: it is not moved any more. */
void det_draw_made(const struct recipe *r, struct sample_key key, struct imrec_draw *d);
#endif
