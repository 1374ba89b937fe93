/* augment/paint_ops.h - operations of RandAugment, TrivialAugment, AutoAugment and AugMix, done to
 * the crop. */
#ifndef IMREC_AUGMENT_PAINT_OPS_H
#define IMREC_AUGMENT_PAINT_OPS_H

#include "augment/steps.h"

/* PAINT_OPS of steps_paint(). */
IMREC_NODISCARD enum imrec_status
paint_ops(const struct recipe *r, const struct imrec_draw *d, const struct paint_sample *sample,
          struct image images[2], uint32_t *at, struct resize_scratch *scratch,
          struct imrec_error *err);

/* Bytes of *scratch that it keeps of an image of that many values. */
uint64_t paint_ops_claim(const struct recipe *r, uint64_t values);
#endif
