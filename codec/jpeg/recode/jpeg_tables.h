/* codec/jpeg/recode/jpeg_tables.h - Huffman tables that the JPEGs of a set share: images with equal
 * tables are decoded side by side. */
#ifndef IMREC_CODEC_JPEG_RECODE_JPEG_TABLES_H
#define IMREC_CODEC_JPEG_RECODE_JPEG_TABLES_H

#include "codec/jpeg/recode/symbol_words.h"

/* DC and AC of luma, DC and AC of chroma; grey images have those of luma. */
struct jpeg_tables {
    struct symbol_spec spec[WORD_TABLES];
};
struct jpeg_counts { /* of the symbols of images, table after table */
    uint64_t of[WORD_SYMBOLS];
};

/* Hexadecimal digits of all tables, and a NUL. */
enum { JPEG_TABLES_TEXT = 2 * WORD_TABLES * (LONGEST_CODE + SYMBOLS) + 1 };

/* Optimal ones for images of these counts, that have a code for every symbol of 8-bit samples. */
void jpeg_tables_make(struct jpeg_tables *out, const struct jpeg_counts *counts);

/* Of each table 16 numbers of codes, by their length, and the symbols, as DHT has them. */
void jpeg_tables_text(const struct jpeg_tables *t, char out[JPEG_TABLES_TEXT]);
/* False: no such text. */
bool jpeg_tables_read(struct jpeg_tables *out, const char *text);
#endif
