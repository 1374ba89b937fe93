/* codec/jpeg/recode/jpeg_optimize.c - the words of a JPEG that libjpeg has coded: a piece is an
 * MCU. Nothing is dequantized or transformed. */
#include "codec/jpeg/recode/jpeg_optimize.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/recode/symbol_words.h"

#include <string.h>

enum { MOST_BLOCKS = 10, DC_SIZE = 11, AC_SIZE = 10 };

struct layout { /* of the scan */
    uint64_t mcus;
    uint32_t restart;          /* MCUs of an interval; 0: all */
    uint32_t blocks;           /* of an MCU */
    uint8_t pair[MOST_BLOCKS]; /* 0 or 1: tables of each */
    struct symbol_spec spec[WORD_TABLES];
    struct word_file file; /* its head is up to the first DHT, its scan's DRI and SOS */
    struct bytes data;
};

struct bit_reader {
    uint64_t window; /* the next bits, from the highest down */
    uint32_t have;
    const uint8_t *p;
};

struct jpeg_optimizer {
    struct symbol_words words;
    struct symbol_reader reader[WORD_TABLES];
    uint8_t *bits; /* the scan, or a restart interval, without stuffing */
    size_t bits_room;
    struct layout layout;
    const struct symbol_spec *shared;
    uint64_t shared_most;
    /* what is being read */
    struct intervals v;
    struct bit_reader r;
    const uint8_t *end; /* of the interval's bits */
    uint64_t mcus;      /* that are left of it */
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
    words_drop(&o->words);
    imrec_free(o->bits);
    o->bits = NULL;
    o->bits_room = 0;
}

/* Of 4:2:0 a pixel has one and a half coefficients. */
uint64_t jpeg_optimizer_claim(uint64_t pixels)
{
    return sizeof(struct jpeg_optimizer) +
           words_claim(pixels + pixels / 2 + BLOCK_WORDS * MOST_BLOCKS);
}

size_t jpeg_optimizer_memory(const struct jpeg_optimizer *o)
{
    return o == NULL ? 0 : sizeof(*o) + o->bits_room + words_memory(&o->words);
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
        l->file.has[t] = true;
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
        l->file.scan_head.p = jpeg.p + at;
        return read_restart(l, body);
    }
    if (marker != DHT)
        return l->restart == 0;
    if (l->file.head.p == NULL)
        l->file.head = (struct bytes){jpeg.p, at};
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
            if (l->file.scan_head.p == NULL)
                l->file.scan_head.p = jpeg.p + at;
            l->file.scan_head.n = (size_t)(l->data.p - l->file.scan_head.p);
            return l->file.head.p != NULL && l->mcus > 0 && check_scan(body);
        }
        if (!read_segment(l, jpeg, at, marker, body))
            return false;
        at += 2 + length;
    }
    return false;
}

/* ---- reading symbols --------------------------------------------------------------------- */

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
    count[w % WORD_SYMBOLS]++;
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

static bool read_block(struct jpeg_optimizer *o, uint32_t pair)
{
    const uint32_t dc = 2 * pair, ac = dc + 1;
    const struct symbol_reader *t = &o->reader[ac];
    struct symbol_words *words = &o->words;
    struct bit_reader r = o->r;
    uint32_t *to = words->word + words->words, k = 1;
    refill(&r);
    const uint32_t w = read_symbol(&r, &o->reader[dc], dc);
    if (w == UINT32_MAX || (w & 255) > DC_SIZE)
        return false;
    words->count[0][w % WORD_SYMBOLS]++;
    *to++ = w;
    for (bool more = true; more;) { /* two symbols of 27 bits at most from one load */
        refill(&r);
        more = take_ac(words->count[0], &to, read_symbol(&r, t, ac), &k) &&
               take_ac(words->count[1], &to, read_symbol(&r, t, ac), &k);
    }
    words->words = (size_t)(to - words->word);
    o->r = r;
    return k <= 64;
}

