/* codec/jpeg/encode/quantizer.c */
#include "codec/jpeg/encode/quantizer.h"

void quantizer_make(struct quantizer *q, const uint8_t steps[64])
{
    for (int k = 0; k < 64; k++) {
        const uint32_t d = 8u * steps[k];
        uint32_t s = 31 - (uint32_t)__builtin_clz(d);
        if ((d & (d - 1)) == 0)
            s--;
        q->half[k] = (uint16_t)(d / 2);
        q->factor[k] = (uint16_t)(((1u << (16 + s)) + d - 1) / d);
        q->scale[k] = (uint16_t)(1u << (16 - s));
    }
}
