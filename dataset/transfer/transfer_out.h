/* dataset/transfer/transfer_out.h - where records are written to: one file a kind. */
#ifndef IMREC_DATASET_TRANSFER_TRANSFER_OUT_H
#define IMREC_DATASET_TRANSFER_TRANSFER_OUT_H

#include "dataset/checked_reader.h"
#include "imrec/convert.h"

#include <string.h>

struct transfer_kind {
    const char *const *suffixes; /* NULL at the end */
    enum imrec_status (*open)(const char *uri, void **out, struct imrec_error *err);
    /* r: the record as it was read, with labels as they are to be written. *dropped is raised by
     * fields that the kind cannot hold. */
    enum imrec_status (*put)(void *out, const struct imrec_record *r, uint64_t *dropped,
                             struct imrec_error *err);
    /* One that comes out of such a file, as it is there. NULL: put(). */
    enum imrec_status (*copy)(void *out, const struct imrec_record *r, struct imrec_error *err);
    uint64_t (*size)(const void *out);
    /* Makes it real; it is gone, also on failure. */
    enum imrec_status (*commit)(void *out, struct imrec_error *err);
    void (*abort)(void *out); /* removes it; NULL is allowed */
};

extern const struct transfer_kind transfer_example, transfer_record, transfer_tar;

/* Features that keep what a record header has. */
#define EXAMPLE_FORMAT "image/format"
#define EXAMPLE_ID     "image/id"
#define EXAMPLE_ID2    "image/id2"

static inline bool transfer_is_called(const struct imrec_field *f, const char *name)
{
    return f->name_bytes == strlen(name) && memcmp(f->name, name, f->name_bytes) == 0;
}
/* The number in a field of this name, if there is one. */
void transfer_take_number(const struct imrec_record *r, const char *name, uint64_t *to);
/* The bytes in the first field of this name; NULL: there is none. */
struct bytes transfer_text_in(const struct imrec_record *r, const char *name);
/* Whether a field is the record's mask. */
bool transfer_is_mask(const struct imrec_record *r, const struct imrec_field *f);
#endif
