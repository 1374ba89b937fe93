/*
 * codec/jpeg/recode/jpeg_optimize.c - a JPEG with standard Huffman tables to the same one with
 * optimal tables.
 *
 * One pass reads the symbols, counts them, and keeps each with its extra bits in a word; then the
 * tables are made, and a second pass over the words writes. Nothing is dequantized or transformed.
 * Of a large image the words would take more than all else: they are read again, piece by piece.
 */
#include "codec/jpeg/recode/jpeg_optimize.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/recode/jpeg_symbols.h"

#include <string.h>

enum {
    TABLES = 4, /* DC 0, AC 0, DC 1, AC 1: as DHT names them, class first, in this order */
    MOST_BLOCKS = 10,
    BLOCK_SYMBOLS = 65,
    DC_SIZE = 11,
    AC_SIZE = 10,
    MOST_WORDS = 1 << 21,  /* that are kept: of a photograph of 6 megapixels */
    PIECE_WORDS = 1 << 16, /* that are written at once where they were not */
    PIECE_BYTES = 4 * (PIECE_WORDS + MOST_BLOCKS * BLOCK_SYMBOLS) + 8,
};

/* A word: the symbol, its extra bits, its table. */
enum { WORD_VALUE = 8, WORD_TABLE = 24 };
enum { LOOK_MCUS = 4096 };      /* between two looks whether somebody asks to stop */
enum { MOST_INTERVALS = 8192 }; /* of an image: a row each of the largest */

struct layout { /* of the scan */
    uint64_t mcus;
    uint32_t restart;          /* MCUs of an interval; 0: all */
    uint32_t blocks;           /* of an MCU */
    uint8_t pair[MOST_BLOCKS]; /* 0 or 1: tables of each */
    struct symbol_spec spec[TABLES];
    bool has[TABLES];
    struct bytes head, scan_head, data; /* up to the first DHT; DRI and SOS; what follows */
};

struct jpeg_optimizer {
    struct symbol_reader reader[TABLES];
    struct symbol_writer writer[TABLES];
    struct symbol_spec spec[TABLES];
    uint64_t count[TABLES][SYMBOLS];
    uint8_t *bits; /* the scan without stuffing */
    size_t bits_room;
    uint32_t *word;
    size_t words, word_room;
    size_t *end; /* of each restart interval's words */
    uint64_t ends, end_room;
    bool dropped;   /* there were more than MOST_WORDS */
    uint8_t *piece; /* bits of PIECE_WORDS; NULL: not needed yet */
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to encode a JPEG");
}

enum imrec_status jpeg_optimizer_new(struct jpeg_optimizer **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    return *out != NULL ? IMREC_OK : no_memory(err);
}

void jpeg_optimizer_free(struct jpeg_optimizer *o)
{
    if (o == NULL)
        return;
    jpeg_optimizer_drop(o);
    imrec_free(o);
}

void jpeg_optimizer_drop(struct jpeg_optimizer *o)
{
    IMREC_FREE(o->bits, o->word, o->end, o->piece);
    o->bits = o->piece = NULL;
    o->word = NULL;
    o->end = NULL;
    o->bits_room = o->word_room = o->words = 0;
    o->ends = o->end_room = 0;
}

/* Of 4:2:0 a pixel has one and a half coefficients, a word each, in a table that doubles. */
uint64_t jpeg_optimizer_claim(uint64_t pixels)
{
    const uint64_t words = 3 * pixels + BLOCK_SYMBOLS * MOST_BLOCKS;
    const uint64_t kept = words < 2 * MOST_WORDS ? words : 2 * MOST_WORDS + PIECE_BYTES;
    return sizeof(struct jpeg_optimizer) + kept * sizeof(uint32_t) +
           2 * MOST_INTERVALS * sizeof(size_t);
}

size_t jpeg_optimizer_memory(const struct jpeg_optimizer *o)
{
    return o == NULL ? 0
                     : sizeof(*o) + o->bits_room + o->word_room * sizeof(*o->word) +
                           o->end_room * sizeof(*o->end) + (o->piece != NULL ? PIECE_BYTES : 0);
}

/* ---- headers ----------------------------------------------------------------------------- */

