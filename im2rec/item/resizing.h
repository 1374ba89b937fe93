/* im2rec/item/resizing.h - an image to another size, with the method that the options ask for. */
#ifndef IMREC_IM2REC_ITEM_RESIZING_H
#define IMREC_IM2REC_ITEM_RESIZING_H

#include "augment/resize/resample.h"
#include "base/image.h"
#include "imrec/packer.h"

/* `id` is the image's: inter_method=10 draws by seed and id, so that the order of work changes
 * nothing. */
IMREC_NODISCARD enum imrec_status
resizing_run(const struct imrec_pack_options *o, uint64_t id, const struct imrec_image *from,
             uint32_t width, uint32_t height, struct image *out, struct resize_scratch *scratch,
             struct imrec_error *err);
/* Bytes of scratch that takes at most. */
uint64_t resizing_claim(const struct imrec_pack_options *o, uint32_t from_width,
                        uint32_t from_height, uint32_t width, uint32_t height, uint32_t channels);
#endif
