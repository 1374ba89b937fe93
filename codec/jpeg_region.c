/*
 * codec/jpeg_region.c - how little of a JPEG can be decoded for a region of it.
 *
 * jpeg_crop_scanline() aligns a window's left edge to the MCU and makes no other column; at the
 * window's edges chroma upsampling takes the edge of the window for the edge of the image,
 * and in a window of very few chroma columns it falls back to repeating pixels. So the window
 * is a column wider on both sides than the region, and never narrow. jpeg_skip_scanlines() reads
 * the row above by itself where upsampling needs it.
 *
 * The layouts below are those for which tests/codec/test_jpeg_region.c has shown every pixel
 * to be that of a full decode. All others, and progressive images that libjpeg smooths
 * because coefficients are missing, are decoded whole and cut.
 */
#include "codec/jpeg_region.h"

enum { LEAST_COLUMNS = 64 };

bool jpeg_coefficients_known(const struct jpeg_decompress_struct *cinfo)
{
    if (!cinfo->progressive_mode || cinfo->coef_bits == NULL)
        return true;
    for (int c = 0; c < cinfo->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (cinfo->coef_bits[c][k] != 0)
                return false;
    return true;
}

static bool is_proven(const struct jpeg_head *h)
{
    const char *sampling = jpeg_head_sampling(h);
    if (h->components == 1)
        return h->h[0] == 1 && h->v[0] == 1;
    return sampling[0] == '4' && h->h[1] == 1 && h->v[1] == 1;
}

struct jpeg_window
jpeg_window_set(struct jpeg_reader *r, const struct jpeg_head *head, struct imrec_rect region)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    const uint32_t all = cinfo->output_width;
    uint32_t left = region.x > 0 ? region.x - 1 : 0;
    uint32_t right = region.x + region.width < all ? region.x + region.width + 1 : all;
    if (!is_proven(head) || !jpeg_coefficients_known(cinfo))
        return (struct jpeg_window){0, all, 0, region.x};
    if (right - left < LEAST_COLUMNS)
        left = right > LEAST_COLUMNS ? right - LEAST_COLUMNS : 0;
    if (right - left < LEAST_COLUMNS)
        right = all < LEAST_COLUMNS ? all : LEAST_COLUMNS;
    JDIMENSION x = left, width = right - left;
    jpeg_crop_scanline(cinfo, &x, &width);
    return (struct jpeg_window){x, width, region.y, region.x - x};
}
