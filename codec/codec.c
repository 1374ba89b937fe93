/*
 * codec/codec.c - begins an image, and hands the work to the format that its bytes show.
 */
#include "codec/codec.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "codec/colour_rows.h"
#include "codec/format.h"
#include "codec/jpeg/baseline.h"
#include "codec/jpeg/encode/jpeg_encoder.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_reader.h"
#include "codec/jpeg_try.h"
#include "codec/png.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_SCANS = 100 };
/* Whatever the caller allows: the largest JPEG has fewer; sizes in bytes stay below 2^37. */
#define HARD_LIMIT_PIXELS ((uint64_t)1 << 33)

static const struct format *const formats[] = {&codec_jpeg, &codec_png,  &codec_gif,
                                               &codec_webp, &codec_tiff, &codec_bmp};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

/* Images of other kinds, named in messages: `magic` is at `at`. */
static const struct {
    const char *name;
    size_t at, n;
    const char *magic;
} strangers[] = {
    {"JPEG 2000", 0, 12, "\0\0\0\x0CjP  \r\n\x87\n"},
    {"JPEG 2000", 0, 4, "\xFF\x4F\xFF\x51"},
    {"JPEG XL", 0, 12, "\0\0\0\x0CJXL \r\n\x87\n"},
    {"JPEG XL", 0, 2, "\xFF\x0A"},
    {"AVIF", 4, 8, "ftypavif"},
    {"HEIF", 4, 8, "ftypheic"},
    {"HEIF", 4, 8, "ftypmif1"},
    {"Photoshop", 0, 4, "8BPS"},
    {"PDF", 0, 5, "%PDF-"},
    {"HTML", 0, 5, "<html"},
    {"HTML", 0, 9, "<!DOCTYPE"},
};

enum imrec_status codec_new(struct codec **out, struct imrec_error *err)
{
    struct codec *c = imrec_zalloc(1, sizeof(*c));
    if (c == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a codec");
    *out = c;
    return IMREC_OK;
}

static void drop_buffers(struct codec *c)
{
    struct buf *const bufs[] = {&c->unpacked, &c->line, &c->scratch, &c->encoded, &c->hashes};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_free(bufs[i]);
    struct image *const images[] = {&c->whole, &c->out, &c->upright};
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        image_free(images[i]);
    mask_free(&c->mask);
    png_encoded_free(c);
    jpeg_writer_drop(c->writer);
    jpeg_encoder_drop(c->encoder);
    baseline_drop(c->baseline);
}

void codec_free(struct codec *c)
{
    if (c == NULL)
        return;
    drop_buffers(c);
    jpeg_reader_free(c->jpeg);
    baseline_free(c->baseline);
    jpeg_writer_free(c->writer);
    jpeg_encoder_free(c->encoder);
    imrec_free(c);
}

void codec_stop_with(struct codec *c, const struct stop *stop)
{
    c->stop = stop;
}

/* libjpeg's own pools: about 30 KiB, and between images nothing else. */
size_t codec_memory(const struct codec *c)
{
    const size_t pools = 32 << 10;
    return sizeof(*c) + baseline_memory(c->baseline) + c->unpacked.cap + c->line.cap +
           c->scratch.cap + c->encoded.cap + c->hashes.cap + c->whole.capacity + c->out.capacity +
           c->mask.capacity + c->upright.capacity + (c->jpeg != NULL) * pools +
           (c->writer != NULL) * pools + jpeg_writer_memory(c->writer) +
           jpeg_encoder_memory(c->encoder);
}

void codec_trim(struct codec *c, size_t most)
{
    if (codec_memory(c) <= most)
        return;
    drop_buffers(c);
    c->format = NULL; /* of an image whose bytes may be gone */
}

void codec_use_jpeg(struct codec *c, enum codec_jpeg decoder)
{
    c->decoder = decoder;
}

uint64_t codec_baseline_count(const struct codec *c)
{
    return c->baseline_count;
}

uint64_t codec_together_count(const struct codec *c)
{
    return baseline_together_count(c->baseline);
}

uint64_t codec_decode_count(const struct codec *c)
{
    return c->decode_count;
}

static enum imrec_status unknown(struct bytes b, struct imrec_error *err)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
        if (b.n >= strangers[i].at + strangers[i].n &&
            memcmp(b.p + strangers[i].at, strangers[i].magic, strangers[i].n) == 0)
            return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0, "%s is not a format that is read",
                                  strangers[i].name);
    if (b.n == 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "the image is empty: 0 bytes");
    char first[4 * 3 + 1] = "";
    for (size_t i = 0; i < 4 && i < b.n; i++)
        snprintf(first + 3 * i, 4, " %02X", b.p[i]);
    return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0, "no image of a known format: %zu %s%s",
                          b.n, b.n == 1 ? "byte," : "bytes that begin with", first);
}

