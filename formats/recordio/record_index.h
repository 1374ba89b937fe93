/* formats/recordio/record_index.h - .idx: one line a record, "key <tab> offset of its head".
 * docs/formats/idx.md is the specification. */
#ifndef IMREC_FORMATS_RECORDIO_RECORD_INDEX_H
#define IMREC_FORMATS_RECORDIO_RECORD_INDEX_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

struct index_cursor { /* borrows name and text */
    const char *name;
    const uint8_t *begin, *pos, *end;
    uint64_t line; /* of the last line returned, from 1 */
};

/* `name` is the file's, for messages. */
void record_index_begin(struct index_cursor *c, const char *name, struct bytes text);

/* The next line in the file's order, duplicates and disorder kept. IMREC_END at the end.
 * IMREC_ERR_CORRUPT names file, line and what is wrong; err->offset is the line's offset. */
IMREC_NODISCARD enum imrec_status
record_index_next(struct index_cursor *c, uint64_t *key, uint64_t *offset, struct imrec_error *err);

/* Appends one line. */
IMREC_NODISCARD enum imrec_status
record_index_write(struct buf *out, uint64_t key, uint64_t offset, struct imrec_error *err);
#endif
