/*
 * codec/jpeg/jpeg_header.c - what a JPEG's markers say, read without a decoder.
 *
 * ITU-T T.81, annex B. A marker is 0xFF (any number of them) and a code; all but SOI, EOI, TEM
 * and RSTn are followed by a big-endian u16 length that counts itself. Bytes between segments
 * that are no marker are skipped, as libjpeg does. Entropy-coded data follow an SOS; in them 0xFF
 * is followed by 0 or is an RSTn.
 */
#include "codec/jpeg/jpeg_header.h"

#include "base/error.h"
#include "codec/jpeg/exif.h"

#include <string.h>

enum marker {
    M_SOF0 = 0xC0,
    M_SOF1 = 0xC1,
    M_SOF2 = 0xC2,
    M_DHT = 0xC4,
    M_SOF9 = 0xC9,
    M_SOF10 = 0xCA,
    M_DAC = 0xCC,
    M_SOF15 = 0xCF,
    M_RST0 = 0xD0,
    M_RST7 = 0xD7,
    M_SOI = 0xD8,
    M_EOI = 0xD9,
    M_SOS = 0xDA,
    M_DQT = 0xDB,
    M_DRI = 0xDD,
    M_APP0 = 0xE0,
    M_APP1 = 0xE1,
    M_APP14 = 0xEE,
    M_TEM = 0x01,
};

struct walk {
    struct bytes image;
    size_t pos;
    uint32_t max_scans;
    struct jpeg_head *head;
    struct imrec_error *err;
};

static bool has_no_length(uint8_t marker)
{
    return marker == M_TEM || (marker >= M_RST0 && marker <= M_EOI);
}

static bool is_frame(uint8_t marker)
{
    return marker >= M_SOF0 && marker <= M_SOF15 && marker != M_DHT && marker != 0xC8 &&
           marker != M_DAC;
}

bool jpeg_head_progressive(const struct jpeg_head *h)
{
    return h->frame == M_SOF2 || h->frame == M_SOF10;
}

bool jpeg_head_arithmetic(const struct jpeg_head *h)
{
    return h->frame == M_SOF9 || h->frame == M_SOF10;
}

static enum imrec_status corrupt(const struct walk *w, size_t at, const char *what)
{
    return imrec_error_at(w->err, IMREC_ERR_CORRUPT, at, "JPEG: %s at byte %zu of %zu", what, at,
                          w->image.n);
}

/* Moves to the end of the next marker; false at the end of the bytes. */
static bool next_marker(struct walk *w, uint8_t *marker)
{
    const uint8_t *p = w->image.p;
    while (w->pos < w->image.n) {
        const uint8_t *ff = memchr(p + w->pos, 0xFF, w->image.n - w->pos);
        if (ff == NULL)
            break;
        w->pos = (size_t)(ff - p);
        while (w->pos < w->image.n && p[w->pos] == 0xFF)
            w->pos++;
        if (w->pos < w->image.n && p[w->pos++] != 0) {
            *marker = p[w->pos - 1];
            return true;
        }
    }
    w->pos = w->image.n;
    return false;
}

/* The segment after a marker, without its length; moves to its end. */
static enum imrec_status segment(struct walk *w, uint8_t marker, struct bytes *body)
{
    const size_t left = w->image.n - w->pos;
    const size_t length = left < 2 ? 0 : load_be16(w->image.p + w->pos);
    if (left >= 2 && length < 2)
        return corrupt(w, w->pos, "a segment length below 2");
    if (left < 2 || length > left)
        return imrec_error_at(w->err, IMREC_ERR_CORRUPT, w->image.n,
                              "JPEG: the data end at byte %zu, inside the segment of marker 0x%02X "
                              "that begins at byte %zu and claims %zu bytes",
                              w->image.n, marker, w->pos, length);
    *body = (struct bytes){w->image.p + w->pos + 2, length - 2};
    w->pos += length;
    return IMREC_OK;
}

static void read_quant_tables(struct jpeg_head *h, struct bytes b)
{
    while (b.n > 0) {
        const size_t size = 1 + (b.p[0] >> 4 ? 128 : 64), table = b.p[0] & 15;
        if (size > b.n || table > 3)
            return; /* the decoder reports it */
        *(h->scans == 0 ? &h->quant : &h->late_quant) |= (uint8_t)(1u << table);
        b = (struct bytes){b.p + size, b.n - size};
    }
}

