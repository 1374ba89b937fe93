/* codec/mask_png.h - masks as PNG: grey of 1 to 16 bits, or a palette's indexes, and never colours.
 */
#ifndef IMREC_CODEC_MASK_PNG_H
#define IMREC_CODEC_MASK_PNG_H

#include "base/mask.h"
#include "codec/codec.h"

/* What the header says: the size and 8 or 16 bits (values is not touched). Colour, alpha and what
 * is no PNG are IMREC_ERR_UNSUPPORTED. */
IMREC_NODISCARD enum imrec_status
codec_mask_info(struct bytes png, struct mask *out, struct imrec_error *err);

/* Values as they are stored: grey of few bits is not spread, a palette is not looked at. */
IMREC_NODISCARD enum imrec_status codec_decode_mask(struct codec *c, struct bytes png,
                                                    int64_t max_pixels, struct mask *out,
                                                    struct imrec_error *err);
/* As grey of m->bits; *out views the codec's memory until its next call. */
IMREC_NODISCARD enum imrec_status codec_encode_mask(struct codec *c, const struct mask *m,
                                                    struct bytes *out, struct imrec_error *err);
#endif
