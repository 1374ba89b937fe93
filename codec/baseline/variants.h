/* codec/baseline/variants.h - what the table of kernels is filled with. */
#ifndef IMREC_CODEC_BASELINE_VARIANTS_H
#define IMREC_CODEC_BASELINE_VARIANTS_H

#include "codec/baseline/kernels.h"

/* Factors of the slow integer DCT (Loeffler, Ligtenberg, Moschytz 1989), 13 bits of fraction. */
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
    IDCT_KEPT = 2 /* bits of fraction between the passes */
};

/* JFIF's YCbCr to RGB, 16 bits of fraction. */
enum { RED_CR = 91881, GREEN_CB = -22554, GREEN_CR = -46802, BLUE_CB = 116130 };

void idct_scalar(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                 size_t stride);
void row_444_scalar(const struct kernel_row *r);
void row_422_scalar(const struct kernel_row *r);
void row_420_scalar(const struct kernel_row *r);
void row_grey_scalar(const struct kernel_row *r);

/* The transform of a block with nothing below its first row: every variant's. False: there is
 * something. (It must be told apart: only here does libjpeg-turbo wrap, not saturate, what is
 * kept between the passes. It is faster, too.) */
bool idct_first_row(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out,
                    size_t stride);
#endif
