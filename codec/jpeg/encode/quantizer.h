/* codec/jpeg/encode/quantizer.h - division of what the forward DCT gives, 8 times the coefficients,
 * by 8 times the steps, rounded half away from 0, as two products of 16 bits.
 *
 * With d = 8 step, s = floor(log2 d) and m = ceil(2^(16 + s) / d): floor(n m / 2^(16 + s)) is
 * floor(n / d) for every n < 2^14, since m d is less than 2^(16 + s) + d (Granlund, Montgomery,
 * "Division by Invariant Integers using Multiplication", 1994); and n, a magnitude and d / 2, is
 * below 8192 + 1021. Where d is a power of two, m takes a bit less. */
#ifndef IMREC_CODEC_JPEG_ENCODE_QUANTIZER_H
#define IMREC_CODEC_JPEG_ENCODE_QUANTIZER_H

#include <stdint.h>

struct quantizer {                            /* natural order */
    uint16_t half[64], factor[64], scale[64]; /* ((n + half) * factor >> 16) * scale >> 16 */
};

/* steps: 1..255, natural order. */
void quantizer_make(struct quantizer *q, const uint8_t steps[64]);

static inline int16_t quantized(const struct quantizer *q, int k, int32_t v)
{
    const uint32_t n = (uint32_t)(v < 0 ? -v : v) + q->half[k];
    const int32_t level = (int32_t)((n * q->factor[k] >> 16) * q->scale[k] >> 16);
    return (int16_t)(v < 0 ? -level : level);
}
#endif
