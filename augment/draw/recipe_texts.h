/* augment/draw/recipe_texts.h - parameters that are lists of numbers. */
#ifndef IMREC_AUGMENT_DRAW_RECIPE_TEXTS_H
#define IMREC_AUGMENT_DRAW_RECIPE_TEXTS_H

#include "augment/draw/recipe.h"

/* Angles, pairs of keypoints, magnitudes by sweep, the value that erases. r->o and r->keypoints
 * are known. */
IMREC_NODISCARD enum imrec_status recipe_read_texts(struct recipe *r, struct imrec_error *err);
#endif
