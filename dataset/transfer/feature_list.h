/* dataset/transfer/feature_list.h - what a tf.train.Example was made of, as text: its features in
 * their order, with their types. Records keep it in a field, so that they become the same Example
 * again (docs/formats/tfrecord.md). */
#ifndef IMREC_DATASET_TRANSFER_FEATURE_LIST_H
#define IMREC_DATASET_TRANSFER_FEATURE_LIST_H

#include "base/buf.h"
#include "formats/tfrecord/example.h"

/* "image:image/encoded label.int64:image/class/label bytes:image/format" */
#define SAMPLE_FEATURES "__features__"

enum feature_role { FEATURE_FIELD, FEATURE_IMAGE, FEATURE_MASK, FEATURE_LABEL };

struct feature_word {
    enum feature_role role;
    enum example_type type; /* of labels and fields */
    uint64_t count;         /* EXAMPLE_BYTES: values */
    struct bytes name;      /* as a word (formats/field_file.h) */
};

/* Appends one whose name is no word yet. */
IMREC_NODISCARD enum imrec_status
feature_list_add(struct buf *text, const struct feature_word *f, struct imrec_error *err);
/* Takes the next one off *left, which is not empty. False: it is none. */
bool feature_list_next(struct bytes *left, struct feature_word *out);
#endif
