/*
 * codec/decoder.c - the public decoder: a codec that decodes images, or regions of them, into its
 * own memory.
 */
#include "base/error.h"
#include "base/math.h"
#include "base/orientation.h"
#include "codec/format.h"
#include "imrec/segmentation.h"

#include <string.h>

static struct codec *codec_of(struct imrec_decoder *d)
{
    return (struct codec *)d; /* imrec_decoder is never defined: it is this */
}

enum imrec_status
imrec_image_info(const void *bytes, size_t n, struct imrec_image_info *out, struct imrec_error *err)
{
    const struct codec_limits none = {.max_pixels = -1, .max_scans = UINT32_MAX};
    struct codec *c = NULL;
    IMREC_TRY(codec_new(&c, err));
    const enum imrec_status st = codec_begin(c, (struct bytes){bytes, n}, &none, out, err);
    codec_free(c);
    return st;
}

enum imrec_status imrec_decoder_new(struct imrec_decoder **out, struct imrec_error *err)
{
    struct codec *c = NULL;
    IMREC_TRY(codec_new(&c, err));
    *out = (struct imrec_decoder *)c;
    return IMREC_OK;
}

void imrec_decoder_free(struct imrec_decoder *d)
{
    codec_free(codec_of(d));
}

uint32_t codec_channels(const struct imrec_image_info *i)
{
    if (i->cmyk)
        return 3;
    return i->channels == 2 ? 4 : i->channels;
}

/* Where pixel (x, y) of the upright image is stored: at first + x * right + y * down bytes. */
struct path {
    ptrdiff_t first, right, down;
};

static struct path path_of(uint32_t orientation, const struct imrec_image *v)
{
    const ptrdiff_t px = v->channels, row = (ptrdiff_t)v->stride;
    const ptrdiff_t last_x = (ptrdiff_t)(v->width - 1) * px;
    const ptrdiff_t last_y = (ptrdiff_t)(v->height - 1) * row;
    const struct path paths[8] = {
        {0, px, row}, {last_x, -px, row}, {last_x + last_y, -px, -row}, {last_y, px, -row},
        {0, row, px}, {last_y, -row, px}, {last_x + last_y, -row, -px}, {last_x, row, -px}};
    return paths[orientation - 1];
}

static enum imrec_status turn(uint32_t orientation, const struct imrec_image *from,
                              struct image *to, struct imrec_error *err)
{
    const bool swaps = orientation > 4;
    const struct path path = path_of(orientation, from);
    IMREC_TRY(image_resize_buffer(to, swaps ? from->height : from->width,
                                  swaps ? from->width : from->height, from->channels, err));
    const struct imrec_image *v = &to->view;
    for (uint32_t y = 0; y < v->height; y++)
        for (uint32_t x = 0; x < v->width; x++)
            memcpy(v->pixels + y * v->stride + (size_t)x * v->channels,
                   from->pixels + path.first + (ptrdiff_t)x * path.right + (ptrdiff_t)y * path.down,
                   v->channels);
    return IMREC_OK;
}

/* The image that a region is of: turned, and at its scale. */
struct whole {
    uint32_t width, height;
};

static struct whole
whole_of(const struct imrec_image_info *info, uint32_t orientation, uint32_t denominator)
{
    const uint32_t width = (uint32_t)ceil_div(info->width, denominator);
    const uint32_t height = (uint32_t)ceil_div(info->height, denominator);
    return orient_swaps(orientation) ? (struct whole){height, width}
                                     : (struct whole){width, height};
}

static enum imrec_status
check_region(const struct imrec_rect *r, struct whole of, struct imrec_error *err)
{
    if (r->width > 0 && r->height > 0 && r->x < of.width && r->y < of.height &&
        r->width <= of.width - r->x && r->height <= of.height - r->y)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "a region of %u x %u px at column %u, row %u is not inside the image, "
                        "which is %u x %u px",
                        r->width, r->height, r->x, r->y, of.width, of.height);
}

static enum imrec_status
check_scale(const struct imrec_image_info *info, uint32_t denominator, struct imrec_error *err)
{
    if (denominator != 1 && denominator != 2 && denominator != 4 && denominator != 8)
        return IMREC_REFUSE(err, "the denominator of a scale must be 1, 2, 4 or 8, not %u",
                            denominator);
    if (denominator == 1 || strcmp(info->format, "jpeg") == 0)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "a %s is decoded at full size only; a JPEG can be at 1/%u", info->format,
                      denominator);
}

