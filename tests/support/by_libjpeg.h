/* tests/support/by_libjpeg.h - the JPEG that libjpeg itself writes: what ours is compared with. */
#ifndef IMREC_TESTS_BY_LIBJPEG_H
#define IMREC_TESTS_BY_LIBJPEG_H

#include "imrec/image.h"

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

struct by_libjpeg {
    int quality;
    bool tile, full_chroma, optimize;
};

/* Its bytes at *out, which is to be freed. */
static inline size_t
by_libjpeg(const struct imrec_image *image, struct by_libjpeg how, unsigned char **out)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned long n = 0;
    *out = NULL;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, out, &n);
    c.image_width = image->width;
    c.image_height = image->height;
    c.input_components = (int)image->channels;
    c.in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, how.quality, TRUE);
    if (how.full_chroma)
        c.comp_info[0].h_samp_factor = c.comp_info[0].v_samp_factor = 1;
    c.restart_in_rows = how.tile;
    c.optimize_coding = how.optimize;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = image->pixels + c.next_scanline * image->stride;
        (void)jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return n;
}
#endif
