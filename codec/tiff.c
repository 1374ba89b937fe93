/*
 * codec/tiff.c - the first page of a TIFF, by libtiff, out of memory.
 *
 * Strips of grey or RGB in 8 or 16 bits with interleaved samples are read row by row, so that
 * 16 bits become 8 by v >> 8 and alpha stays unmultiplied. Everything else (palettes, 1 to 4
 * bits, tiles, planes, YCbCr, CMYK, ...) goes through libtiff's own RGBA reader.
 */
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"

#include <string.h>

static bool is_tiff(struct bytes b)
{
    return b.n >= 4 && (memcmp(b.p, "II*", 4) == 0 || memcmp(b.p, "MM\0*", 4) == 0 ||
                        memcmp(b.p, "II+", 4) == 0 || memcmp(b.p, "MM\0+", 4) == 0);
}

#if IMREC_HAVE_TIFF
#include <stdarg.h>
#include <stdio.h>

#include <tiffio.h>

/* Of places of strips that the file does not hold: of 131,072. */
#define TABLE_BYTES ((uint64_t)1 << 20)

/* libtiff's view of the bytes, its last message, and the maximum it may allocate at once. */
struct reader {
    struct bytes image;
    const struct stop *stop; /* asked: the data end */
    uint64_t pos;
    uint64_t most;
    char said[160];
};

static tmsize_t read_bytes(thandle_t h, void *out, tmsize_t n)
{
    struct reader *r = h;
    const uint64_t left = r->pos < r->image.n && !stop_asked(r->stop) ? r->image.n - r->pos : 0;
    const uint64_t take = n < 0 ? 0 : (uint64_t)n < left ? (uint64_t)n : left;
    if (take > 0)
        memcpy(out, r->image.p + r->pos, take);
    r->pos += take;
    return (tmsize_t)take;
}

static tmsize_t write_bytes(thandle_t h, void *p, tmsize_t n)
{
    (void)h, (void)p, (void)n;
    return -1;
}

static toff_t seek_to(thandle_t h, toff_t to, int whence)
{
    struct reader *r = h;
    const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? r->pos : r->image.n;
    r->pos = base + to; /* anywhere; reading there gives nothing */
    return r->pos;
}

static int close_nothing(thandle_t h)
{
    (void)h;
    return 0;
}

static toff_t size_of(thandle_t h)
{
    return ((struct reader *)h)->image.n;
}

static int map_bytes(thandle_t h, void **p, toff_t *n)
{
    (void)h, (void)p, (void)n;
    return 0; /* libtiff is not to have a pointer that it may write through */
}

static void unmap_bytes(thandle_t h, void *p, toff_t n)
{
    (void)h, (void)p, (void)n;
}

#if TIFFLIB_VERSION >= 20221213 /* 4.5: messages and limits of one's own */
static int note_error(TIFF *tiff, void *user, const char *module, const char *fmt, va_list ap)
{
    struct reader *r = user;
    (void)tiff, (void)module;
    (void)vsnprintf(r->said, sizeof(r->said), fmt, ap);
    return 1;
}

static int ignore_warning(TIFF *tiff, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tiff, (void)user, (void)module, (void)fmt, (void)ap;
    return 1;
}

static TIFF *open_tiff(struct reader *r)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();
    if (o == NULL)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)r->most);
    TIFFOpenOptionsSetErrorHandlerExtR(o, note_error, r);
    TIFFOpenOptionsSetWarningHandlerExtR(o, ignore_warning, NULL);
    TIFF *t = TIFFClientOpenExt("image", "rm", r, read_bytes, write_bytes, seek_to, close_nothing,
                                size_of, map_bytes, unmap_bytes, o);
    TIFFOpenOptionsFree(o);
    return t;
}
#else
static TIFF *open_tiff(struct reader *r)
{
    (void)TIFFSetErrorHandler(NULL); /* of the whole process: all that older libtiff offers */
    (void)TIFFSetWarningHandler(NULL);
    return TIFFClientOpen("image", "rm", r, read_bytes, write_bytes, seek_to, close_nothing,
                          size_of, map_bytes, unmap_bytes);
}
#endif

