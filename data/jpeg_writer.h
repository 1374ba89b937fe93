/* data/jpeg_writer.h - the generator's own small JPEG encoder: the same bytes on every
 * machine and with every version of libjpeg, in the layouts of photographs.
 *
 * ITU-T T.81: baseline, or progressive by spectral selection, with the tables of its annex K. */
#ifndef IMREC_DATA_JPEG_WRITER_H
#define IMREC_DATA_JPEG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jpeg_how {
    int quality;      /* 1..100, as libjpeg scales the tables */
    int across, down; /* pixels that share a chroma sample: 1 or 2 */
    bool grey;        /* one component: the first of every pixel's three bytes */
    bool progressive;
    int restart_interval; /* MCUs; 0 = none; baseline only */
    int orientation;      /* EXIF 1..8; 0 = no EXIF */
};

/* Encodes width x height pixels of R, G, B bytes, dense. Returns the bytes, which the caller
 * frees with imrec_free(), and their number in *n; NULL without memory. */
uint8_t *
jpeg_write(const uint8_t *rgb, int width, int height, const struct jpeg_how *how, size_t *n);
#endif
