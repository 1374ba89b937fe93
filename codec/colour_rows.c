/*
 * codec/colour_rows.c - rows of pixels as formats store them, to grey, RGB or RGBA.
 *
 * The arithmetic is that of the decoders under OpenCV 3.4, which wrote the pixels that existing
 * models were trained on: 16 bits become 8 by v >> 8, alpha is dropped unless blending on white
 * is asked for, inks are multiplied by black without a colour profile.
 */
#include "codec/colour_rows.h"

#include <string.h>

size_t pixels_bytes(enum pixels from)
{
    static const uint8_t bytes[] = {[PIXELS_GREY] = 1,
                                    [PIXELS_RGB] = 3,
                                    [PIXELS_RGBA] = 4,
                                    [PIXELS_RGBA16] = 8,
                                    [PIXELS_CMYK] = 4};
    return bytes[from];
}

static uint8_t grey_of(enum grey_rule rule, const uint32_t *p)
{
    if (rule == GREY_PNG)
        return (uint8_t)((9797 * p[0] + 19234 * p[1] + 3737 * p[2]) >> 15);
    return (uint8_t)((4899 * p[0] + 9617 * p[1] + 1868 * p[2] + 8192) >> 14);
}

static uint8_t grey_of_16(const uint32_t *p)
{
    return (uint8_t)((9797 * p[0] + 19234 * p[1] + 3737 * p[2] + 16384) >> 15 >> 8);
}

static uint32_t on_white(uint32_t colour, uint32_t alpha)
{
    return (colour * alpha + 255 * (255 - alpha) + 127) / 255;
}

static uint8_t mixed(uint32_t ink, uint32_t black)
{
    return (uint8_t)(black - ((255 - ink) * black >> 8));
}

/* One pixel's R, G, B, A in 8 bits, inks mixed. */
static void load(enum pixels from, const uint8_t *p, uint32_t v[4])
{
    v[3] = 255;
    for (size_t i = 0; i < (from == PIXELS_RGBA ? 4 : 3); i++)
        v[i] = p[from == PIXELS_GREY ? 0 : i];
    if (from == PIXELS_CMYK)
        for (size_t i = 0; i < 3; i++)
            v[i] = mixed(p[i], p[3]);
}

static void load_16(const uint8_t *p, uint32_t v[4])
{
    uint16_t wide[4];
    memcpy(wide, p, sizeof(wide));
    for (size_t i = 0; i < 4; i++)
        v[i] = wide[i];
}

static void store(const struct conversion *how, uint32_t v[4], uint8_t *out)
{
    if (how->channels != 4 && how->alpha == CODEC_ALPHA_WHITE && v[3] != 255)
        for (size_t i = 0; i < 3; i++)
            v[i] = on_white(v[i], v[3]);
    if (how->channels == 1)
        out[0] = grey_of(how->grey, v);
    else
        for (size_t i = 0; i < how->channels; i++)
            out[i] = (uint8_t)v[i];
}

static void store_16(const struct conversion *how, uint32_t v[4], uint8_t *out)
{
    const bool opaque = how->alpha == CODEC_ALPHA_DROP || v[3] == 65535;
    if (how->channels == 1 && opaque) { /* weighed in 16 bits: one rounding */
        out[0] = grey_of_16(v);
        return;
    }
    for (size_t i = 0; i < 4; i++)
        v[i] >>= 8;
    store(how, v, out);
}

static void inks_to_rgb(const uint8_t *from, size_t n, uint8_t *out)
{
    for (; n > 0; n--, from += 4, out += 3)
        for (size_t i = 0; i < 3; i++)
            out[i] = mixed(from[i], from[3]);
}

void colour_row(const struct conversion *how, const uint8_t *from, size_t n, uint8_t *out)
{
    const size_t step = pixels_bytes(how->from);
    uint32_t v[4];
    if (step == how->channels && how->from != PIXELS_CMYK) {
        memcpy(out, from, n * step);
        return;
    }
    if (how->from == PIXELS_CMYK && how->channels == 3) {
        inks_to_rgb(from, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++, from += step, out += how->channels) {
        if (how->from == PIXELS_RGBA16) {
            load_16(from, v);
            store_16(how, v, out);
        } else {
            load(how->from, from, v);
            store(how, v, out);
        }
    }
}