static enum imrec_status find_format(struct codec *c, struct imrec_error *err)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (!formats[i]->matches(c->image))
            continue;
        if (formats[i]->head == NULL)
            return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                                  "a %s image; this build reads none, it was made without %s",
                                  formats[i]->name, formats[i]->needs);
        c->format = formats[i];
        c->info.format = formats[i]->name;
        return IMREC_OK;
    }
    return unknown(c->image, err);
}

static bool is_gzip(struct bytes b)
{
    return b.n >= 2 && b.p[0] == 0x1F && b.p[1] == 0x8B;
}

static enum imrec_status unpack(struct codec *c, struct imrec_error *err)
{
    IMREC_TRY(codec_gunzip(c->image, c->limits.accept_truncated, c->stop, &c->unpacked, err));
    c->image = (struct bytes){c->unpacked.p, c->unpacked.n};
    c->info.gzip = true;
    if (!codec_jpeg.matches(c->image))
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                              "gzip around something that is not a JPEG; only JPEG is unpacked");
    return IMREC_OK;
}

static enum imrec_status check_size(const struct codec *c, struct imrec_error *err)
{
    const struct imrec_image_info *i = &c->info;
    const uint64_t pixels = (uint64_t)i->width * i->height;
    if (i->width == 0 || i->height == 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "%s: a size of %u x %u px", i->format,
                              i->width, i->height);
    if (c->limits.max_pixels >= 0 && pixels > (uint64_t)c->limits.max_pixels)
        return imrec_error_at(err, IMREC_ERR_LIMIT, 0,
                              "%s: %u x %u px are more than the limit of %lld pixels", i->format,
                              i->width, i->height, (long long)c->limits.max_pixels);
    return IMREC_OK;
}

static enum imrec_status begin(struct codec *c, struct imrec_error *err)
{
    if (is_gzip(c->image))
        IMREC_TRY(unpack(c, err));
    IMREC_TRY(find_format(c, err));
    IMREC_TRY(c->format->head(c, err));
    return check_size(c, err);
}

static void reset(struct codec *c, struct bytes image, const struct codec_limits *limits)
{
    c->limits = *limits;
    if (c->limits.max_scans == 0)
        c->limits.max_scans = DEFAULT_SCANS;
    c->image = image;
    c->format = NULL;
    c->held = 0;
    c->info = (struct imrec_image_info){
        .format = "", .kind = "", .sampling = "", .orientation = 1, .bits = 8};
}

static enum imrec_status begun(struct codec *c, enum imrec_status st, struct imrec_image_info *info)
{
    if (st != IMREC_OK)
        c->format = NULL;
    *info = c->info;
    return st;
}

enum imrec_status codec_begin(struct codec *c, struct bytes image,
                              const struct codec_limits *limits, struct imrec_image_info *info,
                              struct imrec_error *err)
{
    reset(c, image, limits);
    enum imrec_status st = begin(c, err);
    if (stop_asked(c->stop)) /* here and below: whatever came of it */
        st = stop_error(err);
    return begun(c, st, info);
}

enum imrec_status codec_begin_pixels(struct codec *c, const struct imrec_image *pixels,
                                     const struct codec_limits *limits,
                                     struct imrec_image_info *info, struct imrec_error *err)
{
    reset(c, (struct bytes){NULL, 0}, limits);
    c->pixels = *pixels;
    c->format = &codec_pixels;
    c->info.format = codec_pixels.name;
    enum imrec_status st = codec_pixels.head(c, err);
    if (st == IMREC_OK)
        st = check_size(c, err);
    return begun(c, st, info);
}

