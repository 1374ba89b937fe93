/* formats/tfrecord/example.h - the features of a tf.train.Example: names, each with bytes, floats
 * or whole numbers (tensorflow/core/example/example.proto, feature.proto).
 *
 * What protobuf's parser makes of the same bytes is read: unknown fields are passed over, numbers
 * are packed or not, pieces of a message are joined, of two kinds of values the last one counts.
 * Views of the Example; nothing is copied. The context of a SequenceExample is read as an Example.
 */
#ifndef IMREC_FORMATS_TFRECORD_EXAMPLE_H
#define IMREC_FORMATS_TFRECORD_EXAMPLE_H

#include "base/bytes.h"
#include "imrec/error.h"

enum example_type { EXAMPLE_NONE, EXAMPLE_BYTES, EXAMPLE_FLOATS, EXAMPLE_INTS };

/* In the order of the bytes. */
struct example_cursor {
    struct bytes example, features; /* what is left of both */
};

struct example_entry {
    struct bytes name;
    struct bytes bytes; /* of the map's entry: for example_look() */
};

void example_begin(struct example_cursor *c, struct bytes example);
/* The next feature. IMREC_END: there is none. One whose name was met before replaces that. */
IMREC_NODISCARD enum imrec_status
example_next(struct example_cursor *c, struct example_entry *out, struct imrec_error *err);

struct example_feature {
    struct bytes entry;
    enum example_type type;
    uint64_t count; /* values */
    uint64_t skip;  /* lists that come before the values */
};

/* Reads all of a feature once: example_value() takes what that has found good. */
IMREC_NODISCARD enum imrec_status
example_look(struct bytes entry, struct example_feature *out, struct imrec_error *err);

struct example_values {
    struct bytes entry, feature, list, packed; /* what is left of each */
    enum example_type type;
    uint64_t skip, seen; /* lists */
};

struct example_value { /* that of the feature's type */
    struct bytes bytes;
    int64_t i;
    float f;
};

void example_values(const struct example_feature *f, struct example_values *v);
/* The next value, of `count`; false: there is none. */
bool example_value(struct example_values *v, struct example_value *out);
/* The value of a feature that has one, of bytes; false: it has not. */
bool example_only_bytes(const struct example_feature *f, struct bytes *out);
#endif
