/*
 * codec/mask_png.c - masks as PNG, by libspng: values as they are stored, never as colours.
 *
 * IHDR after signature, length and name: u32 width, u32 height, u8 bits, u8 colour type, u8
 * compression, u8 filter, u8 interlace.
 */
#include "codec/mask_png.h"

#include "base/error.h"
#include "codec/format.h"
#include "codec/png.h"

#include <string.h>

enum { HEAD_BYTES = 33, BITS_AT = 24, TYPE_AT = 25, INTERLACE_AT = 28, GREY = 0, PALETTE = 3 };

static bool bits_exist(uint32_t type, uint32_t bits)
{
    return bits == 1 || bits == 2 || bits == 4 || bits == 8 || (bits == 16 && type == GREY);
}

enum imrec_status codec_mask_info(struct bytes png, struct mask *out, struct imrec_error *err)
{
    if (!png_matches(png))
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "the mask is not a PNG: a mask is a PNG, grey or with a palette");
    if (png.n < HEAD_BYTES || memcmp(png.p + 12, "IHDR", 4) != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "mask: no whole IHDR chunk in its first %d of %zu bytes", HEAD_BYTES,
                          png.n);
    const uint32_t type = png.p[TYPE_AT], bits = png.p[BITS_AT];
    if (type != GREY && type != PALETTE)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "the mask is a PNG of %s: its colours have no class; grey "
                          "or a palette is right",
                          type == 2 ? "colours" : "colours or with alpha");
    out->width = load_be32(png.p + 16);
    out->height = load_be32(png.p + 20);
    out->bits = bits == 16 ? 16 : 8;
    if (bits_exist(type, bits) && out->width - 1 < INT32_MAX && out->height - 1 < INT32_MAX)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "mask: a PNG of %u x %u px with %u bits does not exist", out->width,
                      out->height, bits);
}

#if IMREC_HAVE_SPNG
/* A row of packed bits, bytes or 16-bit values as libspng hands it out. */
static void unpack_row(const uint8_t *row, uint32_t bits, uint32_t width, uint16_t *out)
{
    if (bits == 16) {
        memcpy(out, row, (size_t)width * 2);
        return;
    }
    for (uint32_t x = 0; bits == 8 && x < width; x++)
        out[x] = row[x];
    for (uint32_t x = 0; bits < 8 && x < width; x++) {
        const size_t at = (size_t)x * bits;
        out[x] = (uint16_t)(row[at / 8] >> (8 - bits - at % 8) & ((1u << bits) - 1));
    }
}

static size_t row_bytes(uint32_t width, uint32_t bits)
{
    return ((size_t)width * bits + 7) / 8;
}

static int
read_rows(const struct codec *c, spng_ctx *ctx, size_t bytes, uint32_t bits, struct mask *out)
{
    uint8_t *row = c->scratch.p;
    int e = spng_decode_image(ctx, NULL, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE);
    for (uint32_t y = 0; e == 0 && y < out->height && !stop_asked(c->stop); y++) {
        e = spng_decode_row(ctx, row, bytes);
        if (e == 0 || e == SPNG_EOI)
            unpack_row(row, bits, out->width, out->values + (size_t)y * out->width);
        if (e == SPNG_EOI && y + 1 < out->height)
            return SPNG_EOF;
    }
    return e == SPNG_EOI ? 0 : e;
}

static int
read_interlaced(spng_ctx *ctx, uint8_t *all, size_t bytes, uint32_t bits, struct mask *out)
{
    const int e = spng_decode_image(ctx, all, bytes * out->height, SPNG_FMT_PNG, 0);
    for (uint32_t y = 0; e == 0 && y < out->height; y++)
        unpack_row(all + y * bytes, bits, out->width, out->values + (size_t)y * out->width);
    return e;
}

