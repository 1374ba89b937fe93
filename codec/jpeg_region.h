/* codec/jpeg_region.h - how little of a JPEG can be decoded for a region of it. */
#ifndef IMREC_CODEC_JPEG_REGION_H
#define IMREC_CODEC_JPEG_REGION_H

#include "codec/jpeg_reader.h"
#include "imrec/image.h"

/* Columns and rows that libjpeg is to make, around the region asked for. */
struct jpeg_window {
    uint32_t left, width; /* as libjpeg has aligned it */
    uint32_t skip;        /* rows that libjpeg may skip */
    uint32_t offset;      /* of the region's first column in the window */
};

/* False while coefficients of a progressive image are missing: libjpeg then smooths. */
bool jpeg_coefficients_known(const struct jpeg_decompress_struct *cinfo);

/* After jpeg_start_decompress(): narrows the output to a window around `region` where that
 * leaves its pixels as they are in the whole image, else to all columns. */
struct jpeg_window
jpeg_window_set(struct jpeg_reader *r, const struct jpeg_head *head, struct imrec_rect region);
#endif
