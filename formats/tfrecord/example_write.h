/* formats/tfrecord/example_write.h - a tf.train.Example of given features. */
#ifndef IMREC_FORMATS_TFRECORD_EXAMPLE_WRITE_H
#define IMREC_FORMATS_TFRECORD_EXAMPLE_WRITE_H

#include "base/buf.h"
#include "formats/tfrecord/example.h"

struct example_item {
    struct bytes name;
    enum example_type type;   /* EXAMPLE_NONE: a feature of no values and no type */
    struct bytes bytes;       /* EXAMPLE_BYTES without a list: one value */
    const struct bytes *list; /* EXAMPLE_BYTES: `count` values; NULL: one */
    const int64_t *ints;      /* EXAMPLE_INTS, packed */
    const uint8_t *floats;    /* EXAMPLE_FLOATS: little-endian, packed */
    size_t count;             /* of numbers, or of the list */
};

/* Appends the Example, its features in the given order; the names must differ. */
IMREC_NODISCARD enum imrec_status
example_write(const struct example_item *items, size_t n, struct buf *out, struct imrec_error *err);
#endif
