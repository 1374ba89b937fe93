/* dataset/dataset_check.h - does an image decode, whole? Or is a sound one? */
#ifndef IMREC_DATASET_DATASET_CHECK_H
#define IMREC_DATASET_DATASET_CHECK_H

#include "codec/codec.h"

#define CHECK_MAX_PIXELS 178956970 /* as the iterator's and the packer's default */

/* Decodes all of it and keeps nothing; its mask, whose size must be the image's, may follow it, or
 * is `mask`. *warnings counts the decoder's corrections. */
IMREC_NODISCARD enum imrec_status check_image(struct codec *c, struct bytes image,
                                              struct bytes mask, int64_t max_pixels,
                                              uint32_t *warnings, struct imrec_error *err);
#endif
