/* formats/recordio/record_fields.h - named fields, and the mask, after the image of an image
 * record. docs/formats/record_fields.md is the specification:
 *     image | fields | u32 their number | u32 their bytes | u32 CRC-32C | 8 bytes of magic
 * Each: u8 type | u8 0 | u16 bytes of the name | u32 bytes of the value | name | value. */
#ifndef IMREC_FORMATS_RECORDIO_RECORD_FIELDS_H
#define IMREC_FORMATS_RECORDIO_RECORD_FIELDS_H

#include "base/buf.h"
#include "formats/record_field.h"
#include "imrec/error.h"

#define RECORD_FIELDS_TRAILER_BYTES 20u
#define RECORD_FIELD_HEAD_BYTES     8u
#define RECORD_FIELDS_MOST          65535u
#define RECORD_FIELD_MASK           "mask" /* the name of the mask, a PNG */

struct record_payload { /* views of the bytes after the labels */
    struct bytes image, mask;
    struct bytes fields; /* record_fields_next() takes them off; the mask is one of them */
    uint32_t field_count;
};

/* Cuts `payload`, the bytes after the labels, by its trailer: that of fields, or that of a mask
 * alone (record_mask.h). A wrong one is IMREC_ERR_CORRUPT; the image is all of `payload` then, as
 * it is where there is no trailer. */
IMREC_NODISCARD enum imrec_status
record_payload_split(struct bytes payload, struct record_payload *out, struct imrec_error *err);
/* The next field of those that were split off. False: there is none. */
bool record_fields_next(struct bytes *fields, struct record_field *out);

/* Bytes that record_fields_append() adds; UINT64_MAX: names or values are too long, or too many. */
uint64_t record_fields_bytes(const struct record_field *f, uint32_t n);
/* Appends n >= 1 fields and their trailer to an image. */
IMREC_NODISCARD enum imrec_status record_fields_append(struct buf *out,
                                                       const struct record_field *f, uint32_t n,
                                                       struct imrec_error *err);
#endif
