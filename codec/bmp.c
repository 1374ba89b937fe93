/*
 * codec/bmp.c - Windows bitmaps, read by ourselves: 1, 4, 8, 16, 24, 32 bits, palettes, bit fields,
 * RLE4 and RLE8, top-down and bottom-up.
 *
 *     "BM" | u32 size | u32 0 | u32 offset of the pixels
 *     u32 size of the header: 12 (OS/2) | u16 width, height, planes, bits
 *                             >= 40     | i32 width, height | u16 planes, bits | u32 compression,
 *                                         bytes of pixels | i32 x 2 | u32 colours used, important
 *     bit fields (after a header of 40 bytes, else in it) | palette | pixels
 * Rows are padded to 4 bytes. A negative height means that the first row is the top one.
 */
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"

#include <string.h>

enum compression { RGB_PLAIN, RLE8, RLE4, BIT_FIELDS, ALPHA_BIT_FIELDS = 6 };
enum { FILE_HEAD_BYTES = 14, OLD_HEAD_BYTES = 12, MAX_COLOURS = 256 };

struct bmp {
    uint32_t width, height, bits, compression;
    bool top_down;
    size_t pixels; /* offset */
    uint32_t mask[4];
    uint32_t colours;
    uint8_t palette[MAX_COLOURS][4]; /* R, G, B, 255 */
};

static bool is_bmp(struct bytes b)
{
    return b.n >= 2 && b.p[0] == 'B' && b.p[1] == 'M';
}

static enum imrec_status corrupt(size_t at, const char *what, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, at, "bmp: %s at byte %zu", what, at);
}

static bool known_coding(const struct bmp *m)
{
    switch (m->compression) {
    case RGB_PLAIN:
        return m->bits == 1 || m->bits == 4 || m->bits == 8 || m->bits == 16 || m->bits == 24 ||
               m->bits == 32;
    case RLE8:
        return m->bits == 8 && !m->top_down;
    case RLE4:
        return m->bits == 4 && !m->top_down;
    case BIT_FIELDS:
    case ALPHA_BIT_FIELDS:
        return m->bits == 16 || m->bits == 32;
    default:
        return false;
    }
}

/* Width, height, bits, compression and the number of colours claimed. */
static enum imrec_status
read_sizes(struct bytes b, struct bmp *m, size_t head, uint32_t *claimed, struct imrec_error *err)
{
    const uint8_t *p = b.p + FILE_HEAD_BYTES;
    *claimed = 0;
    if (head == OLD_HEAD_BYTES) {
        m->width = load_le16(p + 4);
        m->height = load_le16(p + 6);
        m->bits = load_le16(p + 10);
    } else {
        const uint32_t height = load_le32(p + 8);
        m->width = load_le32(p + 4);
        m->top_down = height >> 31;
        m->height = m->top_down ? 0u - height : height;
        m->bits = load_le16(p + 14);
        m->compression = load_le32(p + 16);
        *claimed = load_le32(p + 32);
    }
    if (m->width == 0 || m->width > INT32_MAX || m->height == 0 || m->height > INT32_MAX)
        return corrupt(FILE_HEAD_BYTES + 4, "a width or height that cannot be", err);
    if (!known_coding(m))
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, FILE_HEAD_BYTES + 14,
                              "bmp: compression %u with %u bits a pixel is not supported",
                              m->compression, m->bits);
    return IMREC_OK;
}

/* Masks of 16 and 32 bits: given, or the presets. Returns the bytes they take after the header. */
static size_t read_masks(struct bytes b, struct bmp *m, size_t head)
{
    static const uint32_t preset[2][4] = {{0x7C00, 0x3E0, 0x1F, 0}, {0xFF0000, 0xFF00, 0xFF, 0}};
    const size_t at = FILE_HEAD_BYTES + 40;
    const bool alpha = m->compression == ALPHA_BIT_FIELDS || head >= 56;
    const size_t after = head > 40 ? 0 : alpha ? 16 : 12;
    if (m->bits == 16 || m->bits == 32)
        memcpy(m->mask, preset[m->bits == 32], sizeof(m->mask));
    if (m->compression != BIT_FIELDS && m->compression != ALPHA_BIT_FIELDS)
        return 0;
    for (size_t i = 0; i < (alpha ? 4 : 3); i++)
        m->mask[i] = at + 4 * i + 4 <= b.n ? load_le32(b.p + at + 4 * i) : 0;
    return after;
}