static enum imrec_status
tiff_error(const struct reader *r, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT, "tiff: %s%s%s in %zu bytes", what,
                      r->said[0] != '\0' ? ": " : "", r->said, r->image.n);
}

static uint32_t field16(TIFF *t, uint32_t tag)
{
    uint16_t v = 0;
    return TIFFGetFieldDefaulted(t, tag, &v) ? v : 0;
}

/* EXTRASAMPLE_* of the last sample, if it is beyond the colours. */
static uint32_t alpha_kind(TIFF *t)
{
    uint16_t n = 0, *kinds = NULL;
    return TIFFGetFieldDefaulted(t, TIFFTAG_EXTRASAMPLES, &n, &kinds) && n > 0 ? kinds[0] : 0;
}

static bool has_alpha(TIFF *t)
{
    const uint32_t kind = alpha_kind(t);
    return kind == EXTRASAMPLE_ASSOCALPHA || kind == EXTRASAMPLE_UNASSALPHA;
}

static void read_fields(struct codec *c, TIFF *t)
{
    uint32_t width = 0, height = 0;
    (void)TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &width);
    (void)TIFFGetField(t, TIFFTAG_IMAGELENGTH, &height);
    const uint32_t photometric = field16(t, TIFFTAG_PHOTOMETRIC);
    const uint32_t orientation = field16(t, TIFFTAG_ORIENTATION);
    const bool grey =
        photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
    c->info.width = width;
    c->info.height = height;
    c->info.bits = field16(t, TIFFTAG_BITSPERSAMPLE);
    c->info.channels = (grey ? 1 : 3) + (has_alpha(t) ? 1 : 0);
    c->info.cmyk = photometric == PHOTOMETRIC_SEPARATED;
    c->info.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
}

/* Can rows be read as they are? */
static bool is_plain(TIFF *t)
{
    const uint32_t bits = field16(t, TIFFTAG_BITSPERSAMPLE);
    const uint32_t samples = field16(t, TIFFTAG_SAMPLESPERPIXEL);
    const uint32_t photometric = field16(t, TIFFTAG_PHOTOMETRIC);
    const uint32_t colours = photometric == PHOTOMETRIC_RGB ? 3 : 1;
    const uint32_t kind = field16(t, TIFFTAG_SAMPLEFORMAT);
    if (photometric > PHOTOMETRIC_RGB || alpha_kind(t) == EXTRASAMPLE_ASSOCALPHA)
        return false;
    return !TIFFIsTiled(t) && (bits == 8 || bits == 16) &&
           (samples == colours || samples == colours + 1) &&
           (kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID || kind == 0) &&
           (samples == 1 || field16(t, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG);
}

/* Is unpacked row by row? */
static bool is_stream(TIFF *t)
{
    const uint32_t how = field16(t, TIFFTAG_COMPRESSION);
    return how == COMPRESSION_NONE || how == COMPRESSION_LZW || how == COMPRESSION_PACKBITS ||
           how == COMPRESSION_DEFLATE || how == COMPRESSION_ADOBE_DEFLATE;
}

/* Bytes that decoding holds besides the tags: the file's bytes of a strip or tile, its decoded
 * bytes in any of the decoders (with planes, of each), and all pixels where rows are not read one
 * by one.
 */
static uint64_t pixels_claim(const struct codec *c, TIFF *t)
{
    const uint64_t most = (uint64_t)1 << 50;
    const uint64_t unit = TIFFIsTiled(t) ? TIFFTileSize64(t) : TIFFStripSize64(t);
    const bool planes = field16(t, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    const uint64_t row = (uint64_t)c->info.width * 16;
    const uint64_t rows = is_plain(t) ? row : row + 4 * (uint64_t)c->info.width * c->info.height;
    if (is_plain(t) && is_stream(t))
        return c->image.n + rows;
    if (unit == 0 || unit > most) /* libtiff will refuse it, or nobody has such memory */
        return unit == 0 ? c->image.n + rows : most;
    return c->image.n + rows + (planes ? 8 : 4) * unit;
}

/* A tag's bytes for each of its values; 0: no such type. */
static uint64_t type_bytes(uint32_t type)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof(bytes) ? bytes[type] : 0;
}

static uint64_t load(const uint8_t *p, size_t n, bool big_endian)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[big_endian ? i : n - 1 - i];
    return v;
}

