/* codec/jpeg/recode/symbol_words.c - two passes over the words of a scan: counted, then written. */
#include "codec/jpeg/recode/symbol_words.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "codec/jpeg/entropy.h"

#include <string.h>

enum {
    MOST_WORDS = 1 << 21,  /* that are kept: of a photograph of 6 megapixels */
    PIECE_WORDS = 1 << 16, /* that are written at once where they were not */
    LOOK_PIECES = 4096,    /* between two looks whether somebody asks to stop */
    WORD_BYTES = 4,        /* of code and extra bits, at most */
};

static size_t g_most = MOST_WORDS, g_piece = PIECE_WORDS; /* words_keep() */

void words_keep(size_t most)
{
    g_most = most == 0 ? MOST_WORDS : most;
    g_piece = most == 0 ? PIECE_WORDS : most;
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to encode a JPEG");
}

void words_drop(struct symbol_words *w)
{
    IMREC_FREE(w->word, w->end, w->bits);
    w->word = NULL;
    w->end = NULL;
    w->bits = NULL;
    w->room = w->words = w->bits_room = 0;
    w->ends = w->end_room = 0;
}

size_t words_memory(const struct symbol_words *w)
{
    return w->room * sizeof(*w->word) + w->end_room * sizeof(*w->end) + w->bits_room;
}

/* In a table that doubles. */
uint64_t words_claim(uint64_t words)
{
    const uint64_t kept = words < MOST_WORDS ? 2 * words : 2 * MOST_WORDS + 2 * PIECE_WORDS;
    return kept * sizeof(uint32_t) + 2 * MOST_INTERVALS * sizeof(size_t);
}

bool words_reserve(struct symbol_words *w, size_t more)
{
    if (more <= w->room - w->words)
        return true;
    size_t room = w->room < 4096 ? 16384 : 2 * w->room;
    while (more > room - w->words)
        room *= 2;
    uint32_t *grown = imrec_realloc(w->word, room, sizeof(*grown));
    if (grown == NULL)
        return false;
    w->word = grown;
    w->room = room;
    return true;
}

void words_append(struct symbol_words *w, const uint32_t *end)
{
    const uint32_t *p = w->word + w->words;
    for (; end - p >= 2; p += 2) { /* symbols repeat, and a counter has to wait for itself */
        w->count[0][p[0] % WORD_SYMBOLS]++;
        w->count[1][p[1] % WORD_SYMBOLS]++;
    }
    if (p < end)
        w->count[0][*p % WORD_SYMBOLS]++;
    w->words = (size_t)(end - w->word);
}

/* Room for this many bytes; the contents are lost. */
static enum imrec_status reserve(uint8_t **p, size_t *room, size_t bytes, struct imrec_error *err)
{
    if (bytes <= *room)
        return IMREC_OK;
    imrec_free(*p);
    *room = 0;
    *p = imrec_realloc(NULL, bytes + bytes / 4, 1);
    if (*p == NULL)
        return no_memory(err);
    *room = bytes + bytes / 4;
    return IMREC_OK;
}

/* ---- counting ------------------------------------------------------------------------------ */

enum imrec_status words_count(struct symbol_words *w, const struct word_source *from, bool *good,
                              struct imrec_error *err)
{
    w->dropped = false;
    w->words = w->ends = 0;
    memset(w->count, 0, sizeof(w->count));
    IMREC_TRY(from->begin(from->context, err));
    for (uint64_t i = 0; i < from->pieces; i++) {
        enum words_next next;
        if (i % LOOK_PIECES == 0)
            IMREC_TRY(stop_check(from->stop, err));
        IMREC_TRY(from->next(from->context, w, &next, err));
        *good = next != WORDS_DECLINED;
        if (!*good)
            return IMREC_OK;
        if (w->words > g_most || (w->dropped && w->words > g_piece)) {
            w->dropped = true;
            w->words = 0;
        }
        if (next != WORDS_INTERVAL)
            continue;
        if (!IMREC_GROW(w->end, w->end_room, w->ends + 1))
            return no_memory(err);
        w->end[w->ends++] = w->words;
    }
    return IMREC_OK;
}

