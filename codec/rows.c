/*
 * codec/rows.c - room for rows, and rows of the formats that are decoded by the whole row, to the
 * sink.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"

enum imrec_status codec_reserve(struct buf *b, size_t bytes, struct imrec_error *err)
{
    if (bytes <= b->cap)
        return IMREC_OK;
    imrec_free(b->p); /* contents need not survive: no copy */
    *b = (struct buf){.p = imrec_realloc(NULL, bytes, 1), .max = b->max};
    if (b->p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %zu bytes of decoded rows", bytes);
    b->cap = bytes;
    return IMREC_OK;
}

enum imrec_status
codec_reserve_whole(struct codec *c, uint32_t bytes_per_pixel, struct imrec_error *err)
{
    return image_resize_buffer(&c->whole, c->info.width, c->info.height, bytes_per_pixel, err);
}

void rows_give(struct rows *r, const struct conversion *how, const uint8_t *row, uint32_t y)
{
    if (r->sink == NULL || y < r->region.y || y - r->region.y >= r->region.height)
        return;
    colour_row(how, row + r->region.x * pixels_bytes(how->from), r->region.width, r->line);
    r->sink(r->context, y - r->region.y, r->line);
}

void rows_give_all(struct rows *r, const struct conversion *how, const struct imrec_image *image)
{
    for (uint32_t y = 0; y < image->height; y++)
        rows_give(r, how, image->pixels + y * image->stride, y);
}

enum imrec_status
codec_truncated(const struct codec *c, struct rows *r, uint32_t y, struct imrec_error *err)
{
    r->warnings++;
    if (c->limits.accept_truncated)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, c->image.n,
                          "%s: truncated: the data end at byte %zu, in row %u of %u of pixels",
                          c->info.format, c->image.n, y, c->info.height);
}
