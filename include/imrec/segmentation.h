/* imrec/segmentation.h - masks (a class or number for each pixel of an image) and keypoints (places
 * on it). See docs/guide/segmentation.md, and docs/formats/record_mask.md for masks in records. */
#ifndef IMREC_SEGMENTATION_H
#define IMREC_SEGMENTATION_H

#include "imrec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points at a mask: width * height values, dense, row after row from the top. */
struct imrec_mask {
    const uint16_t *values;
    uint32_t width, height; /* px */
    uint32_t bits;          /* 8 or 16, as stored */
};

/* A keypoint at the end of a label, or, with boxes, of each object. */
struct imrec_keypoint {
    float x, y;       /* fractions of the image's sides: 0 is the left or upper edge, 1 the other */
    float visibility; /* 0 not labelled (x and y have no meaning), 1 hidden, 2 visible; -1, -2: was
                         hidden, visible, and is now outside of what the slot shows */
};

/* Decodes a PNG with grey of 1 to 16 bits, or with a palette, whose indexes are the values. *out
 * points into the decoder's memory and is valid until its next call. Another kind of image is
 * IMREC_ERR_UNSUPPORTED, a broken one IMREC_ERR_CORRUPT, one of more than max_pixels (negative: no
 * limit) IMREC_ERR_LIMIT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode_mask(struct imrec_decoder *d, const void *png, size_t n, int64_t max_pixels,
                          struct imrec_mask *out, struct imrec_error *err);

/* Writes the bytes that follow a mask in a record: image, mask, these bytes. n < 2^32. */
#define IMREC_MASK_TRAILER_BYTES 16
IMREC_API void imrec_mask_trailer(const void *mask, size_t n, void *out);

/* Splits the bytes of a record after its labels: an image of *image_bytes, then a mask of
 * *mask_bytes (0: no mask). A wrong trailer is IMREC_ERR_CORRUPT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_mask_split(const void *payload, size_t n, size_t *image_bytes, size_t *mask_bytes,
                 struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
