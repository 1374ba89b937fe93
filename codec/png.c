/*
 * codec/png.c - PNG by libspng.
 *
 * Palettes, grey of 1 to 16 bits, tRNS and alpha all arrive as RGB or RGBA in 8 bits; only grey
 * out of 16-bit colour needs all 16. Rows stream, but an interlaced image is decoded whole.
 * Size and orientation come out of our own walk over the chunks before the first IDAT:
 *     8 bytes of signature | chunks: u32 length, 4 letters, length bytes, u32 CRC, big-endian
 */
#include "codec/png.h"
#include "base/alloc.h"
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"
#include "codec/jpeg/exif.h"

#include <string.h>

bool png_matches(struct bytes b)
{
    return b.n >= 8 && memcmp(b.p, "\x89PNG\r\n\x1A\n", 8) == 0;
}

#if IMREC_HAVE_SPNG
enum { HEAD_BYTES = 33, MAX_CHUNK_BYTES = 64 << 20 }; /* a chunk that libspng keeps, all of them */

/* What libspng keeps of a chunk: its bytes, and of those that are compressed what they may become.
 */
static uint64_t kept_bytes(const uint8_t *name, uint64_t length)
{
    enum { MOST_RATIO = 1032 }; /* of zlib */
    const bool packed = memcmp(name, "iCCP", 4) == 0 || memcmp(name, "zTXt", 4) == 0 ||
                        memcmp(name, "iTXt", 4) == 0;
    const bool palette = memcmp(name, "sPLT", 4) == 0; /* to entries of a struct's size */
    return packed ? 2 * length * MOST_RATIO : palette ? length * 4 : length;
}

/* tRNS and eXIf, which count only before the pixels, and the memory that all chunks take. */
static void read_chunks(struct codec *c)
{
    const struct bytes b = c->image;
    for (size_t at = HEAD_BYTES; b.n - at >= 12;) {
        const size_t length = load_be32(b.p + at);
        const uint8_t *name = b.p + at + 4;
        if (length > b.n - at - 12 || memcmp(name, "IDAT", 4) == 0)
            return;
        if (memcmp(name, "tRNS", 4) == 0 && c->info.channels != 2)
            c->info.channels = c->info.channels == 1 ? 2 : 4;
        if (memcmp(name, "eXIf", 4) == 0)
            c->info.orientation = exif_orientation((struct bytes){b.p + at + 8, length});
        c->held += kept_bytes(name, length);
        at += 12 + length;
    }
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    static const uint8_t channels_of[7] = {1, 0, 3, 3, 2, 0, 4};
    const struct bytes b = c->image;
    if (b.n < HEAD_BYTES || memcmp(b.p + 12, "IHDR", 4) != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, b.n < HEAD_BYTES ? b.n : 12,
                              "png: no whole IHDR chunk in its first %d of %zu bytes", HEAD_BYTES,
                              b.n);
    const uint32_t type = b.p[25];
    c->info.width = load_be32(b.p + 16);
    c->info.height = load_be32(b.p + 20);
    c->info.bits = b.p[24];
    c->info.channels = type < 7 ? channels_of[type] : 0;
    if (c->info.channels == 0 || c->info.bits == 0 || c->info.bits > 16)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 24,
                              "png: colour type %u with %u bits does not exist", type,
                              c->info.bits);
    if (c->info.width > INT32_MAX || c->info.height > INT32_MAX)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 16, "png: %u x %u px; a side is below 2^31",
                              c->info.width, c->info.height);
    read_chunks(c);
    return IMREC_OK;
}

static void *alloc_bytes(size_t n)
{
    return imrec_realloc(NULL, n, 1);
}

static void *realloc_bytes(void *p, size_t n)
{
    return imrec_realloc(p, n, 1);
}

struct spng_alloc png_allocator = {alloc_bytes, realloc_bytes, imrec_zalloc, imrec_free};

static bool is_end_of_data(int e)
{
    return e == SPNG_IO_EOF || e == SPNG_EOF;
}

enum imrec_status png_error(int e, struct imrec_error *err)
{
    const bool memory = e == SPNG_EMEM || e == SPNG_EZLIB_INIT; /* which fails for nothing else */
    const enum imrec_status st = memory                    ? IMREC_ERR_NO_MEMORY
                                 : e == SPNG_ECHUNK_LIMITS ? IMREC_ERR_LIMIT
                                                           : IMREC_ERR_CORRUPT;
    return imrec_fail(err, st, "png: %s", spng_strerror(e));
}