uint64_t codec_claim(const struct codec *c, uint32_t denominator)
{
    if (c->format == NULL)
        return 0;
    const uint64_t row = 4 * (uint64_t)c->info.width;
    const uint64_t unpacked = c->info.gzip ? c->unpacked.cap : 0;
    return row + unpacked + (c->format->claim != NULL ? c->format->claim(c, denominator) : 0);
}

uint64_t codec_begin_claim(struct bytes image)
{
    return is_gzip(image) ? codec_gunzip_limit(image.n) : tiff_begin_claim(image);
}

static bool is_inside(struct imrec_rect r, uint32_t width, uint32_t height)
{
    return r.width != 0 && r.height != 0 && r.x < width && r.y < height && r.width <= width - r.x &&
           r.height <= height - r.y;
}

static enum imrec_status check_request(const struct codec *c, struct imrec_rect r,
                                       uint32_t channels, struct imrec_error *err)
{
    if (c->format == NULL)
        return IMREC_REFUSE(err, "no image has been begun");
    if ((uint64_t)c->info.width * c->info.height > HARD_LIMIT_PIXELS)
        return imrec_error_at(err, IMREC_ERR_LIMIT, 0, "%s: %u x %u px are more than anything here",
                              c->info.format, c->info.width, c->info.height);
    if (channels != 1 && channels != 3 && channels != 4)
        return IMREC_REFUSE(err, "%u channels; 1, 3 and 4 can be had", channels);
    if (!is_inside(r, c->info.width, c->info.height))
        return IMREC_REFUSE(err, "the region %u x %u at (%u, %u) is not inside %u x %u px", r.width,
                            r.height, r.x, r.y, c->info.width, c->info.height);
    return IMREC_OK;
}

static struct imrec_rect everything(const struct codec *c)
{
    return (struct imrec_rect){0, 0, c->info.width, c->info.height};
}

/* What a decode came to; asked to stop, it counts for nothing. */
static enum imrec_status decoded(const struct codec *c, enum imrec_status st, uint32_t counted,
                                 uint32_t *warnings, struct imrec_error *err)
{
    if (warnings != NULL)
        *warnings = counted;
    IMREC_TRY(stop_check(c->stop, err));
    return st;
}

static enum imrec_status
decode(struct codec *c, struct rows *rows, uint32_t *warnings, struct imrec_error *err)
{
    IMREC_TRY(check_request(c, rows->region, rows->channels, err));
    IMREC_TRY(codec_reserve(&c->line, (size_t)rows->region.width * 4, err));
    rows->line = c->line.p;
    c->decode_count += rows->sink != NULL;
    const enum imrec_status st = c->format->decode(c, rows, err);
    return decoded(c, st, rows->warnings, warnings, err);
}

/* ---- compared with libjpeg-turbo ------------------------------------------------------------ */

static enum imrec_status differs(struct codec *c, const char *how, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "JPEG: imrec's own decoder and libjpeg-turbo do not agree (self_check): %s; "
                      "please report the image, %u x %u px, as a fault of imrec",
                      how, c->info.width, c->info.height);
}

/* The region once more by libjpeg-turbo; `s` has what ours made of it. */
static enum imrec_status compare(struct codec *c, struct imrec_rect region, uint32_t channels,
                                 struct self_check *s, struct imrec_error *err)
{
    struct rows rows = {
        .region = region, .channels = channels, .sink = self_check_compare_row, .context = s};
    struct imrec_error why;
    char how[320];
    uint32_t warnings = 0;
    const uint64_t decodes = c->decode_count;
    const enum codec_jpeg decoder = c->decoder;
    c->decoder = CODEC_JPEG_LIBJPEG;
    const enum imrec_status st = decode(c, &rows, &warnings, &why);
    c->decoder = decoder;
    c->decode_count = decodes;
    c->self_checked++;
    if (st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED) {
        if (err != NULL)
            *err = why;
        return st;
    }
    if (st == IMREC_OK && warnings == 0 && !s->differs)
        return IMREC_OK;
    if (st != IMREC_OK)
        snprintf(how, sizeof(how), "only the second says: %.250s", why.message);
    else if (s->differs)
        snprintf(how, sizeof(how), "their pixels differ in row %u", region.y + s->row);
    else
        snprintf(how, sizeof(how), "only the second finds faults");
    return differs(c, how, err);
}

