/* codec/jpeg/scan.h - MCUs out of the bits: the state that goes from one run of them to the
 * next, and the loops in their variants. */
#ifndef IMREC_CODEC_JPEG_SCAN_H
#define IMREC_CODEC_JPEG_SCAN_H

#include "codec/jpeg/frame.h"
#include "codec/jpeg/kernels/jpeg_kernels.h"

struct scan_bits {
    uint64_t buffer;  /* the next bits, from the top; more than `count` may be there */
    uint32_t count;   /* that have been taken out of the bytes before p */
    const uint8_t *p; /* the next byte */
};

/* One block of the MCU. */
struct scan_block {
    const struct huffman_dc *dc;
    const struct huffman_ac *ac;
    const uint16_t *quant;
    uint32_t component;
    uint8_t across, down; /* its place among those of the component */
    idct_kernel *idct;
    bool is_flat;  /* of DC alone a sample is made */
    bool wanted;   /* else it is read, and nothing is made of it */
    uint8_t *out;  /* of the run's first MCU */
    size_t stride; /* of out's rows */
    size_t step;   /* of out from one MCU to the next */
};

struct scan {
    struct scan_bits bits;
    const uint8_t *end;          /* of the bits */
    int32_t dc[MOST_COMPONENTS]; /* predictions */
    uint32_t blocks;
    struct scan_block block[MOST_BLOCKS];
};

/* Decodes `count` MCUs. False: the bits make no sense, or they end. */
typedef bool scan_run_fn(struct scan *s, uint32_t count);

#if defined(__x86_64__)
scan_run_fn scan_run_bmi2; /* the same with the shifts of BMI2 */
#endif
scan_run_fn *scan_run_best(void);

/* Bits that were not taken, after a run. */
int64_t scan_left(const struct scan *s);
#endif
