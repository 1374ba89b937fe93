/* codec/jpeg/kernels/rows_scalar.c - the truth of rows: chroma by libjpeg's triangle filter, then
 * YCbCr to RGB by its tables' arithmetic. */
#include "codec/jpeg/kernels/variants.h"

static uint8_t byte(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void pixel(uint8_t *rgb, int32_t y, int32_t cb, int32_t cr)
{
    enum { HALF = 1 << 15 };
    cb -= 128;
    cr -= 128;
    rgb[0] = byte(y + ((RED_CR * cr + HALF) >> 16));
    rgb[1] = byte(y + ((GREEN_CB * cb + GREEN_CR * cr + HALF) >> 16));
    rgb[2] = byte(y + ((BLUE_CB * cb + HALF) >> 16));
}

void row_444_scalar(const struct kernel_row *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        pixel(r->rgb + 3 * (size_t)i, r->y[i], r->cb[i], r->cr[i]);
}

/* Chroma of pixel i between two columns. */
static int32_t between(const uint8_t *row, ptrdiff_t i)
{
    const ptrdiff_t c = i / 2;
    return i % 2 == 0 ? (3 * row[c] + row[c - 1] + 1) >> 2 : (3 * row[c] + row[c + 1] + 2) >> 2;
}

void row_422_scalar(const struct kernel_row *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        pixel(r->rgb + 3 * (size_t)i, r->y[i], between(r->cb, i), between(r->cr, i));
}

/* Chroma of pixel i between two columns and two rows. */
static int32_t amid(const uint8_t *near, const uint8_t *far, ptrdiff_t i)
{
    const ptrdiff_t c = i / 2, next = i % 2 == 0 ? c - 1 : c + 1;
    const int32_t here = 3 * near[c] + far[c], there = 3 * near[next] + far[next];
    return (3 * here + there + (i % 2 == 0 ? 8 : 7)) >> 4;
}

void row_420_scalar(const struct kernel_row *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        pixel(r->rgb + 3 * (size_t)i, r->y[i], amid(r->cb, r->cb_far, i),
              amid(r->cr, r->cr_far, i));
}

void row_grey_scalar(const struct kernel_row *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        uint8_t *rgb = r->rgb + 3 * (size_t)i;
        rgb[0] = rgb[1] = rgb[2] = r->y[i];
    }
}