static void read_huffman_tables(struct jpeg_head *h, struct bytes b)
{
    while (b.n >= 17) {
        size_t size = 17;
        for (size_t i = 1; i <= 16; i++)
            size += b.p[i];
        const size_t table = b.p[0] & 15, ac = b.p[0] >> 4;
        if (size > b.n || table > 3 || ac > 1)
            return;
        uint8_t *known = h->scans == 0 ? (ac ? &h->ac : &h->dc) : (ac ? &h->late_ac : &h->late_dc);
        *known |= (uint8_t)(1u << table);
        b = (struct bytes){b.p + size, b.n - size};
    }
}

static void read_application(struct jpeg_head *h, uint8_t marker, struct bytes b)
{
    if (marker == M_APP0 && b.n >= 5 && memcmp(b.p, "JFIF", 5) == 0)
        h->jfif = true;
    if (marker == M_APP14 && b.n >= 12 && memcmp(b.p, "Adobe", 5) == 0) {
        h->adobe = true;
        h->adobe_transform = b.p[11];
    }
    if (marker == M_APP1 && h->orientation == 0 && b.n >= 6 && memcmp(b.p, "Exif\0", 6) == 0)
        h->orientation = (uint8_t)exif_orientation((struct bytes){b.p + 6, b.n - 6});
}

static enum imrec_status check_frame(const struct walk *w, size_t at)
{
    const struct jpeg_head *h = w->head;
    const bool readable = h->frame <= M_SOF2 || h->frame == M_SOF9 || h->frame == M_SOF10;
    if (!readable || h->precision != 8)
        return imrec_error_at(w->err, IMREC_ERR_UNSUPPORTED, at,
                              "JPEG: %s coding with %u bits a sample (frame marker 0x%02X) is not "
                              "supported; 8-bit baseline, progressive and arithmetic are",
                              jpeg_head_kind(h), h->precision, h->frame);
    if (h->height == 0)
        return imrec_error_at(w->err, IMREC_ERR_UNSUPPORTED, at,
                              "JPEG: the height is given after the image (DNL), which is not "
                              "supported");
    if (h->width == 0)
        return corrupt(w, at, "a width of 0");
    if (h->width > JPEG_MAX_SIDE || h->height > JPEG_MAX_SIDE)
        return imrec_error_at(w->err, IMREC_ERR_LIMIT, at,
                              "JPEG: %u x %u px; a side is limited to %d px", h->width, h->height,
                              JPEG_MAX_SIDE);
    return IMREC_OK;
}

static enum imrec_status read_frame(struct walk *w, uint8_t marker, struct bytes b)
{
    struct jpeg_head *h = w->head;
    const size_t at = (size_t)(b.p - w->image.p);
    if (h->frame != 0)
        return corrupt(w, at, "a second frame header");
    if (b.n < 6)
        return corrupt(w, at, "a frame header that is too short");
    h->frame = marker;
    h->precision = b.p[0];
    h->height = load_be16(b.p + 1);
    h->width = load_be16(b.p + 3);
    const size_t components = b.p[5];
    if (b.n != 6 + 3 * components)
        return corrupt(w, at, "a frame header whose length does not fit its components");
    IMREC_TRY(check_frame(w, at));
    if (components != 1 && components != 3 && components != 4)
        return imrec_error_at(w->err, IMREC_ERR_UNSUPPORTED, at,
                              "JPEG: %zu components are not supported; 1, 3 and 4 are", components);
    h->components = (uint8_t)components;
    for (size_t i = 0; i < components; i++) {
        const uint8_t *c = b.p + 6 + 3 * i;
        h->id[i] = c[0];
        h->h[i] = c[1] >> 4;
        h->v[i] = c[1] & 15;
        if (h->h[i] < 1 || h->h[i] > 4 || h->v[i] < 1 || h->v[i] > 4)
            return corrupt(w, at + 7 + 3 * i, "a sampling factor outside 1..4");
        h->max_h = h->h[i] > h->max_h ? h->h[i] : h->max_h;
        h->max_v = h->v[i] > h->max_v ? h->v[i] : h->max_v;
    }
    return IMREC_OK;
}

static enum imrec_status read_scan(struct walk *w, struct bytes b)
{
    struct jpeg_head *h = w->head;
    const size_t at = (size_t)(b.p - w->image.p);
    if (h->frame == 0)
        return corrupt(w, at, "a scan before any frame header");
    const size_t components = b.n > 0 ? b.p[0] : 0;
    if (components < 1 || components > JPEG_MAX_COMPONENTS || b.n < 1 + 2 * components)
        return corrupt(w, at, "a scan header that makes no sense");
    for (size_t i = 0; i < components; i++)
        for (size_t k = 0; k < h->components; k++)
            if (h->id[k] == b.p[1 + 2 * i])
                h->scanned |= (uint8_t)(1u << k);
    if (h->scans == 0)
        h->many_scans = jpeg_head_progressive(h) || components < h->components;
    if (++h->scans > w->max_scans)
        return imrec_error_at(w->err, IMREC_ERR_LIMIT, at,
                              "JPEG: more than %u scans (the limit) at byte %zu of %zu",
                              w->max_scans, at, w->image.n);
    return IMREC_OK;
}

