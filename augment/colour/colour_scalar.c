/* augment/colour/colour_scalar.c - the colour kernels that the others must equal. */
#include "augment/colour/colour.h"

#include "base/math.h"

#include <float.h>
#include <math.h>

/* Which of (largest, middle, smallest) red, green and blue are, by sixth of the circle. */
enum { HIGH, BETWEEN, LOW };
static const uint8_t sixths[6][3] = {{HIGH, BETWEEN, LOW}, {BETWEEN, HIGH, LOW},
                                     {LOW, HIGH, BETWEEN}, {LOW, BETWEEN, HIGH},
                                     {BETWEEN, LOW, HIGH}, {HIGH, LOW, BETWEEN}};

static uint8_t rounded(float v) /* to even, saturated */
{
    return (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : lrintf(v));
}

void colour_map_scalar(uint8_t *px, uint32_t n, uint32_t channels, const uint8_t map[3][256])
{
    if (channels == 1)
        for (uint32_t i = 0; i < n; i++)
            px[i] = map[0][px[i]];
    else
        for (uint32_t i = 0; i < n; i++, px += channels) {
            px[0] = map[0][px[0]];
            px[1] = map[1][px[1]];
            px[2] = map[2][px[2]];
        }
}

uint64_t
grey_sum_scalar(const struct grey_weights *w, const uint8_t *px, uint32_t n, uint32_t channels)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++, px += channels)
        sum += grey_of(w, px);
    return sum;
}

void saturation_scalar(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n,
                       uint32_t channels)
{
    for (uint32_t i = 0; i < n; i++, px += channels) {
        const float grey = (float)grey_of(w, px) * (1 - factor);
        for (int c = 0; c < 3; c++) {
            const float value = (float)px[c] * factor;
            px[c] = rounded(value + grey);
        }
    }
}

/* ---- HLS ---------------------------------------------------------------------------------- */

static void to_hls(const uint8_t *px, uint8_t hls[3])
{
    const float unit = 1.0f / 255, r = (float)px[0] * unit, g = (float)px[1] * unit,
                b = (float)px[2] * unit;
    const float hi = fmaxf(fmaxf(r, g), b), lo = fminf(fminf(r, g), b);
    const float delta = hi - lo, sum = hi + lo, l = sum * 0.5f;
    float h = 0, s = 0;
    if (delta > FLT_EPSILON) {
        const float k = 60 / delta;
        s = delta / (l < 0.5f ? sum : 2 - sum);
        if (hi == r)
            h = (g - b) * k;
        else if (hi == g)
            h = (b - r) * k + 120;
        else
            h = (r - g) * k + 240;
        if (h < 0)
            h += 360;
        h *= 0.5f;
    }
    hls[0] = rounded(h);
    hls[1] = rounded(l * 255);
    hls[2] = rounded(s * 255);
}

static void from_hls(const int32_t hls[3], uint8_t *px)
{
    const float unit = 1.0f / 255, l = (float)hls[1] * unit, s = (float)hls[2] * unit;
    float h = (float)hls[0] * (6.0f / 180), of[3];
    of[HIGH] = l <= 0.5f ? l * (1 + s) : (l + s) - l * s;
    of[LOW] = 2 * l - of[HIGH];
    if (h >= 6)
        h -= 6;
    const int sixth = (int)h;
    h -= (float)sixth;
    of[BETWEEN] = of[LOW] + (of[HIGH] - of[LOW]) * (sixth % 2 ? 1 - h : h);
    for (int c = 0; c < 3; c++)
        px[c] = rounded(of[sixths[sixth][c]] * 255);
}

void hls_shift_scalar(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels)
{
    for (uint32_t i = 0; i < n; i++, px += channels) {
        uint8_t was[3];
        to_hls(px, was);
        const int32_t is[3] = {clamp_i32(was[0] + shift[0], 0, 180),
                               clamp_i32(was[1] + shift[1], 0, 255),
                               clamp_i32(was[2] + shift[2], 0, 255)};
        from_hls(is, px);
    }
}

/* ---- hue ---------------------------------------------------------------------------------- */

/* Turned in HSV: the largest and the smallest of a pixel's three values stay; which colour has
 * which changes, and so does the value in the middle. */
void hue_turn_scalar(float turn, uint8_t *px, uint32_t n, uint32_t channels)
{
    for (uint32_t i = 0; i < n; i++, px += channels) {
        const float r = px[0], g = px[1], b = px[2];
        const float hi = fmaxf(fmaxf(r, g), b), lo = fminf(fminf(r, g), b), delta = hi - lo;
        float h;
        if (delta == 0)
            continue;
        if (hi == r)
            h = (g - b) / delta;
        else if (hi == g)
            h = (b - r) / delta + 2;
        else
            h = (r - g) / delta + 4;
        h += turn;
        if (h < 0)
            h += 6;
        if (h >= 6)
            h -= 6;
        const int sixth = (int)h;
        h -= (float)sixth;
        const float between = lo + delta * (sixth % 2 ? 1 - h : h);
        const uint8_t of[3] = {(uint8_t)hi, (uint8_t)lrintf(between), (uint8_t)lo};
        for (int c = 0; c < 3; c++)
            px[c] = of[sixths[sixth][c]];
    }
}
