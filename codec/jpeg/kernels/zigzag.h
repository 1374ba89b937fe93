/* codec/jpeg/kernels/zigzag.h - the order that a JPEG has a block's coefficients in. */
#ifndef IMREC_CODEC_JPEG_KERNELS_ZIGZAG_H
#define IMREC_CODEC_JPEG_KERNELS_ZIGZAG_H

#include <stdint.h>

extern const uint8_t natural_order[64]; /* of the zigzag index */
extern const uint8_t zigzag_index[64];  /* of the natural index */

/* A block in natural order. Returns the zigzag index of the last coefficient that is not 0, or
 * 0. */
uint32_t zigzag_to_natural(const int16_t zigzag[64], int16_t natural[64]);
#endif
