/* dataset/transfer/example_again.h - a record that was an Example becomes the same one again. */
#ifndef IMREC_DATASET_TRANSFER_EXAMPLE_AGAIN_H
#define IMREC_DATASET_TRANSFER_EXAMPLE_AGAIN_H

#include "dataset/transfer/example_parts.h"

/* The items of a record whose field SAMPLE_FEATURES is `text`. What the text does not name is added
 * after them. */
IMREC_NODISCARD enum imrec_status example_again(struct example_parts *x,
                                                const struct imrec_record *r, struct bytes text,
                                                uint64_t *dropped, struct imrec_error *err);
#endif