static bool read_tables(struct layout *l, struct bytes b)
{
    while (b.n > 0) {
        const uint32_t id = b.p[0] & 15, t = 2 * id + (b.p[0] >> 4);
        if (b.n < 17 || id > 1 || b.p[0] >> 4 > 1)
            return false;
        struct symbol_spec *s = &l->spec[t];
        memcpy(s->counts + 1, b.p + 1, LONGEST_CODE);
        s->n = 0;
        for (uint32_t i = 1; i <= LONGEST_CODE; i++)
            s->n += s->counts[i];
        if (s->n > SYMBOLS || b.n < 17 + s->n)
            return false;
        memcpy(s->symbols, b.p + 17, s->n);
        l->has[t] = true;
        b = (struct bytes){b.p + 17 + s->n, b.n - 17 - s->n};
    }
    return true;
}

/* Blocks of an MCU: those of the components, luma with the tables 0, the others with 1. */
static bool read_frame(struct layout *l, struct bytes b)
{
    if (b.n < 6 || (b.p[5] != 1 && b.p[5] != 3) || b.n != 6 + 3u * b.p[5])
        return false;
    const uint32_t height = load_be16(b.p + 1), width = load_be16(b.p + 3), components = b.p[5];
    uint32_t h = 1, v = 1;
    l->blocks = 0;
    for (uint32_t c = 0; c < components; c++) {
        const uint32_t ch = components == 1 ? 1 : b.p[7 + 3 * c] >> 4;
        const uint32_t cv = components == 1 ? 1 : b.p[7 + 3 * c] & 15;
        if (ch < 1 || cv < 1 || ch > 2 || cv > 2 || (c > 0 && (ch != 1 || cv != 1)))
            return false;
        h = ch > h ? ch : h;
        v = cv > v ? cv : v;
        for (uint32_t i = 0; i < ch * cv; i++)
            l->pair[l->blocks++] = c > 0;
    }
    l->mcus = (uint64_t)((width + 8 * h - 1) / (8 * h)) * ((height + 8 * v - 1) / (8 * v));
    return true;
}

/* Tables of the components as read_frame() takes them. */
static bool check_scan(struct bytes b)
{
    if (b.n < 1 || b.n != 4 + 2u * b.p[0])
        return false;
    for (uint32_t c = 0; c < b.p[0]; c++)
        if (b.p[2 + 2 * c] != (c > 0 ? 0x11 : 0x00))
            return false;
    return true;
}

/* Intervals of whole rows of MCUs or of parts of them: no more than MOST_INTERVALS. */
static bool read_restart(struct layout *l, struct bytes b)
{
    if (b.n != 2 || load_be16(b.p) == 0)
        return false;
    l->restart = load_be16(b.p);
    return l->mcus / l->restart < MOST_INTERVALS;
}

/* One segment before the scan. */
static bool
read_segment(struct layout *l, struct bytes jpeg, size_t at, uint8_t marker, struct bytes body)
{
    enum { SOF0 = 0xC0, DHT = 0xC4, DRI = 0xDD };
    if (marker == SOF0)
        return read_frame(l, body);
    if (marker == DRI) {
        l->scan_head.p = jpeg.p + at;
        return read_restart(l, body);
    }
    if (marker != DHT)
        return l->restart == 0;
    if (l->head.p == NULL)
        l->head = (struct bytes){jpeg.p, at};
    return l->restart == 0 && read_tables(l, body);
}

static bool read_layout(struct bytes jpeg, struct layout *l)
{
    enum { SOS = 0xDA };
    size_t at = 2;
    *l = (struct layout){0};
    while (jpeg.n - at >= 4 && jpeg.p[at] == 0xFF) {
        const uint8_t marker = jpeg.p[at + 1];
        const size_t length = load_be16(jpeg.p + at + 2);
        const struct bytes body = {jpeg.p + at + 4, length - 2};
        if (length < 2 || length > jpeg.n - at - 2)
            return false;
        if (marker == SOS) {
            l->data = (struct bytes){jpeg.p + at + 2 + length, jpeg.n - at - 2 - length};
            if (l->scan_head.p == NULL)
                l->scan_head.p = jpeg.p + at;
            l->scan_head.n = (size_t)(l->data.p - l->scan_head.p);
            return l->head.p != NULL && l->mcus > 0 && check_scan(body);
        }
        if (!read_segment(l, jpeg, at, marker, body))
            return false;
        at += 2 + length;
    }
    return false;
}

