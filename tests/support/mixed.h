/* tests/support/mixed.h - images that are passed through, or written again: JPEGs of several kinds,
 * and what is none. */
#ifndef IMREC_TESTS_MIXED_H
#define IMREC_TESTS_MIXED_H

#include "tests/support/images.h"
#include "tests/support/packing.h"

enum { MIXED = 6, MIXED_JPEGS = 4, MIXED_PROGRESSIVE = 2 };

static inline void put_image(const struct tmpdir *d, const char *name, struct bytes image)
{
    tmp_write(d, name, image.p, image.n);
    bytes_free(image);
}

/* source/dog: progressive JPEGs, one of them turned, a turned sequential one, one in several scans,
 * an arithmetic one (which stays as it is), and a BMP. */
static inline void make_mixed(const struct tmpdir *d)
{
    static const struct jpeg_layout
        progressive = {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true},
        plain = {.colours = COLOURS_YCC, .h = 2, .v = 1},
        scans = {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true},
        arithmetic = {.colours = COLOURS_YCC, .h = 2, .v = 2, .arithmetic = true};
    static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\x18\0"
                              "\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4\5\6\0";
    make_folder(d, "source/dog");
    put_image(d, "source/dog/progressive.jpg", jpeg_make(75, 100, &progressive));
    put_image(d, "source/dog/progressive6.jpg",
              jpeg_with_orientation(jpeg_make(60, 41, &progressive), 6, true));
    put_image(d, "source/dog/turned.jpg",
              jpeg_with_orientation(jpeg_make(90, 50, &plain), 8, false));
    put_image(d, "source/dog/scans.jpg", jpeg_make(33, 90, &scans));
    put_image(d, "source/dog/arithmetic.jpg", jpeg_make(50, 40, &arithmetic));
    tmp_write(d, "source/dog/two.bmp", bmp, sizeof(bmp) - 1);
}
#endif
