/*
 * codec/jpeg/frame.c - the headers of a plain JPEG, by the rules of libjpeg.
 *
 * Whatever libjpeg would warn of, refuse or treat in another way is "not plain", and so is
 * what is merely rare.
 */
#include "codec/jpeg/frame.h"

#include "codec/jpeg/kernels/zigzag.h"
#include "codec/jpeg/standard_codes.h"

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

struct reading {
    struct frame *p;
    bool has_frame, has_scan;
};

static bool read_quant(struct frame *p, struct bytes b)
{
    while (b.n > 0) {
        const uint32_t table = b.p[0] & 15, wide = b.p[0] >> 4 != 0; /* entries of 16 bits */
        const size_t bytes = 1 + (BLOCK * BLOCK << wide);
        if (table >= MOST_TABLES || bytes > b.n)
            return false;
        for (uint32_t k = 0; k < BLOCK * BLOCK; k++)
            p->quant[table][natural_order[k]] = wide ? load_be16(b.p + 1 + 2 * k) : b.p[1 + k];
        p->has_quant |= 1u << table;
        b = (struct bytes){b.p + bytes, b.n - bytes};
    }
    return true;
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

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Samplings that libjpeg upsamples: by whole numbers. */
static bool read_sampling(struct frame *p, const uint8_t *sampling)
{
    p->h = p->v = 1;
    for (uint32_t i = 0; i < p->components; i++) {
        p->across[i] = sampling[i] >> 4;
        p->down[i] = sampling[i] & 15;
        if (p->across[i] < 1 || p->across[i] > 4 || p->down[i] < 1 || p->down[i] > 4)
            return false;
        p->h = larger(p->h, p->across[i]);
        p->v = larger(p->v, p->down[i]);
    }
    for (uint32_t i = 0; i < p->components; i++)
        if (p->h % p->across[i] != 0 || p->v % p->down[i] != 0)
            return false;
    p->grey_rows = 1;
    if (p->components == 1) { /* whatever its factors are, an MCU is a block */
        p->grey_rows = p->v;
        p->h = p->v = p->across[0] = p->down[0] = 1;
    }
    return true;
}

static bool read_frame(struct reading *r, uint8_t marker, struct bytes b)
{
    struct frame *p = r->p;
    uint8_t sampling[MOST_COMPONENTS] = {0};
    if (r->has_frame || b.n < 6 || b.p[0] != 8 || (b.p[5] != 1 && b.p[5] != 3 && b.p[5] != 4) ||
        b.n != 6 + 3u * b.p[5])
        return false;
    r->has_frame = true;
    p->progressive = marker == M_SOF2;
    p->height = load_be16(b.p + 1);
    p->width = load_be16(b.p + 3);
    p->components = b.p[5];
    for (uint32_t i = 0; i < p->components; i++) {
        const uint8_t *c = b.p + 6 + 3 * i;
        p->id[i] = c[0];
        sampling[i] = c[1];
        p->quant_of[i] = c[2];
    }
    return read_sampling(p, sampling);
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

/* By libjpeg's rules; false where it would warn. */
static bool read_colour(struct frame *p)
{
    const bool is_rgb = p->adobe ? p->transform == 0 : memcmp(p->id, "RGB", 3) == 0;
    switch (p->components) {
    case 1:
        p->colour = COLOUR_GREY;
        return true;
    case 3:
        p->colour = is_rgb && !p->jfif ? COLOUR_RGB : COLOUR_YCC;
        return p->jfif || !p->adobe || p->transform <= 1;
    default:
        p->colour = p->adobe && p->transform != 0 ? COLOUR_YCCK : COLOUR_CMYK;
        return !p->adobe || p->transform == 0 || p->transform == 2;
    }
}

/* Two components of one id: libjpeg tells them apart only in a scan of all. */
static bool is_ambiguous(const struct frame *p)
{
    for (uint32_t i = 0; i < p->components; i++)
        for (uint32_t k = 0; k < i; k++)
            if (p->id[k] == p->id[i])
                return true;
    return false;
}

/* Some components, in the frame's order, with their tables. */
static bool read_components(struct frame *p, struct bytes b)
{
    struct frame_scan *s = &p->scan;
    uint32_t blocks = 0;
    if (b.n < 1 || b.p[0] < 1 || b.p[0] > p->components || b.n != 4 + 2u * b.p[0])
        return false;
    s->components = b.p[0];
    for (uint32_t i = 0, c = 0; i < s->components; i++, c++) {
        while (c < p->components && p->id[c] != b.p[1 + 2 * i])
            c++;
        if (c == p->components || p->quant_of[c] >= MOST_TABLES ||
            !(p->has_quant >> p->quant_of[c] & 1))
            return false;
        s->component[i] = (uint8_t)c;
        s->dc_of[i] = b.p[2 + 2 * i] >> 4;
        s->ac_of[i] = b.p[2 + 2 * i] & 15;
        if (s->dc_of[i] >= MOST_TABLES || s->ac_of[i] >= MOST_TABLES)
            return false;
        blocks += (uint32_t)p->across[c] * p->down[c];
    }
    return (s->components == 1 || blocks <= MOST_BLOCKS) &&
           (s->components == p->components || !is_ambiguous(p));
}

/* The numbers at the end of a scan's header, by the rules of libjpeg. */
static bool read_progression(const struct frame *p, struct frame_scan *s, const uint8_t *b)
{
    s->from = b[0];
    s->end = b[1];
    s->high = b[2] >> 4;
    s->low = b[2] & 15;
    if (!p->progressive)
        return s->from == 0 && s->end == BLOCK * BLOCK - 1 && b[2] == 0;
    if (s->from == 0 ? s->end != 0
                     : s->from > s->end || s->end >= BLOCK * BLOCK || s->components != 1)
        return false;
    return s->low <= 13 && (s->high == 0 || s->low + 1 == s->high);
}

/* A scan has the tables that it decodes with. */
static bool has_tables(const struct frame *p, const struct frame_scan *s)
{
    for (uint32_t i = 0; i < s->components; i++)
        if ((s->from == 0 && s->high == 0 && !(p->has_dc >> s->dc_of[i] & 1)) ||
            (s->end > 0 && !(p->has_ac >> s->ac_of[i] & 1)))
            return false;
    return true;
}

/* Of a sequential image, what it does not define before its first scan. */
static void add_standard_codes(struct frame *p)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (!(p->has_dc >> i & 1))
            p->dc[i] = standard_dc[i];
        if (!(p->has_ac >> i & 1))
            p->ac[i] = standard_ac[i];
    }
    p->has_dc |= 3;
    p->has_ac |= 3;
}

