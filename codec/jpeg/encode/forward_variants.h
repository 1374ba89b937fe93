/* codec/jpeg/encode/forward_variants.h - what the table of kernels is filled with. */
#ifndef IMREC_CODEC_JPEG_ENCODE_FORWARD_VARIANTS_H
#define IMREC_CODEC_JPEG_ENCODE_FORWARD_VARIANTS_H

#include "codec/jpeg/encode/forward_kernels.h"
#include "codec/jpeg/kernels/zigzag.h"

/* JFIF's RGB to YCbCr, 16 bits of fraction. Cb and Cr are rounded to what is just below a half
 * more, as libjpeg does. */
enum {
    Y_RED = 19595,
    Y_GREEN = 38470,
    Y_BLUE = 7471,
    CB_RED = -11059,
    CB_GREEN = -21709,
    CR_GREEN = -27439,
    CR_BLUE = -5329,
    COLOUR_FRACTION = 16,
    COLOUR_HALF = 1 << (COLOUR_FRACTION - 1), /* also what blue counts in Cb, and red in Cr */
    CHROMA_BIAS = (128 << COLOUR_FRACTION) + COLOUR_HALF - 1,
};

typedef void colour_fn(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr);
colour_fn colour_scalar, colour_avx2, colour_avx512, colour_neon;

typedef void halve_fn(const uint8_t *above, const uint8_t *below, uint32_t n, uint8_t *out);
halve_fn halve_scalar, halve_avx2, halve_neon;

typedef void blocks_fn(const struct forward_blocks *b, const struct quantizer *q);
blocks_fn blocks_scalar, blocks_avx2, blocks_avx512, blocks_neon;

typedef uint32_t *words_fn(const struct scan_block *b, uint32_t n, uint32_t *to);
words_fn words_scalar, words_avx512;
/* The words of one block. */
uint32_t *block_words(const struct scan_block *b, uint32_t *to);

/* A block from natural to zigzag order. */
static inline void block_order(const int16_t natural[64], int16_t *zigzag)
{
    for (int k = 0; k < 64; k++)
        zigzag[k] = natural[natural_order[k]];
}

static inline uint64_t block_occupied(const int16_t *zigzag)
{
    uint64_t bits = 0;
    for (int k = 0; k < 64; k++)
        bits |= (uint64_t)(zigzag[k] != 0) << k;
    return bits;
}
#endif