/* Bytes that the tags of the first page claim:
 *     "II*\0" | u32 offset | at it: u16 tags | each: u16 tag, type, u32 values, value or offset
 *     "II+\0" | u16 8, 0 | u64 offset | at it: u64 tags | each: u16 tag, type, u64 values, ... */
static uint64_t tag_bytes(struct bytes b)
{
    const bool swapped = b.p[0] == 'M', wide = b.p[2] == '+' || b.p[3] == '+';
    const size_t count = wide ? 8 : 2, word = wide ? 8 : 4, entry = 4 + 2 * word;
    uint64_t sum = 0;
    if (b.n < (wide ? 16 : 8))
        return 0;
    const uint64_t at = load(b.p + (wide ? 8 : 4), word, swapped);
    if (at > b.n || b.n - at < count)
        return 0;
    const uint64_t tags = load(b.p + at, count, swapped), room = (b.n - at - count) / entry;
    const uint8_t *p = b.p + at + count;
    for (uint64_t i = 0; i < (tags < room ? tags : room); i++, p += entry) {
        const uint64_t values = load(p + 4, word, swapped);
        const uint64_t each = type_bytes((uint32_t)load(p + 2, 2, swapped));
        sum += values < b.n ? values * each : values != 0 && each != 0 ? b.n : 0;
    }
    return sum;
}

/* Several tags have the same bytes. */
static bool is_overclaimed(struct bytes b)
{
    return tag_bytes(b) > (uint64_t)b.n + (1 << 16);
}

/* In libtiff's memory, where places of strips are words of 8 bytes, and values are copied. */
static uint64_t tags_claim(struct bytes b)
{
    return 5 * tag_bytes(b) + 2 * TABLE_BYTES;
}

uint64_t tiff_begin_claim(struct bytes b)
{
    return is_tiff(b) && !is_overclaimed(b) ? tags_claim(b) : 0;
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    struct reader r = {.image = c->image, .most = 5 * (uint64_t)c->image.n + TABLE_BYTES};
    if (is_overclaimed(c->image))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                              "tiff: the tags of its first page claim %llu bytes, of %zu",
                              (unsigned long long)tag_bytes(c->image), c->image.n);
    TIFF *t = open_tiff(&r);
    if (t == NULL)
        return tiff_error(&r, "no first page", err);
    read_fields(c, t);
    c->held = tags_claim(c->image) + pixels_claim(c, t);
    TIFFClose(t);
    return IMREC_OK;
}

static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    (void)denominator;
    return c->held;
}

/* How a plain row's samples lie. */
struct samples {
    uint32_t bits, count, colours;
    bool alpha, inverted;
};

/* A plain row to RGBA in 8 bits. */
static void widen(const struct samples *s, const uint8_t *from, size_t n, uint8_t *to)
{
    const size_t bytes = s->bits / 8;
    for (size_t x = 0; x < n; x++, to += 4, from += s->count * bytes) {
        uint8_t v[4];
        for (size_t i = 0; i < s->count; i++) {
            uint16_t wide;
            memcpy(&wide, from + i * bytes, bytes == 2 ? 2 : 1);
            v[i] = bytes == 2 ? (uint8_t)(wide >> 8) : from[i];
        }
        for (size_t i = 0; i < 3; i++)
            to[i] = (uint8_t)((s->inverted ? 255 : 0) ^ v[s->colours == 3 ? i : 0]);
        to[3] = s->alpha ? v[s->colours] : 255;
    }
}

