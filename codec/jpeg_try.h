/* codec/jpeg_try.h - the faster of the two decoders, for JPEG that are plain. */
#ifndef IMREC_CODEC_JPEG_TRY_H
#define IMREC_CODEC_JPEG_TRY_H

#include "codec/format.h"

/* Decodes a region to rows, or with no sink only reads all of the image. *done: it has been
 * decoded, without a warning. Else libjpeg is to decode it from the start. */
IMREC_NODISCARD enum imrec_status
jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done, struct imrec_error *err);
/* The whole image, scaled, to `out`, which has its size. */
IMREC_NODISCARD enum imrec_status jpeg_try_baseline_whole(struct codec *c, uint32_t denominator,
                                                          const struct imrec_image *out, bool *done,
                                                          struct imrec_error *err);
#endif
