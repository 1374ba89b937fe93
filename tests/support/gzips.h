/* tests/support/gzips.h - bytes as gzip packs them. */
#ifndef IMREC_TESTS_GZIPS_H
#define IMREC_TESTS_GZIPS_H

#include "base/buf.h"

#include <check.h>
#include <zlib.h>

/* Appends a member with all of from[0..n). */
static inline void gzip_put(struct buf *out, const void *from, size_t n, int level)
{
    uint8_t piece[16384];
    z_stream z = {.next_in = (z_const Bytef *)from, .avail_in = (uInt)n};
    int answer = Z_OK;
    ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    while (answer != Z_STREAM_END) {
        z.next_out = piece;
        z.avail_out = sizeof(piece);
        answer = deflate(&z, Z_FINISH);
        ck_assert(answer == Z_OK || answer == Z_STREAM_END);
        ck_assert_int_eq(buf_append(out, piece, sizeof(piece) - z.avail_out, NULL), IMREC_OK);
    }
    (void)deflateEnd(&z);
}
#endif