static bool read_scan(const struct reading *r, struct bytes b)
{
    struct frame *p = r->p;
    struct frame_scan *s = &p->scan;
    if (!r->has_scan && !p->progressive)
        add_standard_codes(p);
    if (!read_components(p, b) || !read_progression(p, s, b.p + 1 + 2 * s->components) ||
        !has_tables(p, s))
        return false;
    if (r->has_scan)
        return true;
    p->has_scans = p->progressive || s->components < p->components;
    memcpy(p->dc_of, s->dc_of, sizeof(p->dc_of));
    memcpy(p->ac_of, s->ac_of, sizeof(p->ac_of));
    return read_colour(p);
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

/* The code of the marker at *at, which fill bytes may precede; moves past it. 0: there is none. */
static uint8_t next_marker(struct bytes image, size_t *at)
{
    const size_t first = *at;
    while (*at < image.n && image.p[*at] == 0xFF)
        ++*at;
    return *at == first || *at == image.n ? 0 : image.p[(*at)++];
}

/* Segments from `at` on, to a scan or the image's end. */
static bool read_segments(struct reading *r, struct bytes image, size_t at, bool *is_end)
{
    for (;;) {
        const uint8_t marker = next_marker(image, &at);
        if ((*is_end = marker == M_EOI))
            return true;
        if (marker == 0 || image.n - at < 2)
            return false;
        const size_t length = load_be16(image.p + at);
        if (length < 2 || length > image.n - at)
            return false;
        const struct bytes body = {image.p + at + 2, length - 2};
        at += length;
        if (marker == M_SOS) {
            r->p->entropy = at;
            return r->has_frame && read_scan(r, body);
        }
        if (!read_segment(r, marker, body))
            return false;
    }
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
    return read_segments(&r, image, at, is_end);
}
