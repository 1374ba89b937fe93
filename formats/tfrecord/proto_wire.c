/* formats/tfrecord/proto_wire.c - the fields of a message in protobuf's wire format. */
#include "formats/tfrecord/proto_wire.h"

#include "base/error.h"

#include <inttypes.h>

#define VARINT_MOST 10u /* bytes of 7 bits */

bool wire_varint(struct bytes *left, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < left->n && i < VARINT_MOST; i++) {
        v |= (uint64_t)(left->p[i] & 0x7f) << 7 * i;
        if (left->p[i] < 0x80) {
            *out = v;
            left->p += i + 1;
            left->n -= i + 1;
            return true;
        }
    }
    return false;
}

static enum imrec_status
cut_off(const struct wire_field *f, uint64_t bytes, size_t left, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "field %" PRIu32 " of a message has %" PRIu64 " bytes, %zu are left",
                      f->number, bytes, left);
}

static enum imrec_status
take_fixed(struct bytes *left, struct wire_field *f, size_t n, struct imrec_error *err)
{
    if (left->n < n)
        return cut_off(f, n, left->n, err);
    f->value = n == 4 ? load_le32(left->p) : load_le64(left->p);
    left->p += n;
    left->n -= n;
    return IMREC_OK;
}

static enum imrec_status
take_bytes(struct bytes *left, struct wire_field *f, struct imrec_error *err)
{
    uint64_t n;
    if (!wire_varint(left, &n))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the length of field %" PRIu32 " does not end",
                          f->number);
    if (n > left->n)
        return cut_off(f, n, left->n, err);
    f->bytes = (struct bytes){left->p, (size_t)n};
    left->p += n;
    left->n -= (size_t)n;
    return IMREC_OK;
}

enum imrec_status wire_next(struct bytes *left, struct wire_field *out, struct imrec_error *err)
{
    uint64_t tag;
    if (left->n == 0)
        return IMREC_END;
    if (!wire_varint(left, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "no field of a message begins %zu bytes before its end", left->n);
    *out = (struct wire_field){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
    switch (out->type) {
    case WIRE_VARINT:
        return wire_varint(left, &out->value)
                   ? IMREC_OK
                   : imrec_fail(err, IMREC_ERR_CORRUPT,
                                "the number of field %" PRIu32 " does not end", out->number);
    case WIRE_FIXED64:
        return take_fixed(left, out, 8, err);
    case WIRE_FIXED32:
        return take_fixed(left, out, 4, err);
    case WIRE_BYTES:
        return take_bytes(left, out, err);
    }
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "field %" PRIu32 " of a message has type %u: it may have 0, 1, 2 or 5",
                      out->number, (unsigned)(tag & 7));
}
