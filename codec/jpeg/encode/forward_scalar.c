/* codec/jpeg/encode/forward_scalar.c - the truth of the forward DCT: the slow integer transform of
 * libjpeg (Loeffler, Ligtenberg, Moschytz 1989), multiplied out, the transpose of the inverse. No
 * sum can overflow 16 bits where a vector has no more. */
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/kernels/idct_factors.h"

void colour_scalar(const uint8_t *rgb, uint32_t n, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    for (uint32_t i = 0; i < n; i++, rgb += 3) {
        const int32_t r = rgb[0], g = rgb[1], b = rgb[2];
        y[i] = (uint8_t)((r * Y_RED + g * Y_GREEN + b * Y_BLUE + COLOUR_HALF) >> COLOUR_FRACTION);
        cb[i] = (uint8_t)((r * CB_RED + g * CB_GREEN + b * COLOUR_HALF + CHROMA_BIAS) >>
                          COLOUR_FRACTION);
        cr[i] = (uint8_t)((r * COLOUR_HALF + g * CR_GREEN + b * CR_BLUE + CHROMA_BIAS) >>
                          COLOUR_FRACTION);
    }
}

void halve_scalar(const uint8_t *above, const uint8_t *below, uint32_t n, uint8_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)((above[2 * i] + above[2 * i + 1] + below[2 * i] + below[2 * i + 1] + 1 +
                            (i & 1)) >>
                           2);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int16_t descaled(int32_t v, int shift)
{
    return (int16_t)((v + (1 << (shift - 1))) >> shift);
}

/* Eight values, `step` apart, in place. `first`: of the two passes. */
static void transform(int16_t *v, size_t step, bool first)
{
    const int shift = first ? IDCT_SHIFT_1 : IDCT_SHIFT_2 - 3;
    int32_t sum[4], d[4];
    for (size_t k = 0; k < 4; k++) {
        sum[k] = v[k * step] + v[(7 - k) * step];
        d[3 - k] = v[k * step] - v[(7 - k) * step];
    }
    const int32_t s0 = sum[0] + sum[3], s3 = sum[0] - sum[3];
    const int32_t s1 = sum[1] + sum[2], s2 = sum[1] - sum[2];
    v[0] = first ? (int16_t)((s0 + s1) * (1 << IDCT_KEPT)) : descaled(s0 + s1, IDCT_KEPT);
    v[4 * step] = first ? (int16_t)((s0 - s1) * (1 << IDCT_KEPT)) : descaled(s0 - s1, IDCT_KEPT);
    v[2 * step] = descaled(s3 * F_E0_2 + s2 * F_E0_6, shift);
    v[6 * step] = descaled(s3 * F_E1_2 + s2 * F_E1_6, shift);
    v[step] = descaled(d[0] * F_O0_7 + d[1] * F_O0_5 + d[2] * F_O0_3 + d[3] * F_O0_1, shift);
    v[3 * step] = descaled(d[0] * F_O1_7 + d[1] * F_O1_5 + d[2] * F_O1_3 + d[3] * F_O1_1, shift);
    v[5 * step] = descaled(d[0] * F_O2_7 + d[1] * F_O2_5 + d[2] * F_O2_3 + d[3] * F_O2_1, shift);
    v[7 * step] = descaled(d[0] * F_O3_7 + d[1] * F_O3_5 + d[2] * F_O3_3 + d[3] * F_O3_1, shift);
}

static void
one_block(const uint8_t *samples, size_t stride, const struct quantizer *q, int16_t *coef)
{
    int16_t v[64];
    for (size_t y = 0; y < 8; y++) {
        for (size_t x = 0; x < 8; x++)
            v[8 * y + x] = (int16_t)(samples[y * stride + x] - 128);
        transform(v + 8 * y, 1, true);
    }
    for (size_t x = 0; x < 8; x++)
        transform(v + x, 8, false);
    for (int k = 0; k < 64; k++)
        v[k] = quantized(q, k, v[k]);
    block_order(v, coef);
}

void blocks_scalar(const struct forward_blocks *b, const struct quantizer *q)
{
    for (uint32_t i = 0; i < b->n; i++) {
        int16_t *coef = b->coef + (size_t)64 * i;
        one_block(b->samples + (size_t)8 * i, b->stride, q, coef);
        b->occupied[i] = block_occupied(coef);
    }
}
