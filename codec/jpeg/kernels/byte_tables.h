/* codec/jpeg/kernels/byte_tables.h - orders of bytes as tables, written as formulas: TABLE(f) is
 * {f(0), f(1), ... f(63)}. */
#ifndef IMREC_CODEC_JPEG_KERNELS_BYTE_TABLES_H
#define IMREC_CODEC_JPEG_KERNELS_BYTE_TABLES_H

#include <stdint.h>

typedef const uint8_t byte_table[64];

#define FOUR(f, k)    f(k), f((k) + 1), f((k) + 2), f((k) + 3)
#define SIXTEEN(f, k) FOUR(f, k), FOUR(f, (k) + 4), FOUR(f, (k) + 8), FOUR(f, (k) + 12)
#define TABLE(f)                                                                                   \
    {                                                                                              \
        SIXTEEN(f, 0), SIXTEEN(f, 16), SIXTEEN(f, 32), SIXTEEN(f, 48)                              \
    }
#endif
