/* formats/recordio/record_mask.h - a mask after the image of an image record:
 *     image | mask (a PNG) | u32 bytes of the mask | u32 its CRC-32C | 8 bytes of magic
 * docs/formats/record_mask.md is the specification. */
#ifndef IMREC_FORMATS_RECORDIO_RECORD_MASK_H
#define IMREC_FORMATS_RECORDIO_RECORD_MASK_H

#include "base/bytes.h"
#include "imrec/error.h"

#define RECORD_MASK_TRAILER_BYTES 16u

/* Cuts `payload`, the bytes after the labels, into image and mask; *mask is empty where there is
 * none. A wrong trailer is IMREC_ERR_CORRUPT; *image is all of `payload` then. */
IMREC_NODISCARD enum imrec_status record_mask_split(struct bytes payload, struct bytes *image,
                                                    struct bytes *mask, struct imrec_error *err);
/* What follows a mask. */
void record_mask_trailer(struct bytes mask, uint8_t out[RECORD_MASK_TRAILER_BYTES]);
#endif
