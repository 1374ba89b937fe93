/* dataset/transfer/record_example.h - a record as a tf.train.Example. */
#ifndef IMREC_DATASET_TRANSFER_RECORD_EXAMPLE_H
#define IMREC_DATASET_TRANSFER_RECORD_EXAMPLE_H

#include "dataset/transfer/example_parts.h"

/* The Example of a record: image/class/label, image/encoded, image/format, ids, a mask, fields; or,
 * of a record that was one (feature_list.h), the same again. *out is valid until the next call.
 * *dropped is raised by fields that an Example cannot hold. */
IMREC_NODISCARD enum imrec_status example_of_record(struct example_parts *x,
                                                    const struct imrec_record *r, struct bytes *out,
                                                    uint64_t *dropped, struct imrec_error *err);
#endif
