/* formats/cbf/value_bmp.h - planes of values as the file of an image. */
#ifndef IMREC_FORMATS_CBF_VALUE_BMP_H
#define IMREC_FORMATS_CBF_VALUE_BMP_H

#include "base/bytes.h"

/* Side of the square image of 3 channels or of 1 that has `values` values; 0: there is none. */
uint32_t value_bmp_side(uint32_t values, uint32_t *channels);
/* Bytes of the file. */
size_t value_bmp_bytes(uint32_t side, uint32_t channels);
/* Writes it. False: a value is no whole number from 0 to 255. */
bool value_bmp_write(const uint8_t *values, bool is_double, uint32_t side, uint32_t channels,
                     uint8_t *out);
#endif
