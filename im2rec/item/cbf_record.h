/* im2rec/item/cbf_record.h - what a worker prepares of an image for a CBF file: u32 bytes of the
 * image, then the sequence of the first stream, `image` or `features`. */
#ifndef IMREC_IM2REC_ITEM_CBF_RECORD_H
#define IMREC_IM2REC_ITEM_CBF_RECORD_H

#include "base/buf.h"
#include "base/image.h"

IMREC_NODISCARD enum imrec_status
cbf_image_record(struct bytes image, struct buf *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
cbf_pixel_record(const struct imrec_image *image, struct buf *out, struct imrec_error *err);
#endif
