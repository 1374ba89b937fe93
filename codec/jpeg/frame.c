/*
 * codec/jpeg/frame.c - the headers of a plain JPEG, by the rules of libjpeg.
 *
 * Whatever libjpeg would warn of, refuse or treat in another way is "not plain", and so is
 * what is merely rare.
 */
#include "codec/jpeg/frame.h"

#include <string.h>

enum {
    M_SOF0 = 0xC0,
    M_SOF1 = 0xC1,
    M_SOF2 = 0xC2,
    M_DHT = 0xC4,
    M_SOI = 0xD8,
    M_EOI = 0xD9,
    M_SOS = 0xDA,
    M_DQT = 0xDB,
    M_DRI = 0xDD,
    M_APP0 = 0xE0,
    M_APP14 = 0xEE,
    M_APP15 = 0xEF,
    M_COM = 0xFE,
};

const uint8_t natural_order[BLOCK * BLOCK] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

struct reading {
    struct frame *p;
    bool has_frame, has_scan;
};

static bool read_quant(struct frame *p, struct bytes b)
{
    for (; b.n > BLOCK * BLOCK; b.p += 1 + BLOCK * BLOCK, b.n -= 1 + BLOCK * BLOCK) {
        const uint32_t table = b.p[0]; /* of 8 bits an entry: the upper half is 0 */
        if (table >= MOST_TABLES)
            return false;
        for (uint32_t k = 0; k < BLOCK * BLOCK; k++)
            p->quant[table][natural_order[k]] = b.p[1 + k];
        p->has_quant |= 1u << table;
    }
    return b.n == 0;
}

static bool read_huffman(struct frame *p, struct bytes b)
{
    while (b.n > 16) {
        const uint32_t table = b.p[0] & 15, kind = b.p[0] >> 4;
        uint32_t symbols = 0;
        if (table >= MOST_TABLES || kind > 1)
            return false;
        for (uint32_t i = 1; i <= 16; i++)
            symbols += b.p[i];
        if (symbols > 256 || symbols > b.n - 17)
            return false;
        struct huffman_spec *spec = kind == 1 ? &p->ac[table] : &p->dc[table];
        memcpy(spec->counts + 1, b.p + 1, 16);
        memset(spec->symbols, 0, sizeof(spec->symbols));
        memcpy(spec->symbols, b.p + 17, symbols);
        *(kind == 1 ? &p->has_ac : &p->has_dc) |= 1u << table;
        b = (struct bytes){b.p + 17 + symbols, b.n - 17 - symbols};
    }
    return b.n == 0;
}

/* 4:4:4, 4:2:2 or 4:2:0 with one chroma block in an MCU; grey of one block. */
static bool is_known_sampling(const struct frame *p, const uint8_t *sampling)
{
    if (p->components == 1)
        return sampling[0] == 0x11;
    return sampling[1] == 0x11 && sampling[2] == 0x11 &&
           (sampling[0] == 0x11 || sampling[0] == 0x21 || sampling[0] == 0x22);
}

static bool read_frame(struct reading *r, uint8_t marker, struct bytes b)
{
    struct frame *p = r->p;
    uint8_t sampling[MOST_COMPONENTS] = {0};
    if (r->has_frame || b.n < 6 || b.p[0] != 8 || (b.p[5] != 1 && b.p[5] != 3) ||
        b.n != 6 + 3u * b.p[5])
        return false;
    r->has_frame = true;
    p->progressive = marker == M_SOF2;
    p->height = load_be16(b.p + 1);
    p->width = load_be16(b.p + 3);
    p->components = b.p[5];
    for (uint32_t i = 0; i < p->components; i++) {
        const uint8_t *c = b.p + 6 + 3 * i;
        r->p->id[i] = c[0];
        sampling[i] = c[1];
        p->quant_of[i] = c[2];
        for (uint32_t k = 0; k < i; k++)
            if (r->p->id[k] == c[0])
                return false;
    }
    p->h = sampling[0] >> 4;
    p->v = sampling[0] & 15;
    return is_known_sampling(p, sampling);
}

static bool read_application(struct reading *r, uint8_t marker, struct bytes b)
{
    if (marker == M_APP0 && b.n >= 14 && memcmp(b.p, "JFIF", 5) == 0) {
        r->p->jfif = true;
        return b.p[5] == 1; /* of another major version libjpeg warns */
    }
    if (marker == M_APP14 && b.n >= 12 && memcmp(b.p, "Adobe", 5) == 0) {
        r->p->adobe = true;
        r->p->transform = b.p[11];
    }
    return true;
}

static bool read_restart(struct frame *p, struct bytes b)
{
    if (b.n != 2)
        return false;
    p->restart = load_be16(b.p);
    return true;
}

static bool is_ycc(const struct reading *r)
{
    if (r->p->jfif)
        return true;
    if (r->p->adobe)
        return r->p->transform == 1; /* 0 is RGB; of others libjpeg warns */
    return memcmp(r->p->id, "RGB", 3) != 0;
}

