/*
 * codec/webp.c - still WebP by libwebp, decoded whole.
 *
 * RIFF: "RIFF" | u32 size | "WEBP" | chunks: 4 letters, u32 length, bytes, padded to even.
 */
#include "base/error.h"
#include "codec/colour.h"
#include "codec/exif.h"
#include "codec/format.h"

#include <string.h>

static bool is_webp(struct bytes b)
{
    return b.n >= 12 && memcmp(b.p, "RIFF", 4) == 0 && memcmp(b.p + 8, "WEBP", 4) == 0;
}

#if IMREC_HAVE_WEBP
#include <webp/decode.h>

static uint32_t orientation_of(struct bytes b)
{
    for (size_t at = 12; b.n - at >= 8;) {
        const size_t length = load_le32(b.p + at + 4), left = b.n - at - 8;
        const uint8_t *body = b.p + at + 8;
        if (length > left)
            break;
        if (memcmp(b.p + at, "EXIF", 4) == 0) {
            const size_t head = length >= 6 && memcmp(body, "Exif\0", 6) == 0 ? 6 : 0;
            return exif_orientation((struct bytes){body + head, length - head});
        }
        if (length + (length & 1) > left)
            break;
        at += 8 + length + (length & 1);
    }
    return 1;
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    WebPBitstreamFeatures f;
    const VP8StatusCode e = WebPGetFeatures(c->image.p, c->image.n, &f);
    if (e != VP8_STATUS_OK)
        return imrec_error_at(
            err, IMREC_ERR_CORRUPT, e == VP8_STATUS_NOT_ENOUGH_DATA ? c->image.n : 0,
            "webp: %s in %zu bytes",
            e == VP8_STATUS_NOT_ENOUGH_DATA ? "no whole header" : "a broken header", c->image.n);
    if (f.has_animation)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                              "webp: an animation; only still pictures are read");
    c->info.width = (uint32_t)f.width;
    c->info.height = (uint32_t)f.height;
    c->info.channels = f.has_alpha ? 4 : 3;
    c->info.orientation = orientation_of(c->image);
    return IMREC_OK;
}

static enum imrec_status webp_error(const struct codec *c, VP8StatusCode e, struct imrec_error *err)
{
    if (e == VP8_STATUS_OUT_OF_MEMORY)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "webp: no memory for %u x %u px", c->info.width, c->info.height);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                          "webp: broken data in %zu bytes (libwebp's status %d)", c->image.n,
                          (int)e);
}

/* A large picture takes seconds: its data come in pieces, so that it can be ended in between. */
static VP8StatusCode decode_all(const struct codec *c, WebPDecoderConfig *config)
{
    enum { LARGE = 16 << 20, PIECES = 64 };
    const struct bytes b = c->image;
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

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    const bool alpha = c->info.channels == 4;
    const struct conversion how = {alpha ? PIXELS_RGBA : PIXELS_RGB, GREY_ROUNDED, r->channels,
                                   c->limits.alpha};
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, IMREC_NO_OFFSET,
                              "webp: this libwebp is another version than the build's");
    IMREC_TRY(codec_reserve_whole(c, alpha ? 4 : 3, err));
    const struct imrec_image *v = &c->whole.view;
    memset(v->pixels, 128, v->stride * v->height); /* stays where data are missing */
    config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = v->pixels;
    config.output.u.RGBA.stride = (int)v->stride; /* a side is at most 16383 px */
    config.output.u.RGBA.size = v->stride * v->height;
    const VP8StatusCode e = decode_all(c, &config);
    WebPFreeDecBuffer(&config.output);
    IMREC_TRY(stop_check(c->stop, err));
    if (e == VP8_STATUS_SUSPENDED || e == VP8_STATUS_NOT_ENOUGH_DATA)
        IMREC_TRY(codec_truncated(c, r, 0, err));
    else if (e != VP8_STATUS_OK)
        return webp_error(c, e, err);
    rows_give_all(r, &how, v);
    return IMREC_OK;
}

const struct format codec_webp = {"webp", "libwebp", is_webp, read_head, decode};
#else
const struct format codec_webp = {"webp", "libwebp", is_webp, NULL, NULL};
#endif
