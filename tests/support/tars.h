/* tests/support/tars.h - tar archives in memory, header by header. */
#ifndef IMREC_TESTS_TARS_H
#define IMREC_TESTS_TARS_H

#include "base/buf.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* A header and its content. type: '0' a file, 'L' GNU's long name, 'x' an extended header, '5' a
 * folder. */
static inline void tar_put(struct buf *b, const char *name, char type, const void *p, size_t n)
{
    uint8_t block[512] = {0}, padding[512] = {0};
    unsigned sum = 0;
    char octal[24];
    (void)snprintf((char *)block, 100, "%s", name);
    memcpy(block + 100, "0000644\0000000000\0000000000", 24);
    (void)snprintf(octal, sizeof(octal), "%011llo", (unsigned long long)n);
    memcpy(block + 124, octal, 11);
    memcpy(block + 136, "00000000000", 12);
    memset(block + 148, ' ', 8);
    block[156] = (uint8_t)type;
    memcpy(block + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof(block); i++)
        sum += block[i];
    (void)snprintf((char *)block + 148, 8, "%06o", sum);
    ck_assert_int_eq(buf_append(b, block, sizeof(block), NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(b, p, n, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(b, padding, (512 - n % 512) % 512, NULL), IMREC_OK);
}

static inline void tar_text(struct buf *b, const char *name, const char *text)
{
    tar_put(b, name, '0', text, strlen(text));
}

static inline void tar_end(struct buf *b)
{
    static const uint8_t zeros[1024];
    ck_assert_int_eq(buf_append(b, zeros, sizeof(zeros), NULL), IMREC_OK);
}
#endif
