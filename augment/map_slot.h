/* augment/map_slot.h - what a path shows of a map (a mask, depths), written into a slot. */
#ifndef IMREC_AUGMENT_MAP_SLOT_H
#define IMREC_AUGMENT_MAP_SLOT_H

#include "augment/geometry/path.h"
#include "imrec/types.h"

/* The value nearest to each place of the result, in dense rows of a type that is not
 * IMREC_IMAGE_PIXELS. False: *too_large does not fit it (uint8 only). */
bool map_write(const struct path_mask *way, enum imrec_image_type type, void *slot,
               uint16_t *too_large);
#endif
