/* tools/view/thumb.h - small JPEGs of images as they are packed. */
#ifndef IMREC_TOOLS_VIEW_THUMB_H
#define IMREC_TOOLS_VIEW_THUMB_H

#include "imrec/imrec.h"

enum { THUMB_PX = 256 };

/* Can a browser show the bytes as they are? Their type, or NULL. */
const char *thumb_mime(const struct imrec_image_info *i);
/* Decodes, shrinks so that the shorter side has px at most, and encodes again, into the decoder's
 * memory until its next call. */
IMREC_NODISCARD enum imrec_status
thumb_make(struct imrec_decoder *decoder, const struct imrec_record *r, uint32_t px,
           const void **bytes, size_t *n, struct imrec_error *err);
#endif
