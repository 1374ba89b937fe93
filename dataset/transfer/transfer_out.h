/* dataset/transfer/transfer_out.h - where records are written to: one file a kind. */
#ifndef IMREC_DATASET_TRANSFER_TRANSFER_OUT_H
#define IMREC_DATASET_TRANSFER_TRANSFER_OUT_H

#include "dataset/checked_reader.h"
#include "formats/set/set_names.h"
#include "imrec/convert.h"

#include <string.h>

/* One record at a time is made, then written into the file that is open: it may be another one
 * than before the record was made. */
struct transfer_kind {
    const char *const *suffixes;     /* NULL at the end */
    const enum set_file *side_files; /* next to a file; SET_REC at the end */
    bool binary_index;               /* a file that had the name before may have one, .idxb */
    enum imrec_status (*begin)(void **out, struct imrec_error *err);
    /* r: the record as it was read, with labels as they are to be written. *dropped is raised by
     * fields that the kind cannot hold. */
    enum imrec_status (*make)(void *out, const struct imrec_record *r, uint64_t *dropped,
                              struct imrec_error *err);
    /* Of one that comes out of such a file, as it is there. NULL: make(). */
    enum imrec_status (*copy)(void *out, const struct imrec_record *r, struct imrec_error *err);
    enum imrec_status (*open)(void *out, const char *uri, struct imrec_error *err);
    /* Bytes of the open file, were it finished after the record that was made, if there is one. */
    uint64_t (*size)(const void *out);
    enum imrec_status (*write)(void *out, struct imrec_error *err);
    /* The file and those next to it are durable under their temporary names, and closed; on failure
     * they are gone. *bytes is raised by those of the file. */
    enum imrec_status (*finish)(void *out, uint64_t *bytes, struct imrec_error *err);
    void (*end)(void *out); /* a file that is open is gone; NULL is allowed */
};

extern const struct transfer_kind transfer_example, transfer_record, transfer_tar;

/* write() of what make() has put into a buffer, which is empty then. */
struct sink;
struct buf;
IMREC_NODISCARD enum imrec_status
transfer_append(struct sink *sink, struct buf *made, struct imrec_error *err);
/* sink_finish() of *sink, which is NULL then; what cannot be made durable is removed. *bytes is
 * raised by its bytes. */
IMREC_NODISCARD enum imrec_status
transfer_finish(struct sink **sink, uint64_t *bytes, struct imrec_error *err);

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
