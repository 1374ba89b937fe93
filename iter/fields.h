/* iter/fields.h - named fields of samples (fields=): what workers find is kept slot by slot, and
 * put together when the batch is full, in the order of the slots. */
#ifndef IMREC_ITER_FIELDS_H
#define IMREC_ITER_FIELDS_H

#include "container/container.h"
#include "formats/field_names.h"
#include "imrec/iterator.h"

struct field_value { /* of a slot; its memory is used again */
    uint8_t *p;
    size_t n, room;
    enum imrec_field_kind kind;
};

struct field_column { /* of a batch */
    uint8_t *bytes;
    size_t room;
    uint64_t *offsets; /* batch_size + 1 */
    uint8_t *kinds;
};

struct batch_fields {
    struct field_names names;
    uint32_t depth, batch_size;
    size_t most;                     /* bytes of a value */
    struct field_value *values;      /* [depth][batch_size][count] */
    struct field_column *columns;    /* [depth][count] */
    struct imrec_batch_field *shown; /* likewise */
};

/* fields= and max_field_bytes. */
IMREC_NODISCARD enum imrec_status batch_fields_init(struct batch_fields *f,
                                                    const struct imrec_iter_options *o,
                                                    struct imrec_error *err);
void batch_fields_free(struct batch_fields *f); /* zeroed memory is fine */
/* Bytes that they may take at most. */
uint64_t batch_fields_memory(const struct batch_fields *f);

/* Copies what the record has into a slot. A field that is missing, unless it is optional, or larger
 * than max_field_bytes fails the sample. Any thread, a slot each. */
IMREC_NODISCARD enum imrec_status batch_fields_take(struct batch_fields *f, uint32_t cell,
                                                    uint32_t slot, const struct record *r,
                                                    struct imrec_error *err);
/* The record's field of that name; NULL: it has none. batch_field_missing() says that, and of
 * `option`, which wants it, how it may be missing. */
const struct record_field *batch_field_find(const struct record *r, const char *name);
IMREC_NODISCARD enum imrec_status batch_field_missing(const struct record *r, const char *option,
                                                      const char *name, struct imrec_error *err);
void batch_fields_clear(struct batch_fields *f, uint32_t cell, uint32_t slot);
void batch_fields_begin(struct batch_fields *f, uint32_t cell); /* clears all of a batch */
/* Makes the columns of a full batch. */
IMREC_NODISCARD enum imrec_status
batch_fields_join(struct batch_fields *f, uint32_t cell, struct imrec_error *err);
/* The columns, for the consumer; NULL: not asked for. */
const struct imrec_batch_field *batch_fields_show(struct batch_fields *f, uint32_t cell);
#endif
