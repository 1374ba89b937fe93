/* codec/jpeg/entropy.h - entropy-coded data without their stuffing, a restart interval at a
 * time. */
#ifndef IMREC_CODEC_JPEG_ENTROPY_H
#define IMREC_CODEC_JPEG_ENTROPY_H

#include "base/bytes.h"

enum {
    /* Zeros after the bits: more than decoding a whole MCU of nonsense reads
     * (6 blocks of 64 symbols of 31 bits), so that one check after each MCU is enough. */
    ENTROPY_PADDING = 2048,
    ENTROPY_END = 0xD9, /* markers that may follow */
    ENTROPY_RESTART = 0xD0,
};

/* Copies data up to the next marker to `out`, which has room for from.n + ENTROPY_PADDING, and
 * pads. Returns the marker, *used the bytes with it; 0: there is none, or it is preceded
 * by fill bytes. */
uint8_t entropy_unstuff(struct bytes from, uint8_t *out, size_t *n, size_t *used);
/* The same without a copy: finds the marker alone. */
uint8_t entropy_pass(struct bytes from, size_t *used);
#endif