static enum imrec_status
decode(struct codec *c, struct bytes png, struct mask *out, struct imrec_error *err)
{
    const uint32_t bits = png.p[BITS_AT];
    const bool interlaced = png.p[INTERLACE_AT] != 0;
    const size_t bytes = row_bytes(out->width, bits);
    spng_ctx *ctx;
    IMREC_TRY(codec_reserve(&c->scratch, interlaced ? bytes * out->height : bytes, err));
    IMREC_TRY(png_decoder(png, out->width, out->height, &ctx, err));
    const int e = interlaced ? read_interlaced(ctx, c->scratch.p, bytes, bits, out)
                             : read_rows(c, ctx, bytes, bits, out);
    spng_ctx_free(ctx);
    IMREC_TRY(stop_check(c->stop, err));
    if (e == 0)
        return IMREC_OK;
    if (e == SPNG_EMEM)
        return png_error(e, err);
    return imrec_fail(err, IMREC_ERR_CORRUPT, "mask: png: %s", spng_strerror(e));
}

enum imrec_status codec_decode_mask(struct codec *c, struct bytes png, int64_t max_pixels,
                                    struct mask *out, struct imrec_error *err)
{
    struct mask info = {0};
    IMREC_TRY(codec_mask_info(png, &info, err));
    if (max_pixels >= 0 && (uint64_t)info.width * info.height > (uint64_t)max_pixels)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "the mask has %u x %u px, more than max_pixels=%lld", info.width,
                          info.height, (long long)max_pixels);
    IMREC_TRY(mask_resize_buffer(out, info.width, info.height, err));
    out->bits = info.bits;
    return decode(c, png, out, err);
}

static void pack_row(const uint16_t *values, uint32_t bits, uint32_t width, uint8_t *row)
{
    if (bits == 16)
        memcpy(row, values, (size_t)width * 2);
    else
        for (uint32_t x = 0; x < width; x++)
            row[x] = (uint8_t)values[x];
}

static int encode(const struct codec *c, spng_ctx *ctx, const struct mask *m, size_t bytes)
{
    uint8_t *row = c->scratch.p;
    struct spng_ihdr head = {m->width, m->height, (uint8_t)m->bits, SPNG_COLOR_TYPE_GRAYSCALE, 0,
                             0,        0};
    int e = spng_set_ihdr(ctx, &head);
    if (e == 0)
        e = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    if (e == 0)
        e = spng_encode_image(ctx, NULL, 0, SPNG_FMT_PNG,
                              SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    for (uint32_t y = 0; e == 0 && y < m->height && !stop_asked(c->stop); y++) {
        pack_row(m->values + (size_t)y * m->width, m->bits, m->width, row);
        e = spng_encode_row(ctx, row, bytes);
    }
    return e == SPNG_EOI ? 0 : e;
}

enum imrec_status
codec_encode_mask(struct codec *c, const struct mask *m, struct bytes *out, struct imrec_error *err)
{
    const size_t bytes = row_bytes(m->width, m->bits);
    IMREC_TRY(codec_reserve(&c->scratch, bytes, err));
    png_encoded_free(c);
    spng_ctx *ctx = spng_ctx_new2(&png_allocator, SPNG_CTX_ENCODER);
    if (ctx == NULL)
        return png_error(SPNG_EMEM, err);
    const int e = encode(c, ctx, m, bytes);
    return png_deliver(c, ctx, e, out, err);
}
#else
static enum imrec_status missing(struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "masks are PNG, and this build was made without libspng");
}

enum imrec_status codec_decode_mask(struct codec *c, struct bytes png, int64_t max_pixels,
                                    struct mask *out, struct imrec_error *err)
{
    (void)c, (void)max_pixels;
    IMREC_TRY(codec_mask_info(png, out, err));
    return missing(err);
}

enum imrec_status
codec_encode_mask(struct codec *c, const struct mask *m, struct bytes *out, struct imrec_error *err)
{
    (void)c, (void)m, (void)out;
    return missing(err);
}
#endif