static enum imrec_status
decode_and_compare(struct codec *c, struct rows *rows, uint32_t *warnings, struct imrec_error *err)
{
    const uint64_t ours = c->baseline_count;
    struct self_check s = {.sink = rows->sink,
                           .context = rows->context,
                           .bytes = (size_t)rows->region.width * rows->channels,
                           .made = rows->direct};
    IMREC_TRY(check_request(c, rows->region, rows->channels, err));
    if (s.made == NULL) {
        IMREC_TRY(codec_reserve(&c->hashes, rows->region.height * sizeof(uint64_t), err));
        s.hash = (uint64_t *)(void *)c->hashes.p;
        rows->sink = self_check_row;
        rows->context = &s;
    }
    IMREC_TRY(decode(c, rows, warnings, err));
    return c->baseline_count > ours ? compare(c, rows->region, rows->channels, &s, err) : IMREC_OK;
}

void codec_self_check(struct codec *c, bool on)
{
    c->self_check = on;
}

uint64_t codec_self_check_count(const struct codec *c)
{
    return c->self_checked;
}

/* ---- regions --------------------------------------------------------------------------------- */

enum imrec_status codec_decode_rows(struct codec *c, struct imrec_rect region, uint32_t channels,
                                    codec_row_fn *sink, void *context, uint32_t *warnings,
                                    struct imrec_error *err)
{
    struct rows rows = {.region = region, .channels = channels, .sink = sink, .context = context};
    return c->self_check && sink != NULL ? decode_and_compare(c, &rows, warnings, err)
                                         : decode(c, &rows, warnings, err);
}

static void copy_row(void *context, uint32_t y, const uint8_t *row)
{
    const struct imrec_image *to = context;
    memcpy(to->pixels + y * to->stride, row, to->stride);
}

enum imrec_status codec_decode_image(struct codec *c, struct imrec_rect region, uint32_t channels,
                                     struct image *out, uint32_t *warnings, struct imrec_error *err)
{
    const struct imrec_rect all = everything(c);
    IMREC_TRY(check_request(c, region, channels, err));
    if (c->format == &codec_jpeg && !c->self_check && memcmp(&region, &all, sizeof(all)) == 0)
        return codec_decode_scaled(c, 1, channels, out, warnings, err);
    IMREC_TRY(image_resize_buffer(out, region.width, region.height, channels, err));
    struct rows rows = {.region = region,
                        .channels = channels,
                        .sink = copy_row,
                        .context = &out->view,
                        .direct = &out->view};
    return c->self_check ? decode_and_compare(c, &rows, warnings, err)
                         : decode(c, &rows, warnings, err);
}

enum imrec_status codec_decode_scaled(struct codec *c, uint32_t denominator, uint32_t channels,
                                      struct image *out, uint32_t *warnings,
                                      struct imrec_error *err)
{
    uint32_t counted = 0;
    IMREC_TRY(check_request(c, everything(c), channels, err));
    if (denominator != 1 && denominator != 2 && denominator != 4 && denominator != 8)
        return IMREC_REFUSE(err, "a scale of 1/%u; 1, 2, 4 and 8 can be had", denominator);
    if (c->format != &codec_jpeg)
        return codec_decode_image(c, everything(c), channels, out, warnings, err);
    c->decode_count++;
    const enum imrec_status st = jpeg_decode_whole(c, denominator, channels, out, &counted, err);
    return decoded(c, st, counted, warnings, err);
}

bool codec_scales(const struct codec *c)
{
    return c->format == &codec_jpeg;
}

uint64_t codec_scaled_region_claim(const struct codec *c, uint32_t denominator, uint32_t channels)
{
    const uint64_t pixels =
        ceil_div(c->info.width, denominator) * ceil_div(c->info.height, denominator);
    return codec_claim(c, denominator) + (denominator > 1 ? pixels * channels : 0);
}

