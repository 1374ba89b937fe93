/* augment/geometry/orient.h - images turned upright by their EXIF orientation. */
#ifndef IMREC_AUGMENT_GEOMETRY_ORIENT_H
#define IMREC_AUGMENT_GEOMETRY_ORIENT_H

#include "base/image.h"
#include "base/orientation.h"

/* Turns `from` upright into *to. */
IMREC_NODISCARD enum imrec_status orient_image(uint32_t orientation, const struct imrec_image *from,
                                               struct image *to, struct imrec_error *err);
#endif