static enum imrec_status read_palette(struct bytes b, struct bmp *m, size_t at, size_t entry,
                                      uint32_t claimed, struct imrec_error *err)
{
    if (m->bits > 8)
        return IMREC_OK;
    const uint32_t most = 1u << m->bits;
    m->colours = claimed == 0 || claimed > most ? most : claimed;
    const size_t room = m->pixels > at ? (m->pixels - at) / entry : 0;
    if (m->colours > room)
        m->colours = (uint32_t)room; /* the pixels begin earlier: what they index is black */
    if (at + m->colours * entry > b.n)
        return corrupt(at, "a palette that the data end in", err);
    for (uint32_t i = 0; i < m->colours; i++) {
        const uint8_t *e = b.p + at + i * entry;
        const uint8_t colour[4] = {e[2], e[1], e[0], 255};
        memcpy(m->palette[i], colour, 4);
    }
    for (uint32_t i = m->colours; i < MAX_COLOURS; i++)
        m->palette[i][3] = 255;
    return IMREC_OK;
}

static enum imrec_status parse(struct bytes b, struct bmp *m, struct imrec_error *err)
{
    uint32_t claimed;
    *m = (struct bmp){0};
    if (b.n < FILE_HEAD_BYTES + OLD_HEAD_BYTES)
        return corrupt(b.n, "no whole header: the data end", err);
    const size_t head = load_le32(b.p + FILE_HEAD_BYTES);
    if ((head != OLD_HEAD_BYTES && head < 40) || head > b.n - FILE_HEAD_BYTES)
        return corrupt(FILE_HEAD_BYTES, "a header size that cannot be", err);
    IMREC_TRY(read_sizes(b, m, head, &claimed, err));
    const size_t at = FILE_HEAD_BYTES + head + read_masks(b, m, head);
    m->pixels = load_le32(b.p + 10);
    if (m->pixels < at || m->pixels > b.n)
        return corrupt(10, "an offset of the pixels that is outside the data", err);
    return read_palette(b, m, at, head == OLD_HEAD_BYTES ? 3 : 4, claimed, err);
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    struct bmp m;
    IMREC_TRY(parse(c->image, &m, err));
    c->info.width = m.width;
    c->info.height = m.height;
    c->info.bits = m.bits == 16 ? 5 : m.bits < 8 ? m.bits : 8;
    c->info.channels = m.mask[3] != 0 ? 4 : 3;
    c->held = m.compression == RLE8 || m.compression == RLE4 ? m.height : 0;
    return IMREC_OK;
}

/* A field of a pixel, stretched to 8 bits. */
static uint8_t field(uint32_t pixel, uint32_t mask)
{
    if (mask == 0)
        return 0;
    const int shift = __builtin_ctz(mask);
    const uint32_t most = mask >> shift, v = (pixel & mask) >> shift;
    return (uint8_t)(((uint64_t)v * 255 + most / 2) / most);
}

static void unpack_masked(const struct bmp *m, const uint8_t *from, uint8_t *to)
{
    for (uint32_t x = 0; x < m->width; x++, to += 4) {
        const uint32_t v =
            m->bits == 16 ? load_le16(from + 2 * (size_t)x) : load_le32(from + 4 * (size_t)x);
        for (size_t i = 0; i < 3; i++)
            to[i] = field(v, m->mask[i]);
        to[3] = m->mask[3] != 0 ? field(v, m->mask[3]) : 255;
    }
}

/* One stored row, or one index a byte (bits = 8), to RGBA. */
static void unpack_row(const struct bmp *m, uint32_t bits, const uint8_t *from, uint8_t *to)
{
    if (bits == 16 || bits == 32) {
        unpack_masked(m, from, to);
        return;
    }
    for (size_t x = 0; x < m->width; x++, to += 4) {
        if (bits == 24) {
            const uint8_t px[4] = {from[3 * x + 2], from[3 * x + 1], from[3 * x], 255};
            memcpy(to, px, 4);
            continue;
        }
        const size_t per = 8 / bits, shift = 8 - bits * (x % per + 1);
        memcpy(to, m->palette[from[x / per] >> shift & ((1u << bits) - 1)], 4);
    }
}

static enum imrec_status plain_rows(struct codec *c, const struct bmp *m, struct rows *r,
                                    const struct conversion *how, struct imrec_error *err)
{
    const size_t stride = ((size_t)m->width * m->bits + 31) / 32 * 4;
    const size_t used = ((size_t)m->width * m->bits + 7) / 8; /* the padding may be missing */
    IMREC_TRY(codec_reserve(&c->scratch, (size_t)m->width * 4, err));
    for (uint32_t i = 0; i < r->region.height; i++) {
        IMREC_TRY(stop_check(c->stop, err));
        const uint32_t y = r->region.y + i;
        const uint64_t at = m->pixels + (uint64_t)stride * (m->top_down ? y : m->height - 1 - y);
        if (at + used > c->image.n) {
            if (!c->limits.accept_truncated || r->warnings == 0)
                IMREC_TRY(codec_truncated(c, r, y, err));
            memset(c->scratch.p, 128, (size_t)m->width * 4);
        } else {
            unpack_row(m, m->bits, c->image.p + at, c->scratch.p);
        }
        rows_give(r, how, c->scratch.p, y);
    }
    return IMREC_OK;
}

