/* codec/jpeg/exif.h - the orientation out of an EXIF block. */
#ifndef IMREC_CODEC_JPEG_EXIF_H
#define IMREC_CODEC_JPEG_EXIF_H

#include "base/bytes.h"

/* `tiff` begins with "II*\0" or "MM\0*". 1 (upright) where there is none, or none that makes
 * sense: a broken orientation is no reason to refuse an image. */
uint32_t exif_orientation(struct bytes tiff);
#endif
