/* augment/hue.c - the hue, turned in HSV: the greatest and the least of a pixel's three values
 * stay, which of them is which colour's changes, and what lies between. */
#include "augment/ops.h"

#include <math.h>

/* Which of (greatest, between, least) red, green and blue are, by sixth of the circle. */
enum { HIGH, BETWEEN, LOW };
static const uint8_t sixths[6][3] = {{HIGH, BETWEEN, LOW}, {BETWEEN, HIGH, LOW},
                                     {LOW, HIGH, BETWEEN}, {LOW, BETWEEN, HIGH},
                                     {BETWEEN, LOW, HIGH}, {HIGH, LOW, BETWEEN}};

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
