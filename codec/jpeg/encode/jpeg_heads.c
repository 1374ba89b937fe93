/* codec/jpeg/encode/jpeg_heads.c */
#include "codec/jpeg/encode/jpeg_heads.h"

#include "base/math.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/kernels/zigzag.h"

#include <string.h>

/* T.81, tables K.1 and K.2; the second repeats its last column and row. */
static const uint8_t g_steps[2][64] = {
    {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
     14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
     18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
     49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
     99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99},
};

void jpeg_steps(uint32_t table, int quality, uint8_t steps[64])
{
    const int32_t percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int k = 0; k < 64; k++)
        steps[k] = (uint8_t)clamp_i32((g_steps[table][k] * percent + 50) / 100, 1, 255);
}

/* ---- segments ------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *to, const uint8_t *p, size_t n)
{
    memcpy(to, p, n);
    return to + n;
}

static uint8_t *put_16(uint8_t *to, uint32_t v)
{
    *to++ = (uint8_t)(v >> 8);
    *to++ = (uint8_t)v;
    return to;
}

/* A marker and the length of its segment with `bytes` after it. */
static uint8_t *put_segment(uint8_t *to, uint32_t marker, uint32_t bytes)
{
    return put_16(put_16(to, 0xFF00 | marker), bytes + 2);
}

static uint8_t *put_steps(uint8_t *to, uint32_t table, int quality)
{
    uint8_t steps[64];
    jpeg_steps(table, quality, steps);
    to = put_segment(to, 0xDB, 1 + 64);
    *to++ = (uint8_t)table;
    for (int k = 0; k < 64; k++)
        *to++ = steps[natural_order[k]];
    return to;
}

static uint8_t *put_frame(uint8_t *to, const struct imrec_image *image, bool full_chroma)
{
    const uint32_t components = image->channels;
    const uint8_t luma = components == 3 && !full_chroma ? 0x22 : 0x11;
    to = put_segment(to, 0xC0, 6 + 3 * components);
    *to++ = 8;
    to = put_16(put_16(to, image->height), image->width);
    *to++ = (uint8_t)components;
    for (uint32_t c = 0; c < components; c++) {
        const uint8_t component[3] = {(uint8_t)(c + 1), c == 0 ? luma : 0x11, c > 0};
        to = put(to, component, sizeof(component));
    }
    return to;
}

static uint8_t *put_scan(uint8_t *to, uint32_t components)
{
    static const uint8_t all_of_each[3] = {0, 63, 0};
    to = put_segment(to, 0xDA, 1 + 2 * components + 3);
    *to++ = (uint8_t)components;
    for (uint32_t c = 0; c < components; c++) {
        *to++ = (uint8_t)(c + 1);
        *to++ = c > 0 ? 0x11 : 0x00;
    }
    return put(to, all_of_each, sizeof(all_of_each));
}

void jpeg_heads_make(struct jpeg_heads *h, const struct imrec_image *image,
                     const struct jpeg_encoding *how, uint32_t restart)
{
    /* version 1.1, no unit of density, 1 x 1, no thumbnail */
    static const uint8_t jfif[14] = {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    uint8_t *to = put_16(h->head, 0xFFD8);
    to = put(put_segment(to, 0xE0, sizeof(jfif)), jfif, sizeof(jfif));
    for (uint32_t table = 0; table < (image->channels == 1 ? 1 : 2); table++)
        to = put_steps(to, table, how->quality);
    to = put_frame(to, image, how->full_chroma);
    h->head_bytes = (size_t)(to - h->head);

    to = h->scan_head;
    if (restart > 0)
        to = put_16(put_segment(to, 0xDD, 2), restart);
    to = put_scan(to, image->channels);
    h->scan_head_bytes = (size_t)(to - h->scan_head);
}
