/* imrec/segmentation.h - masks and keypoints: what each pixel of an image is, and places on it.
 * docs/guide/segmentation.md says more, docs/formats/record_mask.md how a record carries a mask. */
#ifndef IMREC_SEGMENTATION_H
#define IMREC_SEGMENTATION_H

#include "imrec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A view of a mask: width * height values, dense, row after row from the top. */
struct imrec_mask {
    const uint16_t *values;
    uint32_t width, height; /* px */
    uint32_t bits;          /* 8 or 16: as it is stored */
};

/* A keypoint, as it lies at the end of a label, or of each object of one with boxes. */
struct imrec_keypoint {
    float x, y;       /* shares of the image's sides: 0 is the left or upper edge, 1 the other */
    float visibility; /* 0 not labelled (x and y mean nothing), 1 hidden, 2 visible; -1, -2: was
                         hidden, visible, and is outside of what the slot shows */
};

/* Decodes a PNG of grey (1 to 16 bits) or of a palette, whose indexes the values are. *out views
 * the decoder's memory until its next call. What is no such PNG is IMREC_ERR_UNSUPPORTED, what is
 * broken IMREC_ERR_CORRUPT, one of more than max_pixels (negative: no limit) IMREC_ERR_LIMIT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode_mask(struct imrec_decoder *d, const void *png, size_t n, int64_t max_pixels,
                          struct imrec_mask *out, struct imrec_error *err);

/* What stands behind a mask in a record: image, mask, these bytes. n < 2^32. */
#define IMREC_MASK_TRAILER_BYTES 16
IMREC_API void imrec_mask_trailer(const void *mask, size_t n, void *out);

/* The image of a record's bytes behind its labels ends at *image_bytes; *mask_bytes of a mask
 * follow, or none. A trailer that is wrong is IMREC_ERR_CORRUPT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_mask_split(const void *payload, size_t n, size_t *image_bytes, size_t *mask_bytes,
                 struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
