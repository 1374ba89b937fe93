/* codec/jpeg/kernels/idct_scalar.c - the truth of the inverse DCT.
 *
 * The slow integer transform of libjpeg (Loeffler, Ligtenberg, Moschytz, "Practical Fast 1-D DCT
 * Algorithms with 11 Multiplications", 1989), arranged as pairs of products, and where
 * libjpeg-turbo's vectors work in 16 bits so does this: products with the quantization and three
 * sums wrap, what is between the passes and the samples saturate. So it equals them for
 * whatever a file holds. No intermediate of 32 bits can overflow. */
#include "base/math.h"
#include "codec/jpeg/kernels/idct_factors.h"
#include "codec/jpeg/kernels/variants.h"

static int16_t wrapped(int32_t v)
{
    return (int16_t)(uint16_t)v;
}

/* Eight values `in`, `step` apart -> out[8], 13 bits of fraction more. */
static void transform(const int16_t *in, size_t step, int32_t out[8])
{
    const int32_t i1 = in[step], i2 = in[2 * step], i3 = in[3 * step], i5 = in[5 * step],
                  i6 = in[6 * step], i7 = in[7 * step];
    const int32_t sum = wrapped(in[0] + in[4 * step]) * (1 << IDCT_FRACTION);
    const int32_t difference = wrapped(in[0] - in[4 * step]) * (1 << IDCT_FRACTION);
    const int32_t e2 = i2 * IDCT_0_541 + i6 * (IDCT_0_541 - IDCT_1_847);
    const int32_t e3 = i2 * (IDCT_0_541 + IDCT_0_765) + i6 * IDCT_0_541;
    const int32_t even[4] = {sum + e3, difference + e2, difference - e2, sum - e3};

    const int32_t s37 = wrapped(i3 + i7), s15 = wrapped(i1 + i5);
    const int32_t z3 = s37 * (IDCT_1_175 - IDCT_1_961) + s15 * IDCT_1_175;
    const int32_t z4 = s37 * IDCT_1_175 + s15 * (IDCT_1_175 - IDCT_0_390);
    const int32_t odd[4] = {
        i1 * (IDCT_1_501 - IDCT_0_899) - i7 * IDCT_0_899 + z4,
        i3 * (IDCT_3_072 - IDCT_2_562) - i5 * IDCT_2_562 + z3,
        i5 * (IDCT_2_053 - IDCT_2_562) - i3 * IDCT_2_562 + z4,
        i7 * (IDCT_0_298 - IDCT_0_899) - i1 * IDCT_0_899 + z3,
    };
    for (int k = 0; k < 4; k++) {
        out[k] = even[k] + odd[k];
        out[7 - k] = even[k] - odd[k];
    }
}

static void samples(const int16_t row[8], uint8_t *out)
{
    int32_t v[8];
    transform(row, 1, v);
    for (int k = 0; k < 8; k++)
        out[k] =
            (uint8_t)(clamp_i32((v[k] + (1 << (IDCT_SHIFT_2 - 1))) >> IDCT_SHIFT_2, -128, 127) +
                      128);
}

/* Nothing below the first row: a case of its own because only then libjpeg-turbo wraps, and does
 * not saturate, the values between the passes. */
static bool is_one_row(const int16_t *coef)
{
    int16_t below = 0;
    for (int i = 8; i < 64; i++)
        below |= coef[i];
    return below == 0;
}

static void one_row(const int16_t *coef, const uint16_t *quant, uint8_t *out, size_t stride)
{
    int16_t row[8];
    for (int k = 0; k < 8; k++)
        row[k] = wrapped(wrapped(coef[k] * (int16_t)quant[k]) * (1 << IDCT_KEPT));
    for (size_t y = 0; y < 8; y++)
        samples(row, out + y * stride);
}

void idct_scalar(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                 size_t stride)
{
    int16_t block[64];
    if (last == 0) {
        idct_flat(coef[0], quant[0], out, stride);
        return;
    }
    if (is_one_row(coef)) {
        one_row(coef, quant, out, stride);
        return;
    }
    for (int i = 0; i < 64; i++)
        block[i] = wrapped(coef[i] * (int16_t)quant[i]);
    for (int x = 0; x < 8; x++) {
        int32_t v[8];
        transform(block + x, 8, v);
        for (int y = 0; y < 8; y++)
            block[8 * y + x] = (int16_t)clamp_i32(
                (v[y] + (1 << (IDCT_SHIFT_1 - 1))) >> IDCT_SHIFT_1, INT16_MIN, INT16_MAX);
    }
    for (int y = 0; y < 8; y++)
        samples(block + 8 * y, out + (size_t)y * stride);
}
