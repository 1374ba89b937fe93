/* codec/jpeg/lanes.h - pieces of entropy-coded data decoded side by side.
 *
 * From one Huffman symbol to the next everything waits: for the length, for the table's answer. So
 * a core has most of its time to spare, and pieces that do not depend on each other, as restart
 * intervals, or images with the same tables, are decoded at once in the lanes of vectors. Nothing
 * in a lane's step is a branch: the end of a block changes the lane's table, a long code leads to a
 * second table. What no table knows is decoded by lane_symbol(), a symbol at a time. */
#ifndef IMREC_CODEC_JPEG_LANES_H
#define IMREC_CODEC_JPEG_LANES_H

#include "base/cpu.h"
#include "codec/jpeg/huffman.h"
#include "codec/jpeg/scan.h"

enum {
    LANE_BITS = 11, /* of a look-up */
    LANE_ENTRIES = 1 << LANE_BITS,
    LANE_LONG_BITS = 6, /* ones that long codes begin with: a second look-up follows them */
    LANE_PADDING = 512, /* zeros after a piece's bytes: more than a block of nonsense reads */
    LANE_SLACK = 64,    /* coefficients after a piece's blocks that may be overwritten with zeros */
    LANE_MOST_BLOCKS = 1 << 16, /* of a piece */
    LANE_MCU = 6,               /* blocks of an MCU, maximum */
    LANE_MOST_BYTES = 1 << 24,
    LANE_MOST = 16, /* lanes */
};

/* One or two symbols at the coefficient k, the last before them. Bits of an entry:
 *    0-5   bits of both, with their values
 *   10-12  3 - places from the first to the second; 3: there is one; 4: there is none
 *   13     the code has more: in the second table, after LANE_LONG_BITS bits
 *   14-24  ones for the bits of the last value, which is the last of the bits, added to `base`
 *   28-35  k + this is the last one's place; the end of the block from LANE_END on; a place with
 *          LANE_ODD set is none: one symbol of a pair leads out of the block, or nothing is known
 *   36-47  base
 *   48-63  value of the first, where there are two; else 0
 * Before a block k is 255: the DC difference is one symbol at place 0. */
enum {
    LANE_APART =
        10, /* in bits 6-11 it is the bits to turn a value by, from the last word of four */
    LANE_LONG = 1 << 13,
    LANE_MASK = 14,
    LANE_PLACE = 28,
    LANE_BASE = 36,
    LANE_FIRST = 48,
    LANE_END = 129,
    LANE_ODD = 64,
    LANE_BEFORE = 255,
    LANE_MOST_SIZE = 10 /* of an AC value in the tables; DC: MOST_DC_SIZE */
};

/* Tables: AC of both kinds, DC of both, the second ones of AC; then an entry of nothing, 0. */
enum { LANE_AC, LANE_DC = 2, LANE_AC_LONG = 4, LANE_TABLES = 6 };

struct lane_tables {
    uint64_t entry[LANE_TABLES * LANE_ENTRIES + 8];
    struct huffman_code ac[2], dc[2]; /* by kind: 0 of luma, 1 of chroma */
    struct huffman_spec made_ac[2], made_dc[2];
    bool is_made[2];
};

/* What MCUs consist of: places of their first blocks among the blocks of all of them. */
enum lane_mcu {
    LANE_LUMA_4 = 0, /* four of luma, and one of each chroma */
    LANE_LUMA_2 = 6,
    LANE_LUMA_1 = 10,
    LANE_GREY = 13, /* one of luma */
    LANE_PLACES = 14
};
extern const uint8_t lane_next[LANE_PLACES]; /* the place of the next block */
extern const uint8_t lane_kind[LANE_PLACES]; /* of tables */

/* Makes the tables of a kind, unless they are those of these codes already. False: a code that
 * huffman_make_ac() or huffman_make_dc() refuses. */
bool lane_tables_make(struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                      const struct huffman_spec *dc);

/* Are the tables of a kind those of these codes? */
bool lane_tables_are(const struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                     const struct huffman_spec *dc);

/* A piece: whole MCUs, from a restart on, or from where another piece ended. */
struct lane_piece {
    const uint8_t *bits; /* without stuffing; LANE_PADDING zeros follow */
    uint32_t bytes;
    uint32_t blocks; /* to decode; no more than LANE_MOST_BLOCKS, and not 0 */
    enum lane_mcu mcu;
    int16_t *out;   /* blocks in zigzag order, of zeros; DC as the difference */
    uint64_t from;  /* the first bit */
    uint64_t taken; /* set: the bit after the last */
    bool bad;       /* set: some bits make no sense, or they end; what `out` has is unknown */
};

/* Where pieces come from, and go to. */
struct lane_source {
    /* The next piece for a lane; `done` is the one that it has decoded, NULL at first. NULL: there
     * is none, and there will be none but for those that are not done. */
    struct lane_piece *(*next)(void *context, struct lane_piece *done);
    void *context;
};

/* Decodes all pieces; LANE_MOST at once, at most. */
typedef void lanes_fn(const struct lane_tables *t, const struct lane_source *source);

struct lane_kernels {
    lanes_fn *decode;
    bool is_faster; /* than MCU by MCU */
};

extern const struct lane_kernels lane_kernels[CPU_LEVELS]; /* a line a level: base/cpu.h */
lanes_fn lanes_scalar, lanes_avx512;

/* ---- for the kernels ---------------------------------------------------------------------- */

/* Where a piece is. */
struct lane_state {
    uint64_t bit;   /* the next */
    uint32_t k;     /* place of the last coefficient; LANE_BEFORE: the next is a DC difference */
    uint32_t block; /* its place */
    int16_t *out;   /* of the block */
    int16_t *end;   /* of the piece's blocks */
};

struct lane_state lane_begin(const struct lane_piece *piece);
/* The next symbol, by the codes alone. False: it makes no sense. */
bool lane_symbol(const struct lane_tables *t, const struct lane_piece *piece, struct lane_state *s);
/* All that is left of a piece, and of those that follow it. */
void lane_finish(const struct lane_tables *t, const struct lane_source *source,
                 struct lane_piece *piece, struct lane_state s);
#endif
