/* codec/jpeg/encode/jpeg_heads.h - what a JPEG has before and after its Huffman tables: JFIF,
 * quantization tables, frame, restart interval, scan; the same bytes as libjpeg's. */
#ifndef IMREC_CODEC_JPEG_ENCODE_JPEG_HEADS_H
#define IMREC_CODEC_JPEG_ENCODE_JPEG_HEADS_H

#include "codec/jpeg/encode/jpeg_encoder.h"

struct jpeg_heads {
    uint8_t head[192], scan_head[32];
    size_t head_bytes, scan_head_bytes;
};

/* The steps of ITU-T T.81, annex K, table 0 (luma) or 1, at a quality of 1..100 as libjpeg counts
 * it; natural order, 1..255. */
void jpeg_steps(uint32_t table, int quality, uint8_t steps[64]);

/* `restart`: MCUs of an interval, or 0. */
void jpeg_heads_make(struct jpeg_heads *h, const struct imrec_image *image,
                     const struct jpeg_encoding *how, uint32_t restart);
#endif
