/* im2rec/item/cbf_record.c - an image as the first stream of a CBF file. */
#include "im2rec/item/cbf_record.h"
#include "base/error.h"

#include <string.h>

#define ROW 256u /* values converted at once */

static enum imrec_status append_u32(struct buf *out, uint32_t v, struct imrec_error *err)
{
    uint8_t le[4];
    store_le32(le, v);
    return buf_append(out, le, sizeof(le), err);
}

/* The bytes are four to an element and never taken for numbers: moved, not computed with. */
enum imrec_status cbf_image_record(struct bytes image, struct buf *out, struct imrec_error *err)
{
    static const uint8_t zeros[4];
    const uint32_t n = (uint32_t)image.n, elements = (n + 3) / 4; /* an image is below 2^29 */
    IMREC_TRY(append_u32(out, n, err));
    IMREC_TRY(append_u32(out, elements, err));
    IMREC_TRY(buf_append(out, image.p, image.n, err));
    return buf_append(out, zeros, elements * 4 - n, err);
}

/* A row of a channel, as floats. */
static enum imrec_status append_row(const struct imrec_image *image, const uint8_t *row,
                                    struct buf *out, struct imrec_error *err)
{
    float values[ROW];
    for (uint32_t x = 0; x < image->width; x += ROW) {
        const uint32_t n = image->width - x < ROW ? image->width - x : ROW;
        for (uint32_t i = 0; i < n; i++)
            values[i] = row[(size_t)(x + i) * image->channels];
        IMREC_TRY(buf_append(out, values, n * sizeof(*values), err));
    }
    return IMREC_OK;
}

enum imrec_status
cbf_pixel_record(const struct imrec_image *image, struct buf *out, struct imrec_error *err)
{
    IMREC_TRY(append_u32(out, image->width * image->height * image->channels, err));
    IMREC_TRY(append_u32(out, 1, err));
    for (uint32_t c = 0; c < image->channels; c++)
        for (uint32_t y = 0; y < image->height; y++)
            IMREC_TRY(append_row(image, image->pixels + y * (size_t)image->stride + c, out, err));
    return IMREC_OK;
}
