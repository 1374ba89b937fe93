/* codec/jpeg/kernels/idct_factors.h - the slow integer DCT's factors (Loeffler, Ligtenberg,
 * Moschytz 1989, 13 bits of fraction), and what its variants share. */
#ifndef IMREC_CODEC_JPEG_KERNELS_IDCT_FACTORS_H
#define IMREC_CODEC_JPEG_KERNELS_IDCT_FACTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    IDCT_0_298 = 2446,
    IDCT_0_390 = 3196,
    IDCT_0_541 = 4433,
    IDCT_0_765 = 6270,
    IDCT_0_899 = 7373,
    IDCT_1_175 = 9633,
    IDCT_1_501 = 12299,
    IDCT_1_847 = 15137,
    IDCT_1_961 = 16069,
    IDCT_2_053 = 16819,
    IDCT_2_562 = 20995,
    IDCT_3_072 = 25172,
    IDCT_FRACTION = 13,
    IDCT_KEPT = 2, /* bits of fraction between the passes */
    IDCT_SHIFT_1 = IDCT_FRACTION - IDCT_KEPT,
    IDCT_SHIFT_2 = IDCT_FRACTION + IDCT_KEPT + 3,
    IDCT_CORNER = 9,    /* the last zigzag index within the first 4 rows and columns */
    IDCT_LARGE = 0xc000 /* bits of a magnitude, between the passes: see below */
};

/* Multiplied out: F_E1_6 is what value 6 counts in even[1] (scalar transform()); E3 and E2 are E0
 * and E1 with the signs of 2 and 6 turned.
 *
 * The scalar truth, like libjpeg-turbo, factorizes, and its sums of two values wrap at 16 bits.
 * Sums of products are equal to it as long as no sum of two values overflows: where a value
 * between the passes reaches 2^14 a vector leaves the block to the scalar truth. (What is below
 * came from less: the transform is orthogonal but for its scale, so its input was below
 * 1.39 * 2^12.) 32 bits are enough for any input: the factors of an output come to 61,213. */
enum {
    F_1 = 1 << IDCT_FRACTION,
    F_E0_2 = IDCT_0_541 + IDCT_0_765,
    F_E0_6 = IDCT_0_541,
    F_E1_2 = IDCT_0_541,
    F_E1_6 = IDCT_0_541 - IDCT_1_847,

    F_O0_1 = IDCT_1_501 - IDCT_0_899 + IDCT_1_175 - IDCT_0_390,
    F_O0_3 = IDCT_1_175,
    F_O0_5 = IDCT_1_175 - IDCT_0_390,
    F_O0_7 = IDCT_1_175 - IDCT_0_899,
    F_O1_1 = IDCT_1_175,
    F_O1_3 = IDCT_3_072 - IDCT_2_562 + IDCT_1_175 - IDCT_1_961,
    F_O1_5 = IDCT_1_175 - IDCT_2_562,
    F_O1_7 = IDCT_1_175 - IDCT_1_961,
    F_O2_1 = IDCT_1_175 - IDCT_0_390,
    F_O2_3 = IDCT_1_175 - IDCT_2_562,
    F_O2_5 = IDCT_2_053 - IDCT_2_562 + IDCT_1_175 - IDCT_0_390,
    F_O2_7 = IDCT_1_175,
    F_O3_1 = IDCT_1_175 - IDCT_0_899,
    F_O3_3 = IDCT_1_175 - IDCT_1_961,
    F_O3_5 = IDCT_1_175,
    F_O3_7 = IDCT_0_298 - IDCT_0_899 + IDCT_1_175 - IDCT_1_961
};

/* Two factors of 16 bits as one value of 32. */
#define PAIR(first, second) ((int32_t)((uint32_t)(uint16_t)(first) | (uint32_t)(second) << 16))

/* A block that is DC alone: wraps between the passes, as libjpeg-turbo's does. */
static inline void idct_flat(int16_t dc, uint16_t quant, uint8_t *out, size_t stride)
{
    const int32_t kept = (int16_t)(uint16_t)((uint32_t)dc * quant << IDCT_KEPT);
    const int32_t v = (kept + 16) >> 5;
    const uint64_t eight = 0x0101010101010101u * (uint8_t)(v < -128 ? 0 : v > 127 ? 255 : v + 128);
    for (size_t y = 0; y < 8; y++)
        memcpy(out + y * stride, &eight, 8);
}
#endif
