/* codec/jpeg/huffman.h - Huffman tables, as in the file and as lookup tables.
 *
 * An AC symbol is a code, then `size` bits with the value of a coefficient after `run` zeros. A
 * lookup by the next bits gives one or two symbols with their values. Others (long codes, mostly)
 * are decoded a symbol at a time by struct huffman_code. */
#ifndef IMREC_CODEC_JPEG_HUFFMAN_H
#define IMREC_CODEC_JPEG_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    AC_BITS = 11,      /* of the lookups: the tables for luma and chroma fit into 20 KiB, */
    DC_BITS = 9,       /* half of a small L1 cache */
    MOST_DC_SIZE = 11, /* of 8-bit samples */
};

struct huffman_spec {   /* as in the file */
    uint8_t counts[17]; /* of codes of 1..16 bits; [0] is nothing */
    uint8_t symbols[256];
};

struct huffman_code {   /* of any length */
    uint32_t limit[17]; /* [n]: the 16 bits from which on a code has more than n bits */
    int32_t offset[17]; /* code of n bits + offset[n] = index into symbols */
    uint8_t symbols[256];
};

/* One or two symbols at the coefficient k, in one number, since everything waits for its load:
 *   bits  0-7   bits of both, with their values; 0 = nothing is known
 *   bits  8-15  k + this is the second one's place; the end of the block from PAIR_END on,
 *               which is 64 or more for every k; PAIR_LONG where nothing is known
 *   bits 16-23  k + this is the first one's
 *   bits 24-31  size of the second's value, which is the last of the bits, added to `base`
 *   bits 32-47  value of the first one; 0 = there is no first: the second overwrites it, or what
 *               is there is 0 already
 *   bits 48-63  base
 * No field overflows when the first symbol is added to a pair that has none. Symbols of no value
 * (16 zeros) are left to one_symbol(). */
typedef uint64_t huffman_pair;

enum { PAIR_SECOND = 8, PAIR_FIRST = 16, PAIR_SIZE = 24, PAIR_VALUE = 32, PAIR_BASE = 48 };
enum { PAIR_END = 63, PAIR_LONG = 255 };

struct huffman_ac {
    huffman_pair pair[1 << AC_BITS];
    struct huffman_code code;
};

struct huffman_difference { /* a DC symbol: base + the last `size` of the bits */
    uint8_t bits;           /* 0 = a longer code */
    uint8_t size;
    int16_t base;
};

struct huffman_dc {
    struct huffman_difference entry[1 << DC_BITS];
    struct huffman_code code;
};

/* False: no Huffman code, by the rules of libjpeg; no code at all; a size no 8-bit image has. */
bool huffman_make_ac(struct huffman_ac *t, const struct huffman_spec *spec);
bool huffman_make_dc(struct huffman_dc *t, const struct huffman_spec *spec);
/* The same without their lookups. */
bool huffman_make_ac_code(struct huffman_code *c, const struct huffman_spec *spec);
bool huffman_make_dc_code(struct huffman_code *c, const struct huffman_spec *spec);
#endif