static void make_table(struct symbol_words *w, uint32_t table)
{
    uint64_t count[SYMBOLS];
    for (uint32_t i = 0; i < SYMBOLS; i++)
        count[i] = words_count_of(w, table * SYMBOLS + i);
    symbol_spec_of_many(&w->spec[table], count);
    symbol_entries_make(w->entry + table * SYMBOLS, &w->spec[table]);
}

/* Bytes of the scan before stuffing, rounded up for each restart interval, and its marker. */
static size_t scan_bytes(const struct symbol_words *w)
{
    uint64_t bits = 7;
    for (uint32_t i = 0; i < WORD_SYMBOLS; i++)
        bits += words_count_of(w, i) * (w->entry[i] & 31);
    return (size_t)(bits / 8 + w->ends * 3);
}

/* False: the image needs tables of its own. */
static bool take_shared(struct symbol_words *w, const struct word_file *file)
{
    if (file->shared == NULL)
        return false;
    for (uint32_t t = 0; t < WORD_TABLES; t++) {
        w->spec[t] = file->shared[t];
        symbol_entries_make(w->entry + t * SYMBOLS, &w->spec[t]);
    }
    for (uint32_t i = 0; i < WORD_SYMBOLS; i++)
        if (words_count_of(w, i) != 0 && w->entry[i] == 0)
            return false;
    return scan_bytes(w) <= file->shared_most;
}

static void make_tables(struct symbol_words *w, const struct word_file *file)
{
    if (take_shared(w, file))
        return;
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        make_table(w, t);
}

/* ---- writing ------------------------------------------------------------------------------- */

struct bit_writer {
    uint64_t window; /* from the highest bit down */
    uint32_t have;   /* below 8 between words */
};

/* Code and extra bits of a word, 27 of them at most. */
static inline uint64_t bits_of(const uint32_t *entry, uint32_t word, uint32_t *n)
{
    const uint32_t e = entry[word % WORD_SYMBOLS];
    *n = e & 31;
    return (e >> 5) | word >> WORD_VALUE;
}

static inline uint8_t *put_bits(struct bit_writer *b, uint64_t bits, uint32_t n, uint8_t *to)
{
    b->have += n;
    b->window |= bits << (64 - b->have);
    uint64_t out = b->window;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    out = __builtin_bswap64(out);
#endif
    memcpy(to, &out, sizeof(out));
    to += b->have >> 3;
    b->window <<= b->have & 56;
    b->have &= 7;
    return to;
}

/* Words [i, end) without stuffing into `to`, which has 8 bytes more than it needs; whole bytes. */
static size_t put_words(const struct symbol_words *w, size_t i, size_t end,
                        struct bit_writer *writer, uint8_t *to)
{
    const uint32_t *const entry = w->entry, *const word = w->word;
    uint8_t *const begin = to;
    struct bit_writer b = *writer;
    uint32_t n, more;
    for (; i + 2 <= end; i += 2) { /* a step of the writer takes two words */
        const uint64_t first = bits_of(entry, word[i], &n);
        const uint64_t second = bits_of(entry, word[i + 1], &more);
        to = put_bits(&b, first << more | second, n + more, to);
    }
    if (i < end) {
        const uint64_t last = bits_of(entry, word[i], &n);
        to = put_bits(&b, last, n, to);
    }
    *writer = b;
    return (size_t)(to - begin);
}

/* The bits that are left, filled up with ones. */
static size_t put_last(const struct bit_writer *b, uint8_t *to)
{
    if (b->have == 0)
        return 0;
    *to = (uint8_t)(b->window >> 56) | (uint8_t)(0xFFu >> b->have);
    return 1;
}

/* Every 0xFF gets a 0 after it. */
static uint8_t *stuff(uint8_t *to, const uint8_t *p, size_t n)
{
    const uint8_t *const end = p + n, *ff;
    for (; p < end && (ff = memchr(p, 0xFF, (size_t)(end - p))) != NULL; p = ff + 1) {
        memcpy(to, p, (size_t)(ff + 1 - p));
        to += ff + 1 - p;
        *to++ = 0;
    }
    memcpy(to, p, (size_t)(end - p));
    return to + (end - p);
}