static bool read_mcu(struct jpeg_optimizer *o)
{
    for (uint32_t b = 0; b < o->layout.blocks; b++)
        if (!read_block(o, o->layout.pair[b]))
            return false;
    return o->r.p - o->r.have / 8 <= o->end; /* else padding has been read for bits */
}

/* The scan, a restart interval at a time. */
static enum imrec_status begin_reading(void *context, struct imrec_error *err)
{
    struct jpeg_optimizer *o = context;
    const struct layout *l = &o->layout;
    const size_t need = l->data.n + ENTROPY_PADDING;
    o->v =
        (struct intervals){.left = l->data, .mcus_left = (uint32_t)l->mcus, .restart = l->restart};
    o->mcus = 0;
    if (need <= o->bits_room)
        return IMREC_OK;
    imrec_free(o->bits);
    o->bits_room = 0;
    o->bits = imrec_realloc(NULL, need + need / 4, 1);
    if (o->bits == NULL)
        return no_memory(err);
    o->bits_room = need + need / 4;
    return IMREC_OK;
}

static bool next_interval(struct jpeg_optimizer *o)
{
    size_t n;
    o->mcus = intervals_mcus(&o->v);
    if (!intervals_unstuff(&o->v, o->bits, &n, ENTROPY_PADDING) ||
        (o->v.mcus_left == 0 && o->v.left.n > 0))
        return false;
    o->r = (struct bit_reader){.p = o->bits};
    o->end = o->bits + n;
    return true;
}

/* The words of the next MCU; declined: libjpeg does not write such a one. */
static enum imrec_status
read_next(void *context, struct symbol_words *w, enum words_next *next, struct imrec_error *err)
{
    struct jpeg_optimizer *o = context;
    *next = WORDS_DECLINED;
    if (!words_reserve(w, MOST_BLOCKS * BLOCK_WORDS))
        return no_memory(err);
    if ((o->mcus > 0 || next_interval(o)) && read_mcu(o))
        *next = --o->mcus > 0 ? WORDS_MORE : WORDS_INTERVAL;
    return IMREC_OK;
}

/* False: libjpeg does not write such a one. */
static bool read_head(struct jpeg_optimizer *o, struct bytes jpeg)
{
    struct layout *l = &o->layout;
    if (jpeg.n < 2 || !read_layout(jpeg, l))
        return false;
    const bool *has = l->file.has;
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        if (has[t] && !symbol_reader_make(&o->reader[t], &l->spec[t]))
            return false;
    return has[0] && has[1] && (l->blocks == 1 || (has[2] && has[3]));
}

static struct word_source source_of(struct jpeg_optimizer *o, const struct stop *stop)
{
    return (struct word_source){.context = o,
                                .stop = stop,
                                .pieces = o->layout.mcus,
                                .begin = begin_reading,
                                .next = read_next};
}

void jpeg_optimizer_share(struct jpeg_optimizer *o, const struct symbol_spec *shared,
                          uint64_t shared_most)
{
    o->shared = shared;
    o->shared_most = shared_most;
}

enum imrec_status jpeg_optimizer_count(struct jpeg_optimizer *o, struct bytes jpeg,
                                       const struct stop *stop, uint64_t *count, bool *done,
                                       struct imrec_error *err)
{
    *done = false;
    if (!read_head(o, jpeg))
        return IMREC_OK;
    const struct word_source from = source_of(o, stop);
    IMREC_TRY(words_count(&o->words, &from, done, err));
    for (uint32_t i = 0; *done && i < WORD_SYMBOLS; i++)
        count[i] += words_count_of(&o->words, i);
    return IMREC_OK;
}

enum imrec_status jpeg_optimize(struct jpeg_optimizer *o, struct bytes plain,
                                const struct stop *stop, struct buf *out, bool *done,
                                struct imrec_error *err)
{
    struct word_file *file = &o->layout.file;
    *done = false;
    if (!read_head(o, plain))
        return IMREC_OK;
    file->shared = o->shared;
    file->shared_most = o->shared_most;
    const struct word_source from = source_of(o, stop);
    return words_write(&o->words, &from, file, out, done, err);
}
