/* tests/support/images.h - images of every kind, made in code by the formats' own libraries. */
#ifndef IMREC_TESTS_IMAGES_H
#define IMREC_TESTS_IMAGES_H

#include "base/bytes.h"

#include <stdbool.h>

enum colours { COLOURS_GREY, COLOURS_YCC, COLOURS_RGB, COLOURS_CMYK, COLOURS_YCCK };

/* How a test JPEG is coded. */
struct jpeg_layout {
    enum colours colours;
    int h, v;                /* sampling of the first component (and of K), the others have 1 x 1 */
    const uint8_t *sampling; /* not NULL: of each, 16 h + v, instead */
    const char *ids;         /* not NULL: of each component */
    bool bare;               /* no JFIF, no Adobe marker */
    bool wide;               /* quantization tables of 16 bits, where the quality makes such */
    bool progressive, arithmetic, separate_scans;
    bool two_scans;   /* the first component, then the others together */
    int restart_rows; /* 0 = no restart markers */
    int restart_mcus; /* the same in MCUs */
    int quality;      /* 0 = 90 */
    bool optimal;     /* Huffman tables, else those of the standard */
    uint64_t script;  /* not 0: of this seed a progressive image's scans, all of them, or ... */
    bool incomplete;  /* ... without the last one */
};

/* width * height pixels of `channels` bytes: a gradient with noise on it, the same each time. */
uint8_t *image_pixels(uint32_t width, uint32_t height, uint32_t channels);

/* All results are malloc'ed. */
struct bytes jpeg_make(uint32_t width, uint32_t height, const struct jpeg_layout *layout);
/* An APP1 with this orientation is put into a JPEG; `jpeg` is freed. */
struct bytes jpeg_with_orientation(struct bytes jpeg, uint8_t orientation, bool big_endian);
/* A grey row of blocks whose codes have one bit; the standard one of that AC symbol has 16. */
struct bytes jpeg_of_short_codes(uint32_t blocks);
void bytes_free(struct bytes b);
bool bytes_hold(struct bytes b, const char *text, size_t n);

/* A small generator for tests: the next number below n. */
uint32_t pick(uint64_t *state, uint32_t n);
#endif
