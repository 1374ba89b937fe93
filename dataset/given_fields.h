/* dataset/given_fields.h - fields of a record as a reader gives them, and as a writer is given
 * them. */
#ifndef IMREC_DATASET_GIVEN_FIELDS_H
#define IMREC_DATASET_GIVEN_FIELDS_H

#include "formats/record_field.h"
#include "imrec/records.h"

struct given_fields { /* reused */
    struct imrec_field *fields;
    uint64_t room;
};

/* Field i of the record in hand. */
IMREC_NODISCARD enum imrec_status given_fields_put(struct given_fields *g, uint32_t i,
                                                   const struct record_field *f,
                                                   struct imrec_error *err);
void given_fields_free(struct given_fields *g); /* zeroed memory is fine */
/* A field of the caller's; false: it is none. */
bool given_field_take(const struct imrec_field *f, struct record_field *out);
#endif
