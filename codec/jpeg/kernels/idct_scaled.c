/* codec/jpeg/kernels/idct_scaled.c - the truth of the inverse DCTs of images scaled by 1/2, 1/4 and
 * 1/8: those of libjpeg (its "reduced-size" transforms), 13 bits of fraction.
 *
 * What is between the passes saturates at 16 bits, as in libjpeg-turbo's vectors; that, and
 * products with the quantization that overflow 16 bits, no encoder makes. */
#include "codec/jpeg/kernels/idct_scaled.h"
#include "base/math.h"
#include "codec/jpeg/kernels/idct_factors.h"
#include "codec/jpeg/kernels/variants.h"

static int16_t product(const int16_t *coef, const uint16_t *quant, int i)
{
    return (int16_t)(uint16_t)(coef[i] * (int16_t)quant[i]);
}

/* Sums wrap at 32 bits, as vectors do. */
static int32_t descaled(uint32_t v, int shift)
{
    return (int32_t)(v + (1u << (shift - 1))) >> shift;
}

static int16_t kept(uint32_t v, int shift)
{
    return (int16_t)clamp_i32(descaled(v, shift), INT16_MIN, INT16_MAX);
}

static uint8_t sample(uint32_t v, int shift)
{
    return (uint8_t)(clamp_i32(descaled(v, shift), -128, 127) + 128);
}

static uint32_t times(int16_t v, int32_t factor)
{
    return (uint32_t)(v * factor);
}

/* Eight values, of which the fifth does not count, to four. */
static void four(const int16_t in[8], uint32_t out[4])
{
    const uint32_t dc = times(in[0], 1 << S4_FRACTION);
    const uint32_t even = times(in[2], S4_E_2) + times(in[6], S4_E_6);
    const uint32_t a =
        times(in[1], S4_A_1) + times(in[3], S4_A_3) + times(in[5], S4_A_5) + times(in[7], S4_A_7);
    const uint32_t b =
        times(in[1], S4_B_1) + times(in[3], S4_B_3) + times(in[5], S4_B_5) + times(in[7], S4_B_7);
    out[0] = dc + even + a;
    out[1] = dc - even + b;
    out[2] = dc - even - b;
    out[3] = dc + even - a;
}

void idct_4_scalar(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                   size_t stride)
{
    int16_t between[4][8];
    (void)last;
    for (int x = 0; x < 8; x++) {
        int16_t in[8];
        uint32_t v[4];
        for (int y = 0; y < 8; y++)
            in[y] = product(coef, quant, 8 * y + x);
        four(in, v);
        for (int y = 0; y < 4; y++)
            between[y][x] = kept(v[y], S4_SHIFT_1);
    }
    for (int y = 0; y < 4; y++) {
        uint32_t v[4];
        four(between[y], v);
        for (int x = 0; x < 4; x++)
            out[(size_t)y * stride + (size_t)x] = sample(v[x], S4_SHIFT_2);
    }
}

/* The first and the odd ones count. */
static void two(const int16_t in[8], uint32_t out[2])
{
    const uint32_t dc = times(in[0], 1 << S2_FRACTION);
    const uint32_t odd =
        times(in[1], S2_1) + times(in[3], S2_3) + times(in[5], S2_5) + times(in[7], S2_7);
    out[0] = dc + odd;
    out[1] = dc - odd;
}

void idct_2_scalar(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                   size_t stride)
{
    int16_t between[2][8] = {{0}};
    (void)last;
    for (int x = 0; x < 8; x += x == 0 ? 1 : 2) {
        int16_t in[8];
        uint32_t v[2];
        for (int y = 0; y < 8; y++)
            in[y] = product(coef, quant, 8 * y + x);
        two(in, v);
        between[0][x] = kept(v[0], S2_SHIFT_1);
        between[1][x] = kept(v[1], S2_SHIFT_1);
    }
    for (int y = 0; y < 2; y++) {
        uint32_t v[2];
        two(between[y], v);
        out[(size_t)y * stride] = sample(v[0], S2_SHIFT_2);
        out[(size_t)y * stride + 1] = sample(v[1], S2_SHIFT_2);
    }
}

/* An eighth of DC. */
void idct_1_scalar(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                   size_t stride)
{
    (void)last, (void)stride;
    *out = sample((uint32_t)product(coef, quant, 0), 3);
}