static struct conversion conversion_of(const struct codec *c, const struct rows *r)
{
    const bool alpha = r->channels == 4 || c->limits.alpha == CODEC_ALPHA_WHITE;
    const bool deep = c->info.bits == 16 && r->channels == 1;
    return (struct conversion){deep    ? PIXELS_RGBA16
                               : alpha ? PIXELS_RGBA
                                       : PIXELS_RGB,
                               GREY_PNG, r->channels, c->limits.alpha};
}

static int format_of(const struct conversion *how)
{
    return how->from == PIXELS_RGBA16 ? SPNG_FMT_RGBA16
           : how->from == PIXELS_RGBA ? SPNG_FMT_RGBA8
                                      : SPNG_FMT_RGB8;
}

/* Rows from `from` on that the data did not reach. */
static enum imrec_status grey_rest(struct codec *c, struct rows *r, const struct conversion *how,
                                   uint32_t from, struct imrec_error *err)
{
    IMREC_TRY(codec_truncated(c, r, from, err));
    const size_t bytes = c->info.width * pixels_bytes(how->from);
    memset(c->scratch.p, 128, bytes);
    if (how->from == PIXELS_RGBA)
        for (size_t i = 3; i < bytes; i += 4)
            c->scratch.p[i] = 255;
    for (uint32_t y = from; y < c->info.height; y++)
        rows_give(r, how, c->scratch.p, y);
    return IMREC_OK;
}

static enum imrec_status stream_rows(struct codec *c, struct rows *r, spng_ctx *ctx,
                                     const struct conversion *how, struct imrec_error *err)
{
    const size_t bytes = c->info.width * pixels_bytes(how->from);
    const uint32_t end = r->region.y + r->region.height;
    IMREC_TRY(codec_reserve(&c->scratch, bytes, err));
    int e =
        spng_decode_image(ctx, NULL, 0, format_of(how), SPNG_DECODE_PROGRESSIVE | SPNG_DECODE_TRNS);
    if (is_end_of_data(e))
        return grey_rest(c, r, how, 0, err);
    for (uint32_t y = 0; e == 0 && y < end; y++) {
        IMREC_TRY(stop_check(c->stop, err));
        e = spng_decode_row(ctx, c->scratch.p, bytes);
        if (is_end_of_data(e))
            return grey_rest(c, r, how, y, err);
        if (e == 0 || e == SPNG_EOI)
            rows_give(r, how, c->scratch.p, y);
    }
    return e == 0 || e == SPNG_EOI ? IMREC_OK : png_error(e, err);
}

static enum imrec_status whole_image(struct codec *c, struct rows *r, spng_ctx *ctx,
                                     const struct conversion *how, struct imrec_error *err)
{
    IMREC_TRY(codec_reserve_whole(c, (uint32_t)pixels_bytes(how->from), err));
    const struct imrec_image *v = &c->whole.view;
    memset(v->pixels, 128, v->stride * v->height);
    struct spng_row_info row;
    int e =
        spng_decode_image(ctx, NULL, 0, format_of(how), SPNG_DECODE_PROGRESSIVE | SPNG_DECODE_TRNS);
    while (e == 0 && (e = spng_get_row_info(ctx, &row)) == 0 && !stop_asked(c->stop))
        e = spng_decode_row(ctx, v->pixels + row.row_num * v->stride, v->stride);
    IMREC_TRY(stop_check(c->stop, err));
    e = e == SPNG_EOI ? 0 : e;
    if (is_end_of_data(e))
        IMREC_TRY(codec_truncated(c, r, 0, err));
    else if (e != 0)
        return png_error(e, err);
    rows_give_all(r, how, v);
    return IMREC_OK;
}

enum imrec_status png_decoder(struct bytes png, uint32_t width, uint32_t height, spng_ctx **out,
                              struct imrec_error *err)
{
    spng_ctx *ctx = *out = spng_ctx_new2(&png_allocator, 0);
    if (ctx == NULL)
        return png_error(SPNG_EMEM, err);
    int e = spng_set_image_limits(ctx, width, height);
    if (e == 0)
        e = spng_set_chunk_limits(ctx, MAX_CHUNK_BYTES, MAX_CHUNK_BYTES);
    if (e == 0)
        e = spng_set_png_buffer(ctx, png.p, png.n);
    if (e == 0)
        return IMREC_OK;
    spng_ctx_free(ctx);
    return png_error(e, err);
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    const struct conversion how = conversion_of(c, r);
    const bool interlaced = c->image.p[28] != 0;
    spng_ctx *ctx;
    IMREC_TRY(png_decoder(c->image, c->info.width, c->info.height, &ctx, err));
    const enum imrec_status st =
        interlaced ? whole_image(c, r, ctx, &how, err) : stream_rows(c, r, ctx, &how, err);
    spng_ctx_free(ctx);
    return st;
}

