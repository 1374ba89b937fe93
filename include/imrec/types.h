/* imrec/types.h - types of parameters: shapes, shares, value types and layouts. */
#ifndef IMREC_TYPES_H
#define IMREC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Turns a row of a parameter table into a field of the options struct. */
#define IMREC_FIELD(ctype, name, ...) ctype name;

struct imrec_shape { /* of one sample */
    uint32_t channels, height, width;
};

struct imrec_share { /* "K/N": share K, from 0, of N equal ones */
    int64_t index, count;
};
enum imrec_dtype { IMREC_FLOAT32, IMREC_FLOAT16, IMREC_UINT8, IMREC_INT8, IMREC_BFLOAT16 };
/* Type of a mask's values; none: masks are not delivered. */
enum imrec_mask_type { IMREC_MASK_NONE, IMREC_MASK_UINT8, IMREC_MASK_UINT16, IMREC_MASK_INT32 };
/* What the values of a mask are: classes of pixels, or the numbers of the label's objects. */
enum imrec_mask_kind { IMREC_MASK_SEMANTIC, IMREC_MASK_INSTANCE };
enum imrec_label_dtype { IMREC_LABEL_FLOAT32, IMREC_LABEL_FLOAT64, IMREC_LABEL_INT64 };
/* Values of a further tensor of a batch (images=). */
enum imrec_image_type {
    IMREC_IMAGE_PIXELS, /* those of an image, of the batch's dtype */
    IMREC_IMAGE_UINT8,  /* from here on: of a map, as its PNG stores them */
    IMREC_IMAGE_UINT16,
    IMREC_IMAGE_INT32,
    IMREC_IMAGE_FLOAT32,
};
enum imrec_layout { IMREC_NCHW, IMREC_NHWC };
/* What there is of a field of a sample. */
enum imrec_field_kind {
    IMREC_FIELD_NONE,    /* in a batch: padding, a failed sample, or one without this field */
    IMREC_FIELD_BYTES,   /* a text, a file; it may be empty */
    IMREC_FIELD_INT64,   /* 8 bytes each, little-endian */
    IMREC_FIELD_FLOAT32, /* 4 bytes each, little-endian */
};
#endif