/* The position of a run-length coder. */
struct pen {
    uint32_t x, y; /* y counts from the bottom */
};

static void put(const struct bmp *m, uint8_t *indices, struct pen *pen, uint8_t index)
{
    if (pen->x < m->width && pen->y < m->height)
        indices[(size_t)(m->height - 1 - pen->y) * m->width + pen->x] = index;
    if (pen->x < m->width)
        pen->x++;
}

/* `n` pixels of a run or of literal bytes. */
static uint8_t nibble(const struct bmp *m, const uint8_t *p, size_t i, bool run)
{
    if (m->compression == RLE8)
        return p[run ? 0 : i];
    return i % 2 == 0 ? p[run ? 0 : i / 2] >> 4 : p[run ? 0 : i / 2] & 15;
}

static size_t literal_bytes(const struct bmp *m, size_t n)
{
    const size_t bytes = m->compression == RLE8 ? n : (n + 1) / 2;
    return (bytes + 1) / 2 * 2;
}

/* One code at p[0..n): its length, 0 at the end of the image or of the data (*cut). */
static size_t one_code(const struct bmp *m, const uint8_t *p, size_t n, uint8_t *indices,
                       struct pen *pen, bool *cut)
{
    enum { END_OF_LINE, END_OF_IMAGE, MOVE };
    *cut = n < 2;
    if (*cut)
        return 0;
    if (p[0] > 0) {
        for (size_t i = 0; i < p[0]; i++)
            put(m, indices, pen, nibble(m, p + 1, i, true));
        return 2;
    }
    if (p[1] == END_OF_IMAGE)
        return 0;
    if (p[1] == END_OF_LINE) {
        *pen = (struct pen){0, pen->y + 1};
        return 2;
    }
    if (p[1] == MOVE) {
        *cut = n < 4;
        *pen = *cut ? *pen : (struct pen){pen->x + p[2], pen->y + p[3]};
        return *cut ? 0 : 4;
    }
    *cut = n < 2 + literal_bytes(m, p[1]);
    for (size_t i = 0; !*cut && i < p[1]; i++)
        put(m, indices, pen, nibble(m, p + 2, i, false));
    return *cut ? 0 : 2 + literal_bytes(m, p[1]);
}

static enum imrec_status run_rows(struct codec *c, const struct bmp *m, struct rows *r,
                                  const struct conversion *how, struct imrec_error *err)
{
    IMREC_TRY(codec_reserve(&c->scratch, (size_t)m->width * 4, err));
    IMREC_TRY(codec_reserve_whole(c, 1, err));
    const struct imrec_image *v = &c->whole.view;
    struct pen pen = {0, 0};
    size_t at = m->pixels, step = 1;
    bool cut = false;
    memset(v->pixels, 0, v->stride * v->height); /* what is not drawn has index 0 */
    while (step != 0 && pen.y < m->height && !stop_asked(c->stop)) {
        step = one_code(m, c->image.p + at, c->image.n - at, v->pixels, &pen, &cut);
        at += step;
    }
    IMREC_TRY(stop_check(c->stop, err));
    if (cut)
        IMREC_TRY(codec_truncated(c, r, m->height - 1 - pen.y, err));
    for (uint32_t y = 0; y < m->height; y++) {
        unpack_row(m, 8, v->pixels + y * v->stride, c->scratch.p);
        rows_give(r, how, c->scratch.p, y);
    }
    return IMREC_OK;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    const struct conversion how = {PIXELS_RGBA, GREY_ROUNDED, r->channels, c->limits.alpha};
    struct bmp m;
    IMREC_TRY(parse(c->image, &m, err));
    if (m.compression == RLE8 || m.compression == RLE4)
        return run_rows(c, &m, r, &how, err);
    return plain_rows(c, &m, r, &how, err);
}

/* A row of colours, and of run-length coding all indices. */
static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    (void)denominator;
    return (uint64_t)c->info.width * (4 + c->held);
}

const struct format codec_bmp = {"bmp", NULL, is_bmp, read_head, decode, claim};