/* Two rows as they are stored, one as it is asked for, zlib's window; interlaced, all of it. */
static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    enum { DEEP = 8, TABLES = 256 << 10 };
    const uint64_t row = (uint64_t)c->info.width * DEEP;
    const uint64_t kept = c->held < 2 * MAX_CHUNK_BYTES ? c->held : 2 * MAX_CHUNK_BYTES;
    const bool interlaced = c->image.p[28] != 0;
    (void)denominator;
    return TABLES + kept + 4 * row + (interlaced ? row * c->info.height : 0);
}

const struct format codec_png = {"png", "libspng", png_matches, read_head, decode, claim};

static int encode(spng_ctx *ctx, const struct imrec_image *image, int level,
                  const struct stop *stop, uint8_t *dense)
{
    static const uint8_t types[5] = {[1] = SPNG_COLOR_TYPE_GRAYSCALE,
                                     [3] = SPNG_COLOR_TYPE_TRUECOLOR,
                                     [4] = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
    const size_t row = (size_t)image->width * image->channels;
    struct spng_ihdr head = {image->width, image->height, 8, types[image->channels], 0, 0, 0};
    int e = spng_set_ihdr(ctx, &head);
    if (e == 0)
        e = spng_set_option(ctx, SPNG_IMG_COMPRESSION_LEVEL, level);
    if (e == 0)
        e = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    if (e == 0)
        e = spng_encode_image(ctx, NULL, 0, SPNG_FMT_PNG,
                              SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    for (uint32_t y = 0; e == 0 && y < image->height && !stop_asked(stop); y++) {
        memcpy(dense, image->pixels + y * image->stride, row);
        e = spng_encode_row(ctx, dense, row);
    }
    return e == SPNG_EOI ? 0 : e;
}

/* Rows that do not shrink, with what their filters and blocks add, in a buffer that doubles. */
uint64_t codec_encode_png_claim(uint32_t width, uint32_t height, uint32_t channels)
{
    enum { TABLES = 1 << 20, ROWS = 8 };
    const uint64_t row = (uint64_t)width * channels + 1;
    return TABLES + ROWS * row + row * height + row * height / 8;
}

void png_encoded_free(struct codec *c)
{
    imrec_free(c->png);
    c->png = NULL;
}

enum imrec_status png_deliver(struct codec *c, struct spng_ctx *ctx, int e, struct bytes *out,
                              struct imrec_error *err)
{
    size_t n = 0;
    if (e == 0 && !stop_asked(c->stop))
        c->png = spng_get_png_buffer(ctx, &n, &e);
    spng_ctx_free(ctx);
    IMREC_TRY(stop_check(c->stop, err));
    *out = (struct bytes){c->png, n};
    return e == 0 && c->png != NULL ? IMREC_OK : png_error(e != 0 ? e : SPNG_EMEM, err);
}

enum imrec_status codec_encode_png(struct codec *c, const struct imrec_image *image, int level,
                                   struct bytes *out, struct imrec_error *err)
{
    if (level < 1 || level > 9 || image->channels == 0 || image->channels == 2 ||
        image->channels > 4)
        return IMREC_REFUSE(err,
                            "png: level %d with %u channels; levels are 1..9, channels 1, 3, 4",
                            level, image->channels);
    IMREC_TRY(codec_reserve(&c->scratch, (size_t)image->width * image->channels, err));
    png_encoded_free(c);
    spng_ctx *ctx = spng_ctx_new2(&png_allocator, SPNG_CTX_ENCODER);
    if (ctx == NULL)
        return png_error(SPNG_EMEM, err);
    const int e = encode(ctx, image, level, c->stop, c->scratch.p);
    return png_deliver(c, ctx, e, out, err);
}
#else
const struct format codec_png = {"png", "libspng", png_matches, NULL, NULL, NULL};

uint64_t codec_encode_png_claim(uint32_t width, uint32_t height, uint32_t channels)
{
    return 0 * (uint64_t)width * height * channels;
}

void png_encoded_free(struct codec *c)
{
    (void)c;
}

enum imrec_status codec_encode_png(struct codec *c, const struct imrec_image *image, int level,
                                   struct bytes *out, struct imrec_error *err)
{
    (void)c, (void)image, (void)level, (void)out;
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "this build writes no PNG, it was made without libspng");
}
#endif
