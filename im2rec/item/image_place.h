/* im2rec/item/image_place.h - where an image is in an archive. */
#ifndef IMREC_IM2REC_ITEM_IMAGE_PLACE_H
#define IMREC_IM2REC_ITEM_IMAGE_PLACE_H

#include "base/buf.h"

struct image_place {
    uint32_t archive;      /* bytes of the image's path that name it; 0: it is a file of its own */
    uint64_t begin, bytes; /* of the image */
    uint64_t size;         /* of the archive when it was listed: it must have this size still */
    bool example; /* the bytes are a TFRecord file's record with its frame, the image is in it */
};

/* Before the path of a line that only a plan has: "BEGIN BYTES SIZE ARCHIVE:", and " e:" at the end
 * of an example's. */
IMREC_NODISCARD enum imrec_status
image_place_write(const struct image_place *p, struct buf *out, struct imrec_error *err);
/* Takes it off the begin of *path. False: it is none, or not of such a path. */
bool image_place_take(struct bytes *path, struct image_place *out);
#endif
