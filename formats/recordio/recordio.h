/* formats/recordio/recordio.h - RecordIO as bytes: measure, join, resynchronise, frame.
 * docs/formats/recordio.md is the specification. No I/O, no threads, no state. */
#ifndef IMREC_FORMATS_RECORDIO_RECORDIO_H
#define IMREC_FORMATS_RECORDIO_RECORDIO_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

#define RECORDIO_MAGIC           0xced7230au
#define RECORDIO_ALIGN           4u
#define RECORDIO_PART_HEAD_BYTES 8u
#define RECORDIO_PART_MAX_BYTES  ((1u << 29) - 1u)

/* Offset of the first aligned record head (magic, part flag 0 or 1) in p[0..n), or n if there
 * is none; p is on a 4-byte boundary of the shard. A head needs 8 bytes. */
size_t recordio_sync(const uint8_t *p, size_t n);

struct recordio_span {
    size_t bytes; /* of the shard, all parts, heads and padding included */
    size_t size;  /* of the record itself */
    uint32_t parts;
};

/* Measures the record whose head is at p[0]. IMREC_OK: *out is filled. IMREC_END: n bytes
 * are too few; out->bytes is the smallest number with which to ask again (> n). IMREC_ERR_CORRUPT:
 * not a well-formed record; `at` is p's offset in the shard, for the message. */
IMREC_NODISCARD enum imrec_status recordio_measure(const uint8_t *p, size_t n, uint64_t at,
                                                   struct recordio_span *out,
                                                   struct imrec_error *err);

/* Offset of the first aligned magic inside the payload of a measured record, or span->bytes.
 * No writer leaves one there, so bytes from it on belong to records that a damaged length
 * swallowed. Reads the whole payload: for verifying, and for searching before damage. */
size_t recordio_swallowed(const uint8_t *p, const struct recordio_span *span);

/* Joins the parts of a measured record inside its own bytes, magics put back, and returns the
 * record; a record of one part is not moved. */
struct bytes recordio_join(uint8_t *p, const struct recordio_span *span);
/* The same into scratch, for bytes that must not change; one part: a view, nothing copied. */
IMREC_NODISCARD enum imrec_status recordio_copy(const uint8_t *p, const struct recordio_span *span,
                                                struct buf *scratch, struct bytes *out,
                                                struct imrec_error *err);

/* Appends the framed record to `out`. A record of 2^29 bytes or more is IMREC_ERR_LIMIT. */
IMREC_NODISCARD enum imrec_status
recordio_frame(struct bytes record, struct buf *out, struct imrec_error *err);
/* Bytes of the framed record: each part has a head, and there is one part more than words that are
 * the magic. */
uint64_t recordio_framed_bytes(struct bytes record);
#endif
