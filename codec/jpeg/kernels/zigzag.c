/* codec/jpeg/kernels/zigzag.c - blocks in zigzag order: the truth of what a run of them becomes. */
#include "codec/jpeg/kernels/zigzag.h"

#include "codec/jpeg/kernels/variants.h"

#include <string.h>

const uint8_t natural_order[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                   12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                   35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                   58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

const uint8_t zigzag_index[64] = {0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42,
                                  3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
                                  10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60,
                                  21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};

uint32_t zigzag_to_natural(const int16_t zigzag[64], int16_t natural[64])
{
    uint32_t last = 0;
    for (uint32_t k = 0; k < 64; k++) {
        natural[natural_order[k]] = zigzag[k];
        if (zigzag[k] != 0)
            last = k;
    }
    return last;
}

void idct_run_by(const struct block_run *r, idct_kernel *idct)
{
    int16_t *coef = r->coef;
    uint8_t *out = r->out;
    for (uint32_t i = 0; i < r->n; i++, coef += r->apart, out += r->step) {
        _Alignas(64) int16_t natural[64];
        const uint32_t last = zigzag_to_natural(coef, natural);
        memset(coef, 0, sizeof(natural));
        idct(natural, r->quant, last, out, r->stride);
    }
}

void idct_run_scalar(const struct block_run *r)
{
    idct_run_by(r, idct_scalar);
}
