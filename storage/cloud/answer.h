/* storage/cloud/answer.h - what stores answer in XML: items, each with the texts in it. */
#ifndef IMREC_STORAGE_CLOUD_ANSWER_H
#define IMREC_STORAGE_CLOUD_ANSWER_H

#include "base/bytes.h"
#include "imrec/error.h"

#define ANSWER_FIELDS 24

struct answer_item {
    const char *name; /* of the element */
    uint32_t count;
    const char *field[ANSWER_FIELDS]; /* the elements in it that hold text alone, at any depth */
    const char *value[ANSWER_FIELDS];
};

/* The text of a field; "" where it has none of the name. */
const char *answer_value(const struct answer_item *item, const char *field);

typedef enum imrec_status
answer_item_fn(void *user, const struct answer_item *item, struct imrec_error *err);

/* Calls `found` for every element at `depth` (the root's is 1), and for those above it that hold
 * text alone, which are their own field. Hostile bytes: no entities and no document type are taken,
 * depth, texts and fields are bounded. `shown` begins a message. */
IMREC_NODISCARD enum imrec_status answer_items(const char *shown, struct bytes text, int depth,
                                               answer_item_fn *found, void *user,
                                               struct imrec_error *err);
#endif