/* ---- reading symbols --------------------------------------------------------------------- */

struct bit_reader {
    uint64_t window; /* the next bits, from the highest down */
    uint32_t have;
    const uint8_t *p;
};

static inline void refill(struct bit_reader *r)
{
    uint64_t next;
    memcpy(&next, r->p, sizeof(next));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    next = __builtin_bswap64(next);
#endif
    r->window |= next >> r->have;
    r->p += (63 - r->have) >> 3;
    r->have |= 56;
}

/* One symbol with its extra bits as a word; at least 27 bits are there. UINT32_MAX: no code.
 * The next symbol waits for the entry's bits alone. */
static inline uint32_t
read_symbol(struct bit_reader *r, const struct symbol_reader *t, uint32_t table)
{
    const uint64_t window = r->window;
    uint32_t e = t->entry[window >> (64 - SYMBOL_BITS)];
    if (__builtin_expect(e == 0, 0) && (e = symbol_long(t, (uint32_t)(window >> 48))) == 0)
        return UINT32_MAX;
    const uint32_t bits = e & 255, symbol = e >> 8, size = symbol & 15;
    r->window = window << bits;
    r->have -= bits;
    const uint32_t value = (uint32_t)(window >> (64 - bits)) & ((1u << size) - 1);
    return table << WORD_TABLE | value << WORD_VALUE | symbol;
}

/* Notes an AC symbol. False: the block is over, and *k is 64 or less unless it is broken. */
static inline bool take_ac(uint64_t *count, uint32_t **to, uint32_t w, uint32_t *k)
{
    const uint32_t symbol = w & 255;
    count[symbol]++;
    *(*to)++ = w;
    *k += (symbol >> 4) + 1;
    if (__builtin_expect((symbol & 15) == 0, 0)) {
        if (symbol != 0xF0) {
            *k = symbol == 0 && w != UINT32_MAX ? 64 : UINT32_MAX;
            return false;
        }
    } else if ((symbol & 15) > AC_SIZE) {
        *k = UINT32_MAX;
    }
    return *k < 64;
}

static bool read_block(struct jpeg_optimizer *o, struct bit_reader *reader, uint32_t pair)
{
    const uint32_t dc = 2 * pair, ac = dc + 1;
    const struct symbol_reader *t = &o->reader[ac];
    struct bit_reader r = *reader;
    uint32_t *to = o->word + o->words, k = 1;
    refill(&r);
    const uint32_t w = read_symbol(&r, &o->reader[dc], dc);
    if (w == UINT32_MAX || (w & 255) > DC_SIZE)
        return false;
    o->count[dc][w & 255]++;
    *to++ = w;
    for (bool more = true; more;) { /* two symbols of 27 bits at most from one load */
        refill(&r);
        more = take_ac(o->count[ac], &to, read_symbol(&r, t, ac), &k) &&
               take_ac(o->count[ac], &to, read_symbol(&r, t, ac), &k);
    }
    o->words = (size_t)(to - o->word);
    *reader = r;
    return k <= 64;
}

