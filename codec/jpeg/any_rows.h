/* codec/jpeg/any_rows.h - rows of pixels of layouts that have no kernels of their own: each
 * component is upsampled to a line, as libjpeg does, and the lines are mixed. */
#ifndef IMREC_CODEC_JPEG_ANY_ROWS_H
#define IMREC_CODEC_JPEG_ANY_ROWS_H

#include "codec/jpeg/jpeg_planes.h"

/* Bytes of the lines for a region of this width. */
size_t any_row_room(const struct frame *f, uint32_t width);

/* Row `y` of the image, from the region's first column on, to `out`, which has KERNEL_SLACK bytes
 * more: the first component or libjpeg's weights of RGB (1 channel), RGB (3), CMYK (4). `lines`
 * has any_row_room(). */
void any_row(const struct jpeg_planes *s, uint32_t y, uint8_t *lines, uint8_t *out);
#endif
