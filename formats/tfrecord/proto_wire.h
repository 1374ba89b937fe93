/* formats/tfrecord/proto_wire.h - the fields of a message in protobuf's wire format, one after the
 * other (protobuf.dev/programming-guides/encoding). */
#ifndef IMREC_FORMATS_TFRECORD_PROTO_WIRE_H
#define IMREC_FORMATS_TFRECORD_PROTO_WIRE_H

#include "base/bytes.h"
#include "imrec/error.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;     /* of all but WIRE_BYTES */
    struct bytes bytes; /* of WIRE_BYTES: text, a message, packed numbers */
};

/* Takes a number of 1 to 10 bytes off *left; bits above 64 are dropped, as protobuf does. False: it
 * does not end. */
bool wire_varint(struct bytes *left, uint64_t *out);
/* Takes the next field off *left. IMREC_END: there is none. IMREC_ERR_CORRUPT: it is no field, or
 * longer than what is left; so is a group, which no version 3 of protobuf writes. */
IMREC_NODISCARD enum imrec_status
wire_next(struct bytes *left, struct wire_field *out, struct imrec_error *err);
#endif