static bool reserve_words(struct jpeg_optimizer *o, size_t more)
{
    if (more <= o->word_room - o->words)
        return true;
    const size_t room = o->word_room < 4096 ? 16384 : 2 * o->word_room;
    uint32_t *grown = imrec_realloc(o->word, room, sizeof(*grown));
    if (grown == NULL)
        return false;
    o->word = grown;
    o->word_room = room;
    return true;
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

/* Appends the words of the next MCU; *good false: libjpeg does not write such a one. */
static enum imrec_status read_mcu(struct jpeg_optimizer *o, const struct layout *l,
                                  struct bit_reader *r, bool *good, struct imrec_error *err)
{
    *good = false;
    if (!reserve_words(o, MOST_BLOCKS * BLOCK_SYMBOLS))
        return no_memory(err);
    for (uint32_t b = 0; b < l->blocks; b++)
        if (!read_block(o, r, l->pair[b]))
            return IMREC_OK;
    *good = true;
    return IMREC_OK;
}

/* The scan, a restart interval at a time. */
struct reading {
    struct intervals v;
    struct bit_reader r;
    const uint8_t *end; /* of the interval's bits */
    uint64_t mcus;      /* that are left of it */
};

static enum imrec_status begin_reading(struct jpeg_optimizer *o, const struct layout *l,
                                       struct reading *reading, struct imrec_error *err)
{
    *reading = (struct reading){
        .v = {.left = l->data, .mcus_left = (uint32_t)l->mcus, .restart = l->restart}};
    o->words = 0;
    return reserve(&o->bits, &o->bits_room, l->data.n + ENTROPY_PADDING, err);
}

static bool next_interval(struct jpeg_optimizer *o, struct reading *reading)
{
    size_t n;
    reading->mcus = intervals_mcus(&reading->v);
    if (!intervals_unstuff(&reading->v, o->bits, &n, ENTROPY_PADDING) ||
        (reading->v.mcus_left == 0 && reading->v.left.n > 0))
        return false;
    reading->r = (struct bit_reader){.p = o->bits};
    reading->end = o->bits + n;
    return true;
}

/* The words of the next MCU; *good as in read_mcu(). */
static enum imrec_status read_next(struct jpeg_optimizer *o, const struct layout *l,
                                   struct reading *reading, bool *good, struct imrec_error *err)
{
    *good = reading->mcus > 0 || next_interval(o, reading);
    if (!*good)
        return IMREC_OK;
    IMREC_TRY(read_mcu(o, l, &reading->r, good, err));
    if (reading->r.p - reading->r.have / 8 > reading->end) /* padding has been read for bits */
        *good = false;
    reading->mcus--;
    return IMREC_OK;
}

/* All symbols of the scan, counted; *good as above. */
static enum imrec_status read_scan(struct jpeg_optimizer *o, const struct layout *l,
                                   const struct stop *stop, bool *good, struct imrec_error *err)
{
    struct reading reading;
    IMREC_TRY(begin_reading(o, l, &reading, err));
    o->dropped = false;
    o->ends = 0;
    memset(o->count, 0, sizeof(o->count));
    for (uint64_t m = 0; m < l->mcus; m++) {
        if (m % LOOK_MCUS == 0)
            IMREC_TRY(stop_check(stop, err));
        IMREC_TRY(read_next(o, l, &reading, good, err));
        if (!*good)
            return IMREC_OK;
        if (o->words > MOST_WORDS || (o->dropped && o->words > PIECE_WORDS)) {
            o->dropped = true;
            o->words = 0;
        }
        if (reading.mcus > 0)
            continue;
        if (!IMREC_GROW(o->end, o->end_room, o->ends + 1))
            return no_memory(err);
        o->end[o->ends++] = o->words;
    }
    return IMREC_OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

struct bit_writer {
    uint64_t window; /* from the highest bit down */
    uint32_t have;   /* below 8 between words, which are of 27 bits at most */
};

/* Words [i, end) without stuffing into `to`, which has 8 bytes more than it needs; whole bytes. */
static size_t put_words(const struct jpeg_optimizer *o, size_t i, size_t end,
                        struct bit_writer *writer, uint8_t *to)
{
    uint8_t *const begin = to;
    struct bit_writer b = *writer;
    for (; i < end; i++) {
        const uint32_t w = o->word[i], e = o->writer[w >> WORD_TABLE].entry[w & 255];
        const uint64_t bits = (e >> 5) | (w >> WORD_VALUE & 0xFFFF);
        b.have += e & 31;
        b.window |= bits << (64 - b.have);
        uint64_t out = b.window;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        out = __builtin_bswap64(out);
#endif
        memcpy(to, &out, sizeof(out));
        to += b.have >> 3;
        b.window <<= b.have & 56;
        b.have &= 7;
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

/* Bytes of the scan before stuffing, rounded up for each restart interval, and its marker. */
static size_t scan_bytes(const struct jpeg_optimizer *o)
{
    uint64_t bits = 7;
    for (uint32_t t = 0; t < TABLES; t++)
        for (uint32_t i = 0; i < SYMBOLS; i++)
            bits += o->count[t][i] * (o->writer[t].entry[i] & 31);
    return (size_t)(bits / 8 + o->ends * 3);
}

/* Writes the scan, stuffed, to *to, which moves to its end. */
static enum imrec_status
write_kept(struct jpeg_optimizer *o, size_t scan, uint8_t **to, struct imrec_error *err)
{
    /* the symbols have been read */
    IMREC_TRY(reserve(&o->bits, &o->bits_room, scan + sizeof(uint64_t), err));
    for (uint64_t i = 0; i < o->ends; i++) {
        struct bit_writer w = {0, 0};
        const size_t n = put_words(o, i > 0 ? o->end[i - 1] : 0, o->end[i], &w, o->bits);
        *to = stuff(*to, o->bits, n + put_last(&w, o->bits + n));
        *to = put_restart(*to, i, o->ends);
    }
    return IMREC_OK;
}

/* The same, the words read once more. */
static enum imrec_status write_again(struct jpeg_optimizer *o, const struct layout *l,
                                     const struct stop *stop, uint8_t **to, struct imrec_error *err)
{
    struct reading reading;
    struct bit_writer w = {0, 0};
    uint64_t interval = 0;
    bool good;
    IMREC_TRY(begin_reading(o, l, &reading, err));
    if (o->piece == NULL && (o->piece = imrec_realloc(NULL, PIECE_BYTES, 1)) == NULL)
        return no_memory(err);
    for (uint64_t m = 0; m < l->mcus; m++) {
        if (m % LOOK_MCUS == 0)
            IMREC_TRY(stop_check(stop, err));
        IMREC_TRY(read_next(o, l, &reading, &good, err));
        if (o->words <= PIECE_WORDS && reading.mcus > 0)
            continue;
        *to = stuff(*to, o->piece, put_words(o, 0, o->words, &w, o->piece));
        o->words = 0;
        if (reading.mcus > 0)
            continue;
        *to = stuff(*to, o->piece, put_last(&w, o->piece));
        *to = put_restart(*to, interval++, o->ends);
        w = (struct bit_writer){0, 0};
    }
    return IMREC_OK;
}

static enum imrec_status write_all(struct jpeg_optimizer *o, const struct layout *l,
                                   const struct stop *stop, struct buf *out, bool *done,
                                   struct imrec_error *err)
{
    enum { TABLE_BYTES = 5 + LONGEST_CODE + SYMBOLS };
    for (uint32_t t = 0; t < TABLES; t++) {
        if (!l->has[t])
            continue;
        if (!symbol_spec_optimal(&o->spec[t], o->count[t])) {
            *done = false;
            return IMREC_OK;
        }
        symbol_writer_make(&o->writer[t], &o->spec[t]);
    }
    const size_t scan = scan_bytes(o);
    const size_t most = l->head.n + TABLES * TABLE_BYTES + l->scan_head.n + 2 * scan + 2;
    out->n = 0;
    IMREC_TRY(reserve(&out->p, &out->cap, most, err));
    uint8_t *to = put(out->p, l->head);
    for (uint32_t t = 0; t < TABLES; t++)
        if (l->has[t])
            to = put_table(to, t, &o->spec[t]);
    to = put(to, l->scan_head);
    IMREC_TRY(o->dropped ? write_again(o, l, stop, &to, err) : write_kept(o, scan, &to, err));
    to = put_marker(to, ENTROPY_END);
    out->n = (size_t)(to - out->p);
    return IMREC_OK;
}

enum imrec_status jpeg_optimize(struct jpeg_optimizer *o, struct bytes plain,
                                const struct stop *stop, struct buf *out, bool *done,
                                struct imrec_error *err)
{
    struct layout l;
    *done = false;
    if (!read_layout(plain, &l))
        return IMREC_OK;
    for (uint32_t t = 0; t < TABLES; t++)
        if (l.has[t] && !symbol_reader_make(&o->reader[t], &l.spec[t]))
            return IMREC_OK;
    if (!l.has[0] || !l.has[1] || (l.blocks > 1 && (!l.has[2] || !l.has[3])))
        return IMREC_OK;
    IMREC_TRY(read_scan(o, &l, stop, done, err));
    return *done ? write_all(o, &l, stop, out, done, err) : IMREC_OK;
}
