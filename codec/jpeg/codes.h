/* codec/jpeg/codes.h - the look-ups of a sequential image's Huffman tables, kept from image to
 * image: many have the same. */
#ifndef IMREC_CODEC_JPEG_CODES_H
#define IMREC_CODEC_JPEG_CODES_H

#include "codec/jpeg/frame.h"

struct codes {
    struct huffman_ac ac[MOST_TABLES];
    struct huffman_dc dc[MOST_TABLES];
    struct huffman_spec made_ac[MOST_TABLES], made_dc[MOST_TABLES]; /* what they are of */
    bool has_ac[MOST_TABLES], has_dc[MOST_TABLES];
};

/* Makes those of two of the frame's tables. False: one is no code that huffman_make_dc() or
 * huffman_make_ac() takes. */
bool codes_make(struct codes *c, const struct frame *f, uint32_t dc, uint32_t ac);
#endif
