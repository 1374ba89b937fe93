/* codec/jpeg_try.h - the faster of the two decoders, for JPEG that are plain. */
#ifndef IMREC_CODEC_JPEG_TRY_H
#define IMREC_CODEC_JPEG_TRY_H

#include "codec/format.h"

/* Decides by the header alone; the decoder finds out the rest. The processor has no say, even where
 * it has no vectors that we use: who decodes an image, and so what is found in a damaged one, must
 * not depend on it. */
bool jpeg_may_be_plain(const struct jpeg_head *h, uint32_t channels);

/* Decodes a region to rows, or with no sink only reads all of the image. *done: it has been
 * decoded, without a warning. Else libjpeg is to decode it from the start. */
IMREC_NODISCARD enum imrec_status
jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done, struct imrec_error *err);
/* The whole image, scaled, to `out`, which has its size. */
IMREC_NODISCARD enum imrec_status jpeg_try_baseline_whole(struct codec *c, uint32_t denominator,
                                                          const struct imrec_image *out, bool *done,
                                                          struct imrec_error *err);
#endif
