/* codec/jpeg/encode/forward_kernels.h - rows of pixels to samples, samples to quantized blocks,
 * blocks to words: one scalar truth, variants by instruction set, all bit for bit the same and the
 * same as libjpeg-turbo's (slow integer DCT).
 *
 * Rows of samples may be read and written up to FORWARD_SLACK bytes beyond their n values, and
 * blocks up to FORWARD_BLOCKS beyond theirs: the caller's buffers have that room. Rows of pixels
 * are read no further than they go. */
#ifndef IMREC_CODEC_JPEG_ENCODE_FORWARD_KERNELS_H
#define IMREC_CODEC_JPEG_ENCODE_FORWARD_KERNELS_H

#include "base/cpu.h"
#include "codec/jpeg/encode/quantizer.h"

#include <stddef.h>
#include <stdint.h>

enum {
    FORWARD_SLACK = 64,
    FORWARD_BLOCKS = 3,
    FORWARD_WORDS = 16, /* what words() may write beyond its words */
};

struct forward_blocks {
    const uint8_t *samples; /* of the first block */
    size_t stride;
    uint32_t n;         /* blocks side by side */
    int16_t *coef;      /* 64 each, zigzag order, 64-byte aligned */
    uint64_t *occupied; /* of each: bit k: coefficient k is not 0 */
};

struct scan_block { /* as the scan has them one after another */
    const int16_t *coef;
    uint64_t occupied;
    int16_t difference; /* of DC; coef[0] is not looked at */
    uint8_t dc, ac;     /* tables */
};

struct forward_kernels {
    /* JFIF's YCbCr of n pixels. */
    void (*colour)(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr);
    /* n means of 2 x 2 samples; .5 is rounded down and up by turns. */
    void (*halve)(const uint8_t *above, const uint8_t *below, uint32_t n, uint8_t *out);
    /* Transforms and quantizes. */
    void (*blocks)(const struct forward_blocks *b, const struct quantizer *q);
    /* The words of n blocks (recode/symbol_words.h), at most BLOCK_WORDS each; returns their end.
     */
    uint32_t *(*words)(const struct scan_block *b, uint32_t n, uint32_t *to);
};

/* A line a level: base/cpu.h. */
extern const struct forward_kernels forward_kernels[CPU_LEVELS];
#endif
