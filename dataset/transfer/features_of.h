/* dataset/transfer/features_of.h - the list of an Example's features, of which a record is made. */
#ifndef IMREC_DATASET_TRANSFER_FEATURES_OF_H
#define IMREC_DATASET_TRANSFER_FEATURES_OF_H

#include "dataset/transfer/example_parts.h"

struct feature_entry;

struct features_of {            /* zeroed: empty */
    const char *image, *label;  /* names of features; label NULL: labels are none */
    struct buf text;            /* for SAMPLE_FEATURES */
    struct imrec_field *fields; /* in the order of the Example */
    uint32_t field_count;
    struct feature_entry *entries;
    uint64_t entry_room, field_room;
};

/* NULL and "" are TensorFlow's; label "none": there are none. */
void features_of_init(struct features_of *f, const char *image, const char *label);
void features_of_free(struct features_of *f);
/* Of a record whose data is an Example and whose fields are those of example_record(). Of several
 * features of one name the last one counts. There is room for one more field. */
IMREC_NODISCARD enum imrec_status
features_of_record(struct features_of *f, const struct imrec_record *r, struct imrec_error *err);
#endif
