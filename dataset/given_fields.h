/* dataset/given_fields.h - fields of a record as a reader gives them, and as a writer is given
 * them. */
#ifndef IMREC_DATASET_GIVEN_FIELDS_H
#define IMREC_DATASET_GIVEN_FIELDS_H

#include "base/buf.h"
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
/* Appends n >= 1 fields of the caller's, and their trailer, to a record. */
IMREC_NODISCARD enum imrec_status given_fields_append(struct buf *record,
                                                      const struct imrec_field *fields, uint32_t n,
                                                      struct imrec_error *err);
/* Appends a mask that is alone, and its trailer. */
IMREC_NODISCARD enum imrec_status
given_mask_append(struct buf *record, struct bytes mask, struct imrec_error *err);
/* Appends what follows the image of a record that has no header: its fields, with the mask as one
 * of them; or the mask alone; or nothing. */
IMREC_NODISCARD enum imrec_status
given_rest_append(struct buf *record, const struct imrec_record *r, struct imrec_error *err);
#endif
