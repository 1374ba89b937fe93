/* formats/record_field.h - a named piece of a sample next to its image and labels: a caption, JSON,
 * a second image. */
#ifndef IMREC_FORMATS_RECORD_FIELD_H
#define IMREC_FORMATS_RECORD_FIELD_H

#include "base/bytes.h"

#include <stdint.h>

enum field_type {
    FIELD_BYTES,
    FIELD_INT64,   /* 8 bytes each, little-endian */
    FIELD_FLOAT32, /* 4 bytes each, little-endian */
    FIELD_TYPES
};

struct record_field { /* views */
    struct bytes name, value;
    enum field_type type;
};
#endif