/* libjpeg-turbo scales all of the image, of which the region is taken. */
static enum imrec_status scaled_region_of_whole(struct codec *c, uint32_t denominator,
                                                struct imrec_rect r, struct image *out,
                                                uint32_t *warnings, struct imrec_error *err)
{
    const uint32_t channels = out->view.channels;
    struct image all = {0};
    enum imrec_status st = codec_decode_scaled(c, denominator, channels, &all, warnings, err);
    for (uint32_t y = 0; st == IMREC_OK && y < r.height; y++)
        copy_row(&out->view, y,
                 all.view.pixels + (r.y + y) * all.view.stride + (size_t)r.x * channels);
    image_free(&all);
    return st;
}

static enum imrec_status compare_scaled(struct codec *c, uint32_t denominator, struct imrec_rect r,
                                        const struct imrec_image *made, struct imrec_error *err)
{
    struct self_check s = {.bytes = (size_t)r.width * made->channels, .made = made};
    struct image truth = {0};
    char how[64];
    const uint64_t decodes = c->decode_count;
    const enum codec_jpeg decoder = c->decoder;
    enum imrec_status st = image_resize_buffer(&truth, r.width, r.height, made->channels, err);
    c->decoder = CODEC_JPEG_LIBJPEG;
    if (st == IMREC_OK)
        st = scaled_region_of_whole(c, denominator, r, &truth, NULL, err);
    c->decoder = decoder;
    c->decode_count = decodes;
    c->self_checked++;
    for (uint32_t y = 0; st == IMREC_OK && y < r.height; y++)
        self_check_compare_row(&s, y, truth.view.pixels + y * truth.view.stride);
    image_free(&truth);
    snprintf(how, sizeof(how), "scaled by 1/%u, their pixels differ in row %u", denominator,
             r.y + s.row);
    return s.differs ? differs(c, how, err) : st;
}

enum imrec_status codec_decode_scaled_region(struct codec *c, uint32_t denominator,
                                             struct imrec_rect r, uint32_t channels,
                                             struct image *out, uint32_t *warnings,
                                             struct imrec_error *err)
{
    bool done = false;
    if (denominator == 1)
        return codec_decode_image(c, r, channels, out, warnings, err);
    IMREC_TRY(check_request(c, everything(c), channels, err));
    if (c->format != &codec_jpeg || (denominator != 2 && denominator != 4 && denominator != 8))
        return IMREC_REFUSE(err, "%s at a scale of 1/%u; of a JPEG 1, 2, 4 and 8 can be had",
                            c->info.format, denominator);
    const uint32_t width = (uint32_t)ceil_div(c->info.width, denominator);
    const uint32_t height = (uint32_t)ceil_div(c->info.height, denominator);
    if (!is_inside(r, width, height))
        return IMREC_REFUSE(err, "the region %u x %u at (%u, %u) is not inside %u x %u px", r.width,
                            r.height, r.x, r.y, width, height);
    IMREC_TRY(image_resize_buffer(out, r.width, r.height, channels, err));
    const struct rows rows = {.region = r,
                              .channels = channels,
                              .denominator = denominator,
                              .sink = copy_row,
                              .context = &out->view,
                              .direct = &out->view};
    IMREC_TRY(jpeg_try_baseline(c, &rows, &done, err));
    if (!done)
        return scaled_region_of_whole(c, denominator, r, out, warnings, err);
    c->decode_count++;
    if (c->self_check)
        IMREC_TRY(compare_scaled(c, denominator, r, &out->view, err));
    return decoded(c, IMREC_OK, 0, warnings, err);
}

enum imrec_status codec_check(struct codec *c, uint32_t *warnings, struct imrec_error *err)
{
    uint32_t counted = 0;
    IMREC_TRY(check_request(c, everything(c), 3, err));
    if (c->format != &codec_jpeg)
        return codec_decode_rows(c, everything(c), 3, NULL, NULL, warnings, err);
    const enum imrec_status st = jpeg_check(c, &counted, err);
    return decoded(c, st, counted, warnings, err);
}

const char *const *codec_formats(void)
{
    static const char *const names[] = {
        "jpeg",
#if IMREC_HAVE_SPNG
        "png",
#endif
#if IMREC_HAVE_GIF
        "gif",
#endif
#if IMREC_HAVE_WEBP
        "webp",
#endif
#if IMREC_HAVE_TIFF
        "tiff",
#endif
        "bmp",
        NULL
    };
    return names;
}
