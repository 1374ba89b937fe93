/* formats/recordio/image_record.h - label header and image inside a record, little-endian:
 *     u32 flag | f32 label | u64 id | u64 id2 | flag x f32 labels | image bytes
 * docs/formats/image_record.md is the specification. */
#ifndef IMREC_FORMATS_RECORDIO_IMAGE_RECORD_H
#define IMREC_FORMATS_RECORDIO_IMAGE_RECORD_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

#define IMAGE_RECORD_HEADER_BYTES 24u

struct image_record { /* views into the record */
    uint32_t flag;    /* number of labels after the header; 0: the one in the header */
    float label;      /* the header's */
    uint64_t id, id2;
    uint32_t label_count; /* flag, or 1 */
    struct bytes labels;  /* label_count little-endian floats, maybe unaligned */
    struct bytes image;
};

IMREC_NODISCARD enum imrec_status
image_record_parse(struct bytes record, struct image_record *out, struct imrec_error *err);
/* Whether the record may name keys instead of being a sample: flag 2, no image, labels that are
 * whole numbers 0 <= a < b (or a = b from 2^24 on, where they may be rounded); they are [*first,
 * *end). docs/formats/image_record.md, "Metadata". */
bool image_record_range(const struct image_record *r, uint64_t *first, uint64_t *end);
float image_record_label(const struct image_record *r, uint32_t i);

/* Whether a record can hold the label: it is finite and in float32's range, and, where it is a
 * whole number, float32 has exactly that number (every one up to 2^24). Fractions are rounded, and
 * measures from 1e20 on, which no id of 64 bits reaches. */
bool image_record_holds(double label);
/* Adds `offset` to each label; a sum that a record cannot hold is IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status
image_record_shift(float *labels, uint32_t count, int64_t offset, struct imrec_error *err);

/* Appends header and labels to `out`; the image follows them. One label: flag 0. */
IMREC_NODISCARD enum imrec_status
image_record_head(struct buf *out, const float *labels, uint32_t label_count, bool force_flag,
                  uint64_t id, uint64_t id2, struct imrec_error *err);
#endif
