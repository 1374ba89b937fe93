/*
 * codec/webp.c - WebP by libwebp, decoded whole: a still image, or the first frame of an animation
 * on its canvas, which is transparent (without alpha: black) where the frame does not cover it; the
 * background colour plays no part. That is what libwebp's own animation decoder begins with.
 *
 * RIFF: "RIFF" | u32 size | "WEBP" | chunks: 4 letters, u32 length, bytes, padded to even.
 * A frame is the chunk "ANMF": u24 left / 2, top / 2, width - 1, height - 1, duration | u8 flags |
 * chunks: "ALPH", "VP8 " or "VP8L".
 */
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"
#include "codec/jpeg/exif.h"
#include "codec/webp_tables.h"

#include <string.h>

static bool is_webp(struct bytes b)
{
    return b.n >= 12 && memcmp(b.p, "RIFF", 4) == 0 && memcmp(b.p + 8, "WEBP", 4) == 0;
}

#if IMREC_HAVE_WEBP
#include <webp/decode.h>

enum { FRAME_HEAD_BYTES = 16 };

/* What is decoded: all of the file, or the first frame. */
struct frame {
    struct bytes data, chunks; /* for libwebp; without what is around the chunks */
    uint32_t left, top, width, height;
};

static uint32_t le24(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

/* All chunks of a file. */
static struct bytes chunks_of(struct bytes b)
{
    const uint64_t claimed = (uint64_t)load_le32(b.p + 4) + 8;
    const size_t end = claimed < b.n ? (size_t)claimed : b.n;
    return end > 12 ? (struct bytes){b.p + 12, end - 12} : (struct bytes){b.p + 12, 0};
}

/* The first chunk of that name, or of it what the data hold; p NULL: there is none. */
static struct bytes find_chunk(struct bytes chunks, const char *name)
{
    for (size_t at = 0; at <= chunks.n && chunks.n - at >= 8;) {
        const uint8_t *p = chunks.p + at;
        const size_t length = load_le32(p + 4), left = chunks.n - at - 8;
        if (memcmp(p, name, 4) == 0)
            return (struct bytes){p + 8, length < left ? length : left};
        if (length >= left)
            break;
        at += 8 + length + (length & 1);
    }
    return (struct bytes){NULL, 0};
}

static uint32_t orientation_of(struct bytes b)
{
    const struct bytes exif = find_chunk(chunks_of(b), "EXIF");
    const size_t head = exif.n >= 6 && memcmp(exif.p, "Exif\0", 6) == 0 ? 6 : 0;
    return exif.p == NULL ? 1 : exif_orientation((struct bytes){exif.p + head, exif.n - head});
}

static enum imrec_status
read_features(struct bytes b, WebPBitstreamFeatures *f, struct imrec_error *err)
{
    const VP8StatusCode e = WebPGetFeatures(b.p, b.n, f);
    if (e == VP8_STATUS_OK)
        return IMREC_OK;
    return imrec_error_at(
        err, IMREC_ERR_CORRUPT, e == VP8_STATUS_NOT_ENOUGH_DATA ? b.n : 0, "webp: %s in %zu bytes",
        e == VP8_STATUS_NOT_ENOUGH_DATA ? "no whole header" : "a broken header", b.n);
}

/* The first frame of an animation. Of the two sizes that are said of it, that of its own header
 * counts, as in libwebp's animation decoder. */
static enum imrec_status
read_frame_head(const struct codec *c, struct frame *f, struct imrec_error *err)
{
    WebPBitstreamFeatures features;
    const struct bytes chunk = find_chunk(chunks_of(c->image), "ANMF");
    if (chunk.p == NULL || chunk.n < FRAME_HEAD_BYTES)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, c->image.n,
                              "webp: an animation without a whole frame in %zu bytes", c->image.n);
    f->data = (struct bytes){chunk.p + FRAME_HEAD_BYTES, chunk.n - FRAME_HEAD_BYTES};
    f->chunks = f->data;
    IMREC_TRY(read_features(f->data, &features, err));
    f->left = 2 * le24(chunk.p);
    f->top = 2 * le24(chunk.p + 3);
    f->width = (uint32_t)features.width;
    f->height = (uint32_t)features.height;
    if (!features.has_animation && f->left + f->width <= c->info.width &&
        f->top + f->height <= c->info.height)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, (size_t)(chunk.p - c->image.p),
                          "webp: the first frame, %u x %u px at (%u, %u), leaves the canvas of "
                          "%u x %u px",
                          f->width, f->height, f->left, f->top, c->info.width, c->info.height);
}

static bool is_animation(const struct codec *c)
{
    return c->info.kind[0] != '\0';
}

static enum imrec_status find_frame(const struct codec *c, struct frame *f, struct imrec_error *err)
{
    if (is_animation(c))
        return read_frame_head(c, f, err);
    *f = (struct frame){c->image, chunks_of(c->image), 0, 0, c->info.width, c->info.height};
    return IMREC_OK;
}

