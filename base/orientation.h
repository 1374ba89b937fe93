/* base/orientation.h - EXIF orientation 1..8 of regions. */
#ifndef IMREC_BASE_ORIENTATION_H
#define IMREC_BASE_ORIENTATION_H

#include "imrec/image.h"

/* True for 5..8: width and height change places. */
bool orient_swaps(uint32_t orientation);
/* Columns, rows as they are stored run the other way. */
bool orient_flips_column(uint32_t orientation);
bool orient_flips_row(uint32_t orientation);
/* The stored region that becomes `upright` of an image stored as width x height. */
struct imrec_rect
orient_region(uint32_t orientation, uint32_t width, uint32_t height, struct imrec_rect upright);
#endif