/* Components of a sequential image's one scan, all of them. */
static bool read_scan(const struct reading *r, struct bytes b)
{
    struct frame *p = r->p;
    const uint32_t n = p->components;
    if (b.n != 4 + 2 * n || b.p[0] != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t id = b.p[1 + 2 * i], dc = b.p[2 + 2 * i] >> 4, ac = b.p[2 + 2 * i] & 15;
        const uint32_t quant = p->quant_of[i];
        if (id != p->id[i] || dc >= MOST_TABLES || ac >= MOST_TABLES || quant >= MOST_TABLES ||
            !(p->has_dc >> dc & p->has_ac >> ac & p->has_quant >> quant & 1))
            return false;
        p->dc_of[i] = (uint8_t)dc;
        p->ac_of[i] = (uint8_t)ac;
    }
    return memcmp(b.p + 1 + 2 * n, "\0\x3F\0", 3) == 0 && (n == 1 || is_ycc(r));
}

/* The numbers at the end of a scan's header, by the rules of libjpeg. */
static bool read_progression(struct frame_scan *s, const uint8_t *b)
{
    s->from = b[0];
    s->end = b[1];
    s->high = b[2] >> 4;
    s->low = b[2] & 15;
    if (s->from == 0 ? s->end != 0
                     : s->from > s->end || s->end >= BLOCK * BLOCK || s->components != 1)
        return false;
    return s->low <= 13 && (s->high == 0 || s->low + 1 == s->high);
}

/* Some components, in the frame's order; a scan has the tables that it decodes with. */
static bool read_progressive_scan(const struct reading *r, struct bytes b)
{
    struct frame *p = r->p;
    struct frame_scan *s = &p->scan;
    if (b.n < 1 || b.p[0] < 1 || b.p[0] > p->components || b.n != 4 + 2u * b.p[0])
        return false;
    s->components = b.p[0];
    if (!read_progression(s, b.p + 1 + 2 * s->components) || (p->components > 1 && !is_ycc(r)))
        return false;
    for (uint32_t i = 0, c = 0; i < s->components; i++, c++) {
        const uint32_t dc = b.p[2 + 2 * i] >> 4, ac = b.p[2 + 2 * i] & 15;
        while (c < p->components && p->id[c] != b.p[1 + 2 * i])
            c++;
        if (c == p->components || dc >= MOST_TABLES || ac >= MOST_TABLES ||
            p->quant_of[c] >= MOST_TABLES || !(p->has_quant >> p->quant_of[c] & 1) ||
            (s->from == 0 && s->high == 0 && !(p->has_dc >> dc & 1)) ||
            (s->from > 0 && !(p->has_ac >> ac & 1)))
            return false;
        s->component[i] = (uint8_t)c;
        s->dc_of[i] = (uint8_t)dc;
        s->ac_of[i] = (uint8_t)ac;
    }
    return true;
}

static bool read_segment(struct reading *r, uint8_t marker, struct bytes b)
{
    switch (marker) {
    case M_SOF0:
    case M_SOF1:
    case M_SOF2:
        return read_frame(r, marker, b);
    case M_DHT:
        return read_huffman(r->p, b);
    case M_DQT: /* libjpeg keeps those of the first scan; later ones are rare */
        return !r->has_scan && read_quant(r->p, b);
    case M_DRI:
        return read_restart(r->p, b);
    case M_COM:
        return true;
    default:
        return marker >= M_APP0 && marker <= M_APP15 && read_application(r, marker, b);
    }
}

/* Segments from `at` on, to a scan or the image's end. */
static bool read_segments(struct reading *r, struct bytes image, size_t at, bool *is_end)
{
    *is_end = false;
    while (image.n - at >= 4) {
        const uint8_t *m = image.p + at;
        const size_t length = load_be16(m + 2);
        if (m[0] != 0xFF || length < 2 || length > image.n - at - 2)
            return false;
        const struct bytes body = {m + 4, length - 2};
        at += 2 + length;
        if (m[1] == M_SOS) {
            r->p->entropy = at;
            return r->has_frame &&
                   (r->p->progressive ? read_progressive_scan(r, body) : read_scan(r, body));
        }
        if (!read_segment(r, m[1], body))
            return false;
        if (image.n - at >= 2 && image.p[at] == 0xFF && image.p[at + 1] == M_EOI) {
            *is_end = true;
            return true;
        }
    }
    return false;
}

bool frame_read(struct frame *p, struct bytes image)
{
    struct reading r = {.p = p};
    bool is_end;
    p->restart = 0;
    p->has_quant = p->has_dc = p->has_ac = 0;
    p->jfif = p->adobe = p->progressive = false;
    if (image.n < 2 || image.p[0] != 0xFF || image.p[1] != M_SOI)
        return false;
    return read_segments(&r, image, 2, &is_end) && !is_end;
}

bool frame_next_scan(struct frame *p, struct bytes image, size_t at, bool *is_end)
{
    struct reading r = {.p = p, .has_frame = true, .has_scan = true};
    if (image.n - at >= 2 && image.p[at] == 0xFF && image.p[at + 1] == M_EOI) {
        *is_end = true;
        return true;
    }
    return read_segments(&r, image, at, is_end);
}