/* Tables of the codes of a lossless frame, or of a lossy one's alpha, if that is lossless. */
static uint64_t tables_claim(const struct frame *f)
{
    enum { IMAGE_HEAD = 5, ALPHA_HEAD = 1, METHOD = 3, LOSSLESS = 1 };
    const struct bytes image = find_chunk(f->chunks, "VP8L"), alpha = find_chunk(f->chunks, "ALPH");
    uint64_t bytes = 0;
    if (image.n > IMAGE_HEAD)
        bytes += webp_tables_bytes((struct bytes){image.p + IMAGE_HEAD, image.n - IMAGE_HEAD},
                                   f->width, f->height);
    if (alpha.n > ALPHA_HEAD && (alpha.p[0] & METHOD) == LOSSLESS)
        bytes += webp_tables_bytes((struct bytes){alpha.p + ALPHA_HEAD, alpha.n - ALPHA_HEAD},
                                   f->width, f->height);
    return bytes;
}

/* The canvas, and what libwebp holds: of a lossless frame all pixels in 4 bytes, of a lossy one
 * some rows, and where it has alpha that plane, and its pixels while it is decoded. */
static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    enum { LOSSY = 1, ROWS = 256, TABLES = 1 << 20 };
    const uint64_t canvas = (uint64_t)c->info.width * c->info.height;
    WebPBitstreamFeatures features;
    struct frame f = {0};
    (void)denominator;
    if (find_frame(c, &f, NULL) != IMREC_OK || read_features(f.data, &features, NULL) != IMREC_OK)
        return 0;
    const uint64_t each = features.format != LOSSY ? 5 : features.has_alpha ? 6 : 0;
    return canvas * (c->info.channels == 4 ? 4 : 3) + (uint64_t)f.width * f.height * each +
           (uint64_t)f.width * ROWS + TABLES + tables_claim(&f);
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    WebPBitstreamFeatures features;
    struct frame f;
    IMREC_TRY(read_features(c->image, &features, err));
    c->info.width = (uint32_t)features.width;
    c->info.height = (uint32_t)features.height;
    c->info.channels = features.has_alpha ? 4 : 3;
    c->info.kind = features.has_animation ? "animation" : "";
    c->info.orientation = orientation_of(c->image);
    return find_frame(c, &f, err);
}

static enum imrec_status webp_error(const struct codec *c, VP8StatusCode e, struct imrec_error *err)
{
    if (e == VP8_STATUS_OUT_OF_MEMORY)
        return IMREC_NO_MEMORY(err, "webp: no memory for %u x %u px", c->info.width,
                               c->info.height);
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "webp: broken data in %zu bytes (libwebp's status %d)", c->image.n, (int)e);
}

/* A large image takes seconds: its data come in pieces, so that it can be ended in between. */
static VP8StatusCode decode_all(const struct codec *c, struct bytes b, WebPDecoderConfig *config)
{
    enum { LARGE = 16 << 20, PIECES = 64 };
    VP8StatusCode e = VP8_STATUS_SUSPENDED;
    if (c->stop == NULL || (uint64_t)c->info.width * c->info.height < LARGE)
        return WebPDecode(b.p, b.n, config);
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, config);
    if (decoder == NULL)
        return VP8_STATUS_OUT_OF_MEMORY;
    for (size_t i = 1; i <= PIECES && e == VP8_STATUS_SUSPENDED && !stop_asked(c->stop); i++)
        e = WebPIUpdate(decoder, b.p, i < PIECES ? b.n / PIECES * i : b.n);
    WebPIDelete(decoder);
    return e;
}

/* Onto the canvas v. */
static VP8StatusCode decode_frame(const struct codec *c, const struct frame *f,
                                  const struct imrec_image *v, WebPDecoderConfig *config)
{
    const size_t skipped = f->top * v->stride + (size_t)f->left * v->channels;
    config->output.colorspace = v->channels == 4 ? MODE_RGBA : MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = v->pixels + skipped;
    config->output.u.RGBA.stride = (int)v->stride; /* a side is at most 2^24 px */
    config->output.u.RGBA.size = v->stride * v->height - skipped;
    const VP8StatusCode e = decode_all(c, f->data, config);
    WebPFreeDecBuffer(&config->output);
    return e;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    const bool alpha = c->info.channels == 4;
    const struct conversion how = {alpha ? PIXELS_RGBA : PIXELS_RGB, GREY_ROUNDED, r->channels,
                                   c->limits.alpha};
    WebPDecoderConfig config;
    struct frame f;
    if (!WebPInitDecoderConfig(&config))
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "webp: this libwebp is another version than the build's");
    IMREC_TRY(find_frame(c, &f, err));
    IMREC_TRY(codec_reserve_whole(c, alpha ? 4 : 3, err));
    const struct imrec_image *v = &c->whole.view;
    /* 128 stays where data are missing, 0 where the frame is not. */
    memset(v->pixels, is_animation(c) ? 0 : 128, v->stride * v->height);
    const VP8StatusCode e = decode_frame(c, &f, v, &config);
    IMREC_TRY(stop_check(c->stop, err));
    if (e == VP8_STATUS_SUSPENDED || e == VP8_STATUS_NOT_ENOUGH_DATA)
        IMREC_TRY(codec_truncated(c, r, 0, err));
    else if (e != VP8_STATUS_OK)
        return webp_error(c, e, err);
    rows_give_all(r, &how, v);
    return IMREC_OK;
}

const struct format codec_webp = {"webp", "libwebp", is_webp, read_head, decode, claim};
#else
const struct format codec_webp = {"webp", "libwebp", is_webp, NULL, NULL, NULL};
#endif