/* Moves to the marker that ends entropy-coded data. */
static void skip_entropy_coded(struct walk *w)
{
    const uint8_t *p = w->image.p, *ff;
    while (w->pos < w->image.n && (ff = memchr(p + w->pos, 0xFF, w->image.n - w->pos)) != NULL) {
        w->pos = (size_t)(ff - p) + 1;
        if (w->pos == w->image.n)
            return;
        const uint8_t code = p[w->pos];
        if (code != 0 && code != 0xFF && !(code >= M_RST0 && code <= M_RST7)) {
            w->pos--;
            return;
        }
    }
    w->pos = w->image.n;
}

static enum imrec_status one_segment(struct walk *w, uint8_t marker)
{
    struct bytes body = {0};
    const enum imrec_status st = segment(w, marker, &body);
    if (st != IMREC_OK && w->head->scans > 0) { /* an image came before: the decoder judges it */
        w->head->usable = w->pos - 2;
        w->pos = w->image.n;
        return IMREC_OK;
    }
    IMREC_TRY(st);
    if (is_frame(marker))
        return read_frame(w, marker, body);
    if (marker == M_DQT)
        read_quant_tables(w->head, body);
    else if (marker == M_DHT)
        read_huffman_tables(w->head, body);
    else if (marker == M_DRI && w->head->scans == 0)
        w->head->restarts = body.n == 2 && load_be16(body.p) != 0;
    else if (marker >= M_APP0 && marker <= M_APP14)
        read_application(w->head, marker, body);
    else if (marker == M_SOS) {
        IMREC_TRY(read_scan(w, body));
        if (w->head->many_scans)
            skip_entropy_coded(w);
        else
            w->pos = w->image.n; /* all that matters has been seen */
    }
    return IMREC_OK;
}

enum imrec_status jpeg_head_read(struct bytes image, uint32_t max_scans, struct jpeg_head *out,
                                 struct imrec_error *err)
{
    struct walk w = {image, 0, max_scans, out, err};
    uint8_t marker;
    *out = (struct jpeg_head){.usable = image.n};
    if (image.n < 2 || image.p[0] != 0xFF || image.p[1] != M_SOI)
        return corrupt(&w, 0, "no start-of-image marker");
    w.pos = 2;
    while (next_marker(&w, &marker) && marker != M_EOI) {
        if (marker == M_SOI)
            return corrupt(&w, w.pos - 2, "a second start-of-image marker");
        if (!has_no_length(marker))
            IMREC_TRY(one_segment(&w, marker));
    }
    if (out->scans == 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, w.pos,
                              "JPEG: no image before byte %zu of %zu, where %s", w.pos, image.n,
                              w.pos == image.n ? "the data end" : "its end is marked");
    if (out->orientation == 0)
        out->orientation = 1;
    return IMREC_OK;
}

const char *jpeg_head_kind(const struct jpeg_head *h)
{
    switch (h->frame) {
    case M_SOF0:
        return "baseline";
    case M_SOF1:
        return "extended";
    case M_SOF2:
        return "progressive";
    case M_SOF9:
        return "arithmetic";
    case M_SOF10:
        return "progressive arithmetic";
    case 0xC3:
    case 0xCB:
        return "lossless";
    default:
        return "hierarchical";
    }
}

const char *jpeg_head_sampling(const struct jpeg_head *h)
{
    static const struct {
        uint8_t h, v;
        const char *name;
    } names[] = {{1, 1, "4:4:4"}, {2, 1, "4:2:2"}, {2, 2, "4:2:0"},
                 {1, 2, "4:4:0"}, {4, 1, "4:1:1"}, {4, 2, "4:1:0"}};
    if (h->components == 1)
        return "grey";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const bool luma = h->h[0] == names[i].h * h->h[1] && h->v[0] == names[i].v * h->v[1];
        const bool same = h->h[2] == h->h[1] && h->v[2] == h->v[1];
        const bool black = h->components < 4 || (h->h[3] == h->h[0] && h->v[3] == h->v[0]);
        if (luma && same && black)
            return names[i].name;
    }
    return "other";
}
