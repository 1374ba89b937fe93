/* augment/colour/blur_scalar.c - neighbours weighed: the kernels that the others must equal. */
#include "augment/colour/blur.h"

void blur_scalar(const int16_t *const *rows, const int16_t *weights, uint32_t pairs, uint32_t shift,
                 int16_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = 1 << (shift - 1);
        for (uint32_t k = 0; k < 2 * pairs; k++)
            sum += weights[k] * rows[k][i];
        out[i] = (int16_t)(sum >> shift);
    }
}

void widen_scalar(const uint8_t *from, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int16_t)(from[i] << BLUR_BITS);
}

void narrow_scalar(const int16_t *from, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)((from[i] + (1 << (BLUR_BITS - 1))) >> BLUR_BITS);
}

void smooth_scalar(const uint8_t *const rows[3], uint32_t step, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t sum = 4u * rows[1][i] + 6; /* to the nearest */
        for (int k = 0; k < 3; k++)
            sum += rows[k][(ptrdiff_t)i - (ptrdiff_t)step] + rows[k][i] + rows[k][i + step];
        out[i] = (uint8_t)(sum / 13);
    }
}

void mix_scalar(float factor, uint8_t *a, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float v = (float)b[i] + factor * ((float)a[i] - (float)b[i]);
        a[i] = (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : v);
    }
}
