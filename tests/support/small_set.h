/* tests/support/small_set.h - small shards of images, made in code, in any store.
 *
 * Image i is 40 + i % 7 by 30 + i % 5 px, has id 100 + i and label i % 3. */
#ifndef IMREC_TESTS_SMALL_SET_H
#define IMREC_TESTS_SMALL_SET_H

#include "base/alloc.h"
#include "formats/crc32c.h"
#include "formats/recordio/recordio.h"
#include "formats/set/checksums.h"
#include "formats/set/set_names.h"
#include "imrec/imrec.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_CLASSES = 3, SMALL_NAME_BYTES = 512 };

static inline void must(enum imrec_status st, const struct imrec_error *err)
{
    if (st != IMREC_OK) {
        fprintf(stderr, "small_set: %s\n", err->message);
        exit(99);
    }
}

static inline void small_paint(uint8_t *p, uint32_t width, uint32_t height, uint32_t i)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, p += 3) {
            p[0] = (uint8_t)(x * 5 + i * 40);
            p[1] = (uint8_t)(y * 7 + i * 20);
            p[2] = (uint8_t)((x ^ y) * 3 + i * 10);
        }
}

/* Images [first, end) into `rec` and its index. */
static inline void small_shard(const char *rec, uint32_t first, uint32_t end)
{
    struct imrec_error err;
    struct imrec_writer *w;
    struct imrec_decoder *d;
    char idx[SMALL_NAME_BYTES];
    uint8_t pixels[46 * 34 * 3];
    set_name(rec, SET_INDEX, idx);
    must(imrec_writer_open(rec, idx, true, &w, &err), &err);
    must(imrec_decoder_new(&d, &err), &err);
    for (uint32_t i = first; i < end; i++) {
        const struct imrec_image image = {pixels, (size_t)(40 + i % 7) * 3, 40 + i % 7, 30 + i % 5,
                                          3};
        const float label = (float)(i % SMALL_CLASSES);
        const void *jpeg;
        size_t n;
        small_paint(pixels, image.width, image.height, i);
        must(imrec_decoder_encode_jpeg(d, &image, 90, &jpeg, &n, &err), &err);
        must(imrec_writer_append_image(w, 100 + i, &label, 1, 100 + i, jpeg, n, &err), &err);
    }
    must(imrec_writer_commit(w, &err), &err);
    imrec_decoder_free(d);
}

static inline void small_file(const char *uri, const void *p, size_t n)
{
    struct imrec_error err;
    struct sink *s;
    must(sink_open(uri, &s, &err), &err);
    must(sink_append(s, p, n, &err), &err);
    must(sink_commit(s, &err), &err);
}

/* Writes the checksums of `rec` beside it; returns how many records it has. */
static inline uint64_t small_checksums(const char *rec)
{
    struct imrec_error err;
    struct checksums_writer w;
    struct recordio_span span;
    struct buf out = BUF_INIT(1 << 24);
    char crc[SMALL_NAME_BYTES];
    uint8_t *p;
    size_t n;
    must(source_load(rec, SIZE_MAX / 2, &p, &n, &err), &err);
    must(checksums_begin(&w, &out, &err), &err);
    for (size_t at = 0; at < n; at += span.bytes) {
        must(recordio_measure(p + at, n - at, at, &span, &err), &err);
        must(checksums_add(&w, span.bytes, crc32c(0, p + at, span.bytes), &out, &err), &err);
    }
    must(checksums_finish(&w, &out, &err), &err);
    imrec_free(p);
    set_name(rec, SET_CHECKSUMS, crc);
    small_file(crc, out.p, out.n);
    buf_free(&out);
    return w.records;
}
#endif
