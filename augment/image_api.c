/* augment/image_api.c - the pixel functions of imrec/image.h, on a caller's own images. */
#include "augment/normalize/normalize.h"
#include "augment/resize/resize_passes.h"
#include "base/error.h"

#include <string.h>

static enum imrec_status
check_image(const struct imrec_image *i, const char *which, struct imrec_error *err)
{
    if (i == NULL || i->pixels == NULL)
        return IMREC_REFUSE(err, "the %s image is missing: NULL", which);
    if (i->channels != 1 && i->channels != 3 && i->channels != 4)
        return IMREC_REFUSE(err, "the %s image has %u channels; 1, 3 or 4 are right", which,
                            i->channels);
    if (i->width == 0 || i->height == 0 || i->stride / i->channels < i->width)
        return IMREC_REFUSE(err,
                            "the %s image is %u x %u px in rows of %zu bytes: sides must be "
                            "at least 1, and a row must hold its pixels",
                            which, i->width, i->height, i->stride);
    return IMREC_OK;
}

enum imrec_status imrec_image_resize(const struct imrec_image *from, const struct imrec_image *to,
                                     int inter_method, struct imrec_error *err)
{
    struct resize_scratch *scratch;
    IMREC_TRY(check_image(from, "source", err));
    IMREC_TRY(check_image(to, "target", err));
    if (from->channels != to->channels)
        return IMREC_REFUSE(err, "source and target must have the same number of channels");
    if (inter_method < 0 || inter_method >= RESIZE_METHODS)
        return IMREC_REFUSE(err,
                            "inter_method must be 0 (nearest), 1 (bilinear), 2 (cubic), 3 (area) "
                            "or 4 (Lanczos), not %d",
                            inter_method);
    const struct resize_job job = {
        .from_width = from->width,
        .from_height = from->height,
        .to_width = to->width,
        .to_height = to->height,
        .window = {0, 0, to->width, to->height},
        .method = (enum resize_method)inter_method,
    };
    IMREC_TRY(resize_scratch_new(&scratch, err));
    const struct imrec_rect region = resize_source_region(&job);
    struct imrec_image part = *from;
    part.pixels += (size_t)region.y * from->stride + (size_t)region.x * from->channels;
    part.width = region.width;
    part.height = region.height;
    const enum imrec_status st = resize_window_into(&job, &part, to, scratch, cpu_level(), err);
    resize_scratch_free(scratch);
    return st;
}

enum imrec_status imrec_image_crop_normalize(const struct imrec_image *from, struct imrec_rect crop,
                                             const struct imrec_normalize *how, void *out,
                                             struct imrec_error *err)
{
    IMREC_TRY(check_image(from, "source", err));
    if (how == NULL || out == NULL)
        return IMREC_REFUSE(err, "how to normalize and where to must be given: NULL");
    if (crop.width == 0 || crop.height == 0 || crop.x > from->width || crop.y > from->height ||
        crop.width > from->width - crop.x || crop.height > from->height - crop.y)
        return IMREC_REFUSE(
            err, "a crop of %u x %u px at (%u, %u) does not lie in an image of %u x %u px",
            crop.width, crop.height, crop.x, crop.y, from->width, from->height);
    struct normalize_job job = {.width = crop.width,
                                .height = crop.height,
                                .channels = from->channels,
                                .how = *how,
                                .out = out};
    IMREC_TRY(normalize_prepare(&job, err));
    normalize_row_fn *row = normalize_row();
    const uint8_t *at =
        from->pixels + (size_t)crop.y * from->stride + (size_t)crop.x * from->channels;
    for (uint32_t y = 0; y < crop.height; y++)
        row(&job, at + (size_t)y * from->stride, y);
    normalize_finish(&job);
    return IMREC_OK;
}

void imrec_image_mirror(const struct imrec_image *image)
{
    const size_t c = image->channels;
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *left = image->pixels + (size_t)y * image->stride;
        uint8_t *right = left + ((size_t)image->width - 1) * c;
        for (; left < right; left += c, right -= c) {
            uint8_t pixel[4];
            memcpy(pixel, left, c);
            memcpy(left, right, c);
            memcpy(right, pixel, c);
        }
    }
}