static uint8_t *put_table(uint8_t *to, uint32_t table, const struct symbol_spec *s)
{
    const uint32_t length = 2 + 1 + LONGEST_CODE + s->n;
    *to++ = 0xFF;
    *to++ = 0xC4;
    *to++ = (uint8_t)(length >> 8);
    *to++ = (uint8_t)length;
    *to++ = (uint8_t)((table & 1) << 4 | table >> 1);
    memcpy(to, s->counts + 1, LONGEST_CODE);
    memcpy(to + LONGEST_CODE, s->symbols, s->n);
    return to + LONGEST_CODE + s->n;
}

static uint8_t *put(uint8_t *to, struct bytes b)
{
    memcpy(to, b.p, b.n);
    return to + b.n;
}

static uint8_t *put_marker(uint8_t *to, uint32_t marker)
{
    *to++ = 0xFF;
    *to++ = (uint8_t)marker;
    return to;
}

/* After restart interval `i` of `all`. */
static uint8_t *put_restart(uint8_t *to, uint64_t i, uint64_t all)
{
    return i + 1 < all ? put_marker(to, ENTROPY_RESTART + (uint32_t)(i % 8)) : to;
}

/* Writes the scan, stuffed, to *to, which moves to its end. */
static enum imrec_status
write_kept(struct symbol_words *w, size_t scan, uint8_t **to, struct imrec_error *err)
{
    IMREC_TRY(reserve(&w->bits, &w->bits_room, scan + sizeof(uint64_t), err));
    for (uint64_t i = 0; i < w->ends; i++) {
        struct bit_writer b = {0, 0};
        const size_t n = put_words(w, i > 0 ? w->end[i - 1] : 0, w->end[i], &b, w->bits);
        *to = stuff(*to, w->bits, n + put_last(&b, w->bits + n));
        *to = put_restart(*to, i, w->ends);
    }
    return IMREC_OK;
}

/* Those that are there. */
static enum imrec_status
write_piece(struct symbol_words *w, struct bit_writer *b, uint8_t **to, struct imrec_error *err)
{
    const size_t most = WORD_BYTES * w->words + sizeof(uint64_t);
    IMREC_TRY(reserve(&w->bits, &w->bits_room, most, err));
    *to = stuff(*to, w->bits, put_words(w, 0, w->words, b, w->bits));
    w->words = 0;
    return IMREC_OK;
}

/* The same, the words made once more. */
static enum imrec_status write_again(struct symbol_words *w, const struct word_source *from,
                                     uint8_t **to, struct imrec_error *err)
{
    struct bit_writer b = {0, 0};
    uint64_t interval = 0;
    w->words = 0;
    IMREC_TRY(from->begin(from->context, err));
    for (uint64_t i = 0; i < from->pieces; i++) {
        enum words_next next;
        uint8_t last = 0;
        if (i % LOOK_PIECES == 0)
            IMREC_TRY(stop_check(from->stop, err));
        IMREC_TRY(from->next(from->context, w, &next, err));
        if (w->words <= g_piece && next != WORDS_INTERVAL)
            continue;
        IMREC_TRY(write_piece(w, &b, to, err));
        if (next != WORDS_INTERVAL)
            continue;
        *to = stuff(*to, &last, put_last(&b, &last));
        *to = put_restart(*to, interval++, w->ends);
        b = (struct bit_writer){0, 0};
    }
    return IMREC_OK;
}

enum imrec_status words_write(struct symbol_words *w, const struct word_source *from,
                              const struct word_file *file, struct buf *out, bool *done,
                              struct imrec_error *err)
{
    enum { TABLE_BYTES = 5 + LONGEST_CODE + SYMBOLS };
    IMREC_TRY(words_count(w, from, done, err));
    if (!*done)
        return IMREC_OK;
    make_tables(w, file);
    const size_t scan = scan_bytes(w);
    const size_t most = file->head.n + WORD_TABLES * TABLE_BYTES + file->scan_head.n + 2 * scan + 2;
    out->n = 0;
    IMREC_TRY(reserve(&out->p, &out->cap, most, err));
    uint8_t *to = put(out->p, file->head);
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        if (file->has[t])
            to = put_table(to, t, &w->spec[t]);
    to = put(to, file->scan_head);
    IMREC_TRY(w->dropped ? write_again(w, from, &to, err) : write_kept(w, scan, &to, err));
    to = put_marker(to, ENTROPY_END);
    out->n = (size_t)(to - out->p);
    return IMREC_OK;
}