/* A part of an image, in place. */
static void cut(struct imrec_image *i, struct imrec_rect r)
{
    i->pixels += r.y * i->stride + (size_t)r.x * i->channels;
    i->width = r.width;
    i->height = r.height;
}

/* At full size only the region is decoded; a smaller image is made whole, and cut. */
static enum imrec_status decode_part(struct codec *c, struct imrec_rect stored,
                                     uint32_t denominator, uint32_t channels,
                                     struct imrec_image *out, struct imrec_error *err)
{
    if (denominator == 1) {
        IMREC_TRY(codec_decode_image(c, stored, channels, &c->out, NULL, err));
        *out = c->out.view;
        return IMREC_OK;
    }
    IMREC_TRY(codec_decode_scaled(c, denominator, channels, &c->out, NULL, err));
    *out = c->out.view;
    cut(out, stored);
    return IMREC_OK;
}

enum imrec_status imrec_decoder_decode_part(struct imrec_decoder *d, const void *bytes, size_t n,
                                            const struct imrec_rect *region, uint32_t denominator,
                                            uint32_t channels, bool auto_orient, int64_t max_pixels,
                                            struct imrec_image *out, struct imrec_error *err)
{
    struct codec *c = codec_of(d);
    const struct codec_limits limits = {.max_pixels = max_pixels};
    struct imrec_image_info info;
    struct imrec_image part;
    IMREC_TRY(codec_begin(c, (struct bytes){bytes, n}, &limits, &info, err));
    IMREC_TRY(check_scale(&info, denominator, err));
    const uint32_t orientation = auto_orient ? info.orientation : 1;
    const struct whole whole = whole_of(&info, orientation, denominator);
    const struct imrec_rect all = {0, 0, whole.width, whole.height};
    if (region != NULL)
        IMREC_TRY(check_region(region, whole, err));
    const struct whole as_stored = whole_of(&info, 1, denominator);
    const struct imrec_rect stored = orient_region(orientation, as_stored.width, as_stored.height,
                                                   region != NULL ? *region : all);
    IMREC_TRY(decode_part(c, stored, denominator, channels != 0 ? channels : codec_channels(&info),
                          &part, err));
    if (orientation != 1)
        IMREC_TRY(turn(orientation, &part, &c->upright, err));
    *out = orientation != 1 ? c->upright.view : part;
    return IMREC_OK;
}

enum imrec_status imrec_decoder_decode(struct imrec_decoder *d, const void *bytes, size_t n,
                                       uint32_t channels, bool auto_orient, int64_t max_pixels,
                                       struct imrec_image *out, struct imrec_error *err)
{
    return imrec_decoder_decode_part(d, bytes, n, NULL, 1, channels, auto_orient, max_pixels, out,
                                     err);
}

enum imrec_status imrec_decoder_encode_jpeg(struct imrec_decoder *d,
                                            const struct imrec_image *image, int quality,
                                            const void **bytes, size_t *n, struct imrec_error *err)
{
    struct bytes encoded;
    IMREC_TRY(codec_encode_jpeg(codec_of(d), image, (struct codec_jpeg_how){.quality = quality},
                                &encoded, err));
    *bytes = encoded.p;
    *n = encoded.n;
    return IMREC_OK;
}

enum imrec_status imrec_decoder_encode_png(struct imrec_decoder *d, const struct imrec_image *image,
                                           int level, const void **bytes, size_t *n,
                                           struct imrec_error *err)
{
    struct bytes encoded;
    IMREC_TRY(codec_encode_png(codec_of(d), image, level, &encoded, err));
    *bytes = encoded.p;
    *n = encoded.n;
    return IMREC_OK;
}

enum imrec_status imrec_decoder_decode_mask(struct imrec_decoder *d, const void *png, size_t n,
                                            int64_t max_pixels, struct imrec_mask *out,
                                            struct imrec_error *err)
{
    struct codec *c = codec_of(d);
    IMREC_TRY(codec_decode_mask(c, (struct bytes){png, n}, max_pixels, &c->mask, err));
    *out = (struct imrec_mask){c->mask.values, c->mask.width, c->mask.height, c->mask.bits};
    return IMREC_OK;
}
