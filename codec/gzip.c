/*
 * codec/gzip.c - unpacks an image that somebody has put through gzip (ImageNet holds 26).
 *
 * A bomb is refused: a JPEG shrinks by a few per cent, so 64 times its size is generous.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/format.h"

#if IMREC_HAVE_ZLIB
#include <zlib.h>

enum { MAX_RATIO = 64, FIRST_BYTES = 64 << 10, PIECE_BYTES = 8 << 20, GZIP_ONLY = 15 + 16 };
static const size_t max_unpacked_bytes = (size_t)1 << 30;

static voidpf zlib_alloc(voidpf context, uInt count, uInt size)
{
    (void)context;
    return imrec_zalloc(count, size);
}

static void zlib_free(voidpf context, voidpf p)
{
    (void)context;
    imrec_free(p);
}

/* Room for `bytes` of output. */
static bool grow(struct buf *out, size_t bytes)
{
    if (bytes <= out->cap)
        return true;
    uint8_t *p = imrec_realloc(out->p, bytes, 1);
    if (p == NULL)
        return false;
    out->p = p;
    out->cap = bytes;
    return true;
}

/* Bytes of the step that output byte `n` lies in: they double up to the limit, whatever room an
 * image before has left, so that what is refused, and where, depends on nothing else. */
static size_t step_end(size_t n, size_t limit)
{
    size_t end = FIRST_BYTES;
    while (end <= n)
        end *= 2;
    return end < limit ? end : limit;
}

/* All of it into *out; zlib's last answer. Z_BUF_ERROR: the data end too early. */
static int inflate_all(z_stream *z, size_t limit, const struct stop *stop, struct buf *out)
{
    int answer = Z_OK;
    while (answer == Z_OK && !stop_asked(stop)) {
        const size_t end = step_end(out->n, limit);
        if (out->n == limit || !grow(out, end))
            return Z_MEM_ERROR;
        const size_t left = end - out->n, room = left < PIECE_BYTES ? left : PIECE_BYTES;
        z->next_out = out->p + out->n;
        z->avail_out = (uInt)room;
        answer = inflate(z, Z_NO_FLUSH);
        out->n += room - z->avail_out;
    }
    return answer;
}

uint64_t codec_gunzip_limit(size_t packed)
{
    return packed < max_unpacked_bytes / MAX_RATIO ? packed * MAX_RATIO : max_unpacked_bytes;
}

enum imrec_status codec_gunzip(struct bytes packed, bool accept_truncated, const struct stop *stop,
                               struct buf *out, struct imrec_error *err)
{
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
    const size_t limit = (size_t)codec_gunzip_limit(packed.n);
    out->n = 0;
    if (packed.n > max_unpacked_bytes)
        return imrec_error_at(err, IMREC_ERR_LIMIT, 0,
                              "gzip: %zu bytes, more than the limit of %zu", packed.n,
                              max_unpacked_bytes);
    z.next_in = (z_const Bytef *)packed.p;
    z.avail_in = (uInt)packed.n;
    if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
        return IMREC_NO_MEMORY(err, "no memory to unpack gzip");
    const int answer = inflate_all(&z, limit, stop, out);
    const size_t at = packed.n - z.avail_in;
    (void)inflateEnd(&z);
    IMREC_TRY(stop_check(stop, err));
    if (answer == Z_STREAM_END || (answer == Z_BUF_ERROR && accept_truncated))
        return IMREC_OK;
    if (answer == Z_MEM_ERROR && out->n >= limit)
        return imrec_error_at(err, IMREC_ERR_LIMIT, at,
                              "gzip: unpacks to more than %zu bytes, the limit for %zu", limit,
                              packed.n);
    if (answer == Z_MEM_ERROR)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, at, "no memory to unpack gzip");
    return imrec_error_at(err, IMREC_ERR_CORRUPT, at, "gzip: %s at byte %zu of %zu",
                          answer == Z_BUF_ERROR ? "the data end" : "broken data", at, packed.n);
}
#else
uint64_t codec_gunzip_limit(size_t packed)
{
    return packed * 0;
}

enum imrec_status codec_gunzip(struct bytes packed, bool accept_truncated, const struct stop *stop,
                               struct buf *out, struct imrec_error *err)
{
    (void)packed, (void)accept_truncated, (void)stop, (void)out;
    return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                          "an image in gzip; this build unpacks none, it was made without zlib");
}
#endif
