/* augment/colour/ops.h - operations of RandAugment, TrivialAugment and AutoAugment, on the crop. */
#ifndef IMREC_AUGMENT_COLOUR_OPS_H
#define IMREC_AUGMENT_COLOUR_OPS_H

#include "augment/geometry/path.h"
#include "augment/resize/resize.h"
#include "base/cpu.h"
#include "imrec/augment.h"

/* What moves pixels makes an image of its own; all else works in place. */
bool op_moves(enum imrec_op op);
IMREC_NODISCARD enum imrec_status op_move(enum imrec_op op, float magnitude, uint8_t fill,
                                          const struct imrec_image *from, struct image *to,
                                          struct resize_scratch *scratch, struct imrec_error *err);
/* Where such an operation's pixels go. */
void op_path(enum imrec_op op, float magnitude, struct path *path);
IMREC_NODISCARD enum imrec_status
op_paint(enum imrec_op op, float magnitude, const struct imrec_image *p,
         struct resize_scratch *scratch, enum cpu_level level, struct imrec_error *err);
#endif
