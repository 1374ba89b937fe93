/* codec/jpeg/recode/symbol_words.h - the symbols of a scan, counted, and then written with optimal
 * codes.
 *
 * A word is a symbol with its extra bits and its table. They are appended as the scan is read or
 * made; then tables are found for them, and they are written. Of a large image the words would take
 * more than all else: they are made a second time, piece by piece, while they are written. */
#ifndef IMREC_CODEC_JPEG_RECODE_SYMBOL_WORDS_H
#define IMREC_CODEC_JPEG_RECODE_SYMBOL_WORDS_H

#include "base/buf.h"
#include "codec/jpeg/recode/jpeg_symbols.h"

struct stop;

enum {
    WORD_TABLES = 4, /* DC 0, AC 0, DC 1, AC 1: as DHT names them, class first, in this order */
    WORD_TABLE = 8,  /* the first bit of the table, after the symbol, and of the extra bits */
    WORD_VALUE = 16,
    WORD_SYMBOLS = WORD_TABLES * SYMBOLS,
    BLOCK_WORDS = 65, /* of a block, at most */
    MOST_INTERVALS = 8192,
};

struct symbol_words {                /* zeroed at first */
    uint64_t count[2][WORD_SYMBOLS]; /* of each symbol, table after table; of every second word */
    uint32_t entry[WORD_SYMBOLS];    /* symbol_entries_make() */
    uint32_t *word;
    size_t words, room;
    size_t *end; /* of each restart interval's words */
    uint64_t ends, end_room;
    bool dropped; /* there were too many to keep */
    struct symbol_spec spec[WORD_TABLES];
    uint8_t *bits; /* what is written, before its stuffing */
    size_t bits_room;
};

enum words_next { WORDS_MORE, WORDS_INTERVAL, WORDS_DECLINED };

/* Who makes the words. */
struct word_source {
    void *context;
    const struct stop *stop;
    uint64_t pieces;
    enum imrec_status (*begin)(void *context, struct imrec_error *err); /* from the first piece */
    /* Counts and appends the words of the next piece. *next: whether a restart interval, or the
     * scan, ends with it; or it is none that can be written. */
    enum imrec_status (*next)(void *context, struct symbol_words *w, enum words_next *next,
                              struct imrec_error *err);
};

/* The file around the scan: what is before the Huffman tables, and between them and the data. */
struct word_file {
    struct bytes head, scan_head;
    bool has[WORD_TABLES];
    /* WORD_TABLES that other images have, too, in place of optimal ones; NULL: there are none. An
     * image that has another symbol, or whose scan takes more bytes with them, gets its own. */
    const struct symbol_spec *shared;
    uint64_t shared_most;
};

void words_drop(struct symbol_words *w); /* its memory */
size_t words_memory(const struct symbol_words *w);
/* Maximum bytes that it holds of an image's words. */
uint64_t words_claim(uint64_t words);
/* Room for this many words more. */
bool words_reserve(struct symbol_words *w, size_t more);
/* Counts words that have been put at the end, and takes them. */
void words_append(struct symbol_words *w, const uint32_t *end);

/* Counts all of them. *done false: the source declined. */
IMREC_NODISCARD enum imrec_status words_count(struct symbol_words *w,
                                              const struct word_source *from, bool *done,
                                              struct imrec_error *err);
static inline uint64_t words_count_of(const struct symbol_words *w, uint32_t symbol)
{
    return w->count[0][symbol] + w->count[1][symbol];
}

/* The whole JPEG into out->p[0..n). *done false: the source declined; out is worthless. */
IMREC_NODISCARD enum imrec_status
words_write(struct symbol_words *w, const struct word_source *from, const struct word_file *file,
            struct buf *out, bool *done, struct imrec_error *err);

/* For tests: words are made a second time of smaller images, too. 0: of large ones alone. */
void words_keep(size_t most);
#endif
