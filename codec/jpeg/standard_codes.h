/* codec/jpeg/standard_codes.h - the Huffman codes of ITU-T T.81, annex K.3, which frames of Motion
 * JPEG leave out: of luma, and of chroma. */
#ifndef IMREC_CODEC_JPEG_STANDARD_CODES_H
#define IMREC_CODEC_JPEG_STANDARD_CODES_H

#include "codec/jpeg/huffman.h"

extern const struct huffman_spec standard_dc[2], standard_ac[2];
#endif
