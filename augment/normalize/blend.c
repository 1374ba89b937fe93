/* augment/normalize/blend.c - two slots blended: the scalar that the other variants must equal. */
#include "augment/normalize/blend.h"

void blend_scalar(float share, float *a, float *b, size_t n)
{
    const float rest = 1 - share;
    for (size_t i = 0; i < n; i++) {
        const float x = a[i], y = b[i];
        a[i] = share * x + rest * y;
        b[i] = share * y + rest * x;
    }
}
