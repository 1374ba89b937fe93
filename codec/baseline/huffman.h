/* codec/baseline/huffman.h - Huffman tables, as they stand in the file and as they are looked up.
 *
 * An AC symbol is a code, then `size` bits that tell the value of a coefficient behind `run`
 * zeros. A lookup by the next bits takes as much as they tell: see the entries. What they do not
 * tell (long codes, mostly) is decoded a symbol at a time by struct huffman_code. */
#ifndef IMREC_CODEC_BASELINE_HUFFMAN_H
#define IMREC_CODEC_BASELINE_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    AC_BITS = 10, /* of the lookups: these tables for luma and chroma fit into 16 KiB, */
    DC_BITS = 9,  /* a third of the L1 cache */
    FIRST_BITS = AC_BITS,
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

/* A pair: one or two symbols.
 *   bits 0-5   bits of both, with their values
 *   bits 6-11  from k to the second one's coefficient; PAIR_END where that is the end of the
 *              block, or nothing is known (bits 0-5 are 0 then)
 *   bits 12-15 from k to the first one's coefficient
 *   bits 16-19 size of the second's value, which are the last of the bits
 *   bits 20-31 value of the first; 0 where there is only a second
 * A skip: as many symbols as there are, none of whose values matter.
 *   bits 0-5   bits of all
 *   bits 6-15  coefficients that they take, + SKIP_END for the end of the block; SKIP_LONG where
 *              nothing is known */
enum { PAIR_END = 63, SKIP_END = 256, SKIP_LONG = 1023 };

struct huffman_ac {
    uint32_t pair[1 << AC_BITS];
    uint16_t skip[1 << AC_BITS];
    struct huffman_code code;
};

struct huffman_dc {
    uint16_t entry[1 << DC_BITS]; /* bits 0-5: of code and value, 0 = a longer code; 6-9: size */
    struct huffman_code code;
};

/* False: no Huffman code, by the rules of libjpeg; no code at all; a size no 8-bit picture has. */
bool huffman_make_ac(struct huffman_ac *t, const struct huffman_spec *spec);
bool huffman_make_dc(struct huffman_dc *t, const struct huffman_spec *spec);
#endif
