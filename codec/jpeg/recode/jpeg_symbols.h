/* codec/jpeg/recode/jpeg_symbols.h - Huffman-coded symbols of a scan, and optimal codes for them.
 * Private to this room. ITU-T T.81, annexes C, F and K.2. */
#ifndef IMREC_CODEC_JPEG_RECODE_JPEG_SYMBOLS_H
#define IMREC_CODEC_JPEG_RECODE_JPEG_SYMBOLS_H

#include "base/bytes.h"
#include "imrec/error.h"

enum { SYMBOLS = 256, LONGEST_CODE = 16, SYMBOL_BITS = 11 };

struct symbol_spec { /* as DHT has it */
    uint8_t counts[LONGEST_CODE + 1];
    uint8_t symbols[SYMBOLS];
    uint32_t n;
};

struct symbol_reader {
    uint16_t entry[1 << SYMBOL_BITS]; /* symbol << 8 | bits of code and value; 0: a longer code,
                                         or none */
    uint32_t limit[LONGEST_CODE + 2]; /* [n]: the 16 bits from which on codes are longer than n */
    int32_t offset[LONGEST_CODE + 1];
    uint8_t symbols[SYMBOLS];
};

/* False: no Huffman code. */
bool symbol_reader_make(struct symbol_reader *r, const struct symbol_spec *spec);
/* The entry of a symbol that 16 bits begin with; 0: none. */
uint32_t symbol_long(const struct symbol_reader *r, uint32_t bits16);

/* Optimal lengths, at most 16 bits, no code of ones alone, as libjpeg breaks ties. False: before
 * they are shortened some are above 32, where libjpeg gives up; it takes counts that grow like
 * Fibonacci's numbers, millions of them. */
IMREC_NODISCARD bool symbol_spec_optimal(struct symbol_spec *spec, const uint64_t count[SYMBOLS]);
/* The same of any counts: they are halved until their tree is no deeper. */
void symbol_spec_of_many(struct symbol_spec *spec, uint64_t count[SYMBOLS]);
/* Of each symbol: its code, with room for the extra bits, << 5 | bits of both; 0: it does not
 * occur. */
void symbol_entries_make(uint32_t entry[SYMBOLS], const struct symbol_spec *spec);
#endif
