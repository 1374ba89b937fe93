/* codec/jpeg/kernels/idct_scaled.h - factors of libjpeg's reduced inverse DCTs, 13 bits of
 * fraction: cosines of the eight-point transform's lower frequencies, over those of the smaller
 * one. */
#ifndef IMREC_CODEC_JPEG_KERNELS_IDCT_SCALED_H
#define IMREC_CODEC_JPEG_KERNELS_IDCT_SCALED_H

#include "codec/jpeg/kernels/idct_factors.h"

enum {
    /* 4 samples: of value k in the even part, and in the odd parts of outputs 0, 3 and 1, 2 */
    S4_E_2 = 15137,  /* 1.847759065 */
    S4_E_6 = -6270,  /* 0.765366865 */
    S4_A_1 = 20995,  /* 2.562915447 */
    S4_A_3 = 7373,   /* 0.899976223 */
    S4_A_5 = -4926,  /* 0.601344887 */
    S4_A_7 = -4176,  /* 0.509795579 */
    S4_B_1 = 8697,   /* 1.061594337 */
    S4_B_3 = -17799, /* 2.172734803 */
    S4_B_5 = 11893,  /* 1.451774981 */
    S4_B_7 = -1730,  /* 0.211164243 */
    S4_FRACTION = IDCT_FRACTION + 1,
    S4_SHIFT_1 = IDCT_FRACTION - IDCT_KEPT + 1,
    S4_SHIFT_2 = IDCT_FRACTION + IDCT_KEPT + 3 + 1,

    /* 2 samples */
    S2_1 = 29692,  /* 3.624509785 */
    S2_3 = -10426, /* 1.272758580 */
    S2_5 = 6967,   /* 0.850430095 */
    S2_7 = -5906,  /* 0.720959822 */
    S2_FRACTION = IDCT_FRACTION + 2,
    S2_SHIFT_1 = IDCT_FRACTION - IDCT_KEPT + 2,
    S2_SHIFT_2 = IDCT_FRACTION + IDCT_KEPT + 3 + 2
};
#endif
