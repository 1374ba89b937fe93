/* codec/colour_rows.h - rows of pixels as formats store them, to grey, RGB or RGBA. */
#ifndef IMREC_CODEC_COLOUR_ROWS_H
#define IMREC_CODEC_COLOUR_ROWS_H

#include "codec/codec.h"

enum pixels {
    PIXELS_GREY,
    PIXELS_RGB,
    PIXELS_RGBA,
    PIXELS_RGBA16, /* uint16_t of this machine */
    PIXELS_CMYK,   /* as Adobe stores it: 255 = no ink */
};

/* MXNet's decoders convert three colours to one in different ways. */
enum grey_rule {
    GREY_ROUNDED, /* (4899 R + 9617 G + 1868 B + 8192) >> 14 */
    GREY_PNG,     /* (9797 R + 19234 G + 3737 B) >> 15; 16 bits: rounded */
};

struct conversion {
    enum pixels from;
    enum grey_rule grey;
    uint32_t channels; /* wanted: 1, 3, 4 */
    enum codec_alpha alpha;
};

size_t pixels_bytes(enum pixels from); /* of one pixel */

/* Converts n pixels; `out` has n * how->channels bytes and does not overlap. */
void colour_row(const struct conversion *how, const uint8_t *from, size_t n, uint8_t *out);
#endif
