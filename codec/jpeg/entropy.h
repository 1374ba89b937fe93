/* codec/jpeg/entropy.h - entropy-coded data without their stuffing, a restart interval at a
 * time. */
#ifndef IMREC_CODEC_JPEG_ENTROPY_H
#define IMREC_CODEC_JPEG_ENTROPY_H

#include "base/bytes.h"

#include <stdbool.h>

enum {
    /* Zeros after the bits: more than decoding a whole MCU of nonsense reads
     * (10 blocks of 64 symbols of 31 bits), so that one check after each MCU is enough. */
    ENTROPY_PADDING = 4096,
    ENTROPY_END = 0xD9, /* markers that may follow */
    ENTROPY_RESTART = 0xD0,
};

/* The restart intervals of a scan that have not been read; without restart markers all of it is
 * one. */
struct intervals {
    struct bytes left;  /* from the next interval's first byte on */
    uint32_t mcus_left; /* of the image, from its first MCU on */
    uint32_t restart;   /* MCUs of an interval; 0: all */
    uint32_t number;    /* of the next interval */
    bool to_segment; /* any segment may follow the last, and is left to be read; else the end marker
                        does */
};

uint32_t intervals_mcus(const struct intervals *v); /* of the next interval */
/* Copies the next interval without its stuffing to `out`, which has room for left.n + padding, and
 * pads with zeros; *n: its bytes. False: the marker after
 * it is not the one that the count of MCUs lets expect, or there is none. */
bool intervals_unstuff(struct intervals *v, uint8_t *out, size_t *n, size_t padding);
/* The same without a copy: finds the marker alone. */
bool intervals_pass(struct intervals *v);
#endif
