/* augment/colour/weigh.c - a weighted sum of images: the scalar that the other variant must
 * equal. */
#include "augment/colour/weigh.h"

void weigh_scalar(float share, const uint8_t *px, float *sum, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float v = share * (float)px[i];
        sum[i] = sum[i] + v;
    }
}