static enum imrec_status plain_rows(struct codec *c, struct reader *in, TIFF *t, struct rows *r,
                                    const struct conversion *how, struct imrec_error *err)
{
    const uint32_t photometric = field16(t, TIFFTAG_PHOTOMETRIC);
    const struct samples s = {field16(t, TIFFTAG_BITSPERSAMPLE),
                              field16(t, TIFFTAG_SAMPLESPERPIXEL),
                              photometric == PHOTOMETRIC_RGB ? 3 : 1, has_alpha(t),
                              photometric == PHOTOMETRIC_MINISWHITE};
    const size_t stored = (size_t)c->info.width * s.count * s.bits / 8;
    const size_t line = (size_t)c->info.width * 4;
    if (TIFFScanlineSize(t) < 0 || (size_t)TIFFScanlineSize(t) > stored)
        return tiff_error(in, "rows of an unexpected size", err);
    IMREC_TRY(codec_reserve(&c->scratch, stored + line, err));
    uint8_t *rgba = c->scratch.p + stored;
    for (uint32_t y = 0; y < r->region.y + r->region.height; y++) {
        IMREC_TRY(stop_check(c->stop, err));
        if (TIFFReadScanline(t, c->scratch.p, y, 0) < 0) {
            if (!c->limits.accept_truncated)
                return tiff_error(in, "broken data", err);
            r->warnings++;
            memset(c->scratch.p, 128, stored);
        }
        widen(&s, c->scratch.p, c->info.width, rgba);
        rows_give(r, how, rgba, y);
    }
    return IMREC_OK;
}

/* libtiff multiplies by alpha: undone, so that dropping it leaves the colours. */
static void unmultiply(const struct imrec_image *v)
{
    uint8_t *p = v->pixels;
    for (size_t i = 0; i < v->stride * v->height; i += 4)
        if (p[i + 3] != 0 && p[i + 3] != 255)
            for (size_t k = 0; k < 3; k++) {
                const uint32_t colour = (p[i + k] * 255u + p[i + 3] / 2) / p[i + 3];
                p[i + k] = (uint8_t)(colour > 255 ? 255 : colour);
            }
}

/* libtiff's pixels are words, A in the top byte: in memory R, G, B, A on every machine. */
static void to_bytes(const struct imrec_image *v)
{
    for (size_t i = 0; i < v->stride * v->height; i += 4) {
        uint32_t word;
        memcpy(&word, v->pixels + i, 4);
        store_le32(v->pixels + i, word);
    }
}

static enum imrec_status any_rows(struct codec *c, struct reader *in, TIFF *t, struct rows *r,
                                  const struct conversion *how, struct imrec_error *err)
{
    IMREC_TRY(codec_reserve_whole(c, 4, err));
    const struct imrec_image *v = &c->whole.view;
    memset(v->pixels, 128, v->stride * v->height);
    const int stop = !c->limits.accept_truncated;
    const int read = TIFFReadRGBAImageOriented(
        t, v->width, v->height, (uint32_t *)(void *)v->pixels, (int)c->info.orientation, stop);
    IMREC_TRY(stop_check(c->stop, err));
    if (!read)
        return tiff_error(in, "broken data", err);
    if (in->said[0] != '\0')
        r->warnings++;
    to_bytes(v);
    unmultiply(v);
    rows_give_all(r, how, v);
    return IMREC_OK;
}

/* No more than was claimed, nor than any image within the limits needs. */
static uint64_t most_at_once(const struct codec *c)
{
    const uint64_t px =
        c->limits.max_pixels < 0 ? (uint64_t)1 << 28 : (uint64_t)c->limits.max_pixels;
    const uint64_t most = px < ((uint64_t)1 << 40) ? px * 8 + (64 << 20) : (uint64_t)1 << 43;
    return c->held < most ? c->held : most;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    const struct conversion how = {PIXELS_RGBA, GREY_ROUNDED, r->channels, c->limits.alpha};
    struct reader in = {.image = c->image, .stop = c->stop, .most = most_at_once(c)};
    TIFF *t = open_tiff(&in);
    if (t == NULL)
        return tiff_error(&in, "no first page", err);
    const enum imrec_status st =
        is_plain(t) ? plain_rows(c, &in, t, r, &how, err) : any_rows(c, &in, t, r, &how, err);
    TIFFClose(t);
    return st;
}

const struct format codec_tiff = {"tiff", "libtiff", is_tiff, read_head, decode, claim};
#else
const struct format codec_tiff = {"tiff", "libtiff", is_tiff, NULL, NULL, NULL};

uint64_t tiff_begin_claim(struct bytes b)
{
    return 0 * b.n;
}
#endif
