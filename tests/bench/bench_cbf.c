/* tests/bench/bench_cbf.c - CBF chunks to views, beside memcpy() of the same bytes: dense and
 * sparse, best of some turns. Usage: bench_cbf */
#include "base/clock.h"
#include "formats/cbf/cbf_chunk.h"
#include "tests/support/cbf_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 15 };

static void u32(struct buf *b, uint32_t v)
{
    uint8_t le[4];
    store_le32(le, v);
    if (buf_append(b, le, 4, NULL) != IMREC_OK)
        exit(1);
}

/* 32 MiB of sequences of one sample with `values` values each. */
static struct buf make(enum stream_storage storage, uint32_t values)
{
    const struct stream_info info = {
        .name = "x", .storage = storage, .dim = storage == STREAM_DENSE ? values : 1000000};
    struct buf one = BUF_INIT(SIZE_MAX), file = BUF_INIT(SIZE_MAX);
    struct cbf_writer *w;
    const uint32_t length = 1;
    u32(&one, 1);
    if (storage == STREAM_SPARSE)
        u32(&one, values);
    for (uint32_t i = 0; i < values; i++)
        u32(&one, 0x3f800000);
    for (uint32_t i = 0; storage == STREAM_SPARSE && i < values; i++)
        u32(&one, i * 7919 % 1000000);
    if (storage == STREAM_SPARSE)
        u32(&one, values);
    const uint64_t offset[2] = {0, one.n};
    const struct chunk_stream stream = {one.p, offset};
    const struct sequence_chunk c = {
        .sequences = 1, .streams = 1, .length = &length, .samples = 1, .stream = &stream};
    if (cbf_writer_new(&info, 1, 0, cbf_to_buf, &file, &w, NULL) != IMREC_OK)
        exit(1);
    for (uint64_t n = 0; n + one.n + 4 < CBF_DEFAULT_CHUNK; n += one.n + 4)
        if (cbf_writer_add(w, &c, NULL) != IMREC_OK)
            exit(1);
    if (cbf_writer_finish(w, NULL) != IMREC_OK)
        exit(1);
    cbf_writer_free(w);
    buf_free(&one);
    return file;
}

static void measure(const char *what, enum stream_storage storage, uint32_t values)
{
    struct buf file = make(storage, values);
    const struct bytes bytes = {file.p, file.n};
    struct cbf_header h;
    struct cbf_chunk c = {0};
    uint8_t *copy = malloc(file.n);
    double view = 1e9, plain = 1e9;
    if (copy == NULL || cbf_open(bytes, &h, NULL) != IMREC_OK)
        exit(1);
    for (int i = 0; i < TURNS; i++) {
        const uint64_t begin = clock_ns();
        memcpy(copy, file.p, file.n);
        const uint64_t middle = clock_ns();
        if (cbf_chunk_parse(&h, 0, cbf_chunk_bytes(bytes, &h, 0), 0, NULL, &c, NULL) != IMREC_OK)
            exit(1);
        const uint64_t end = clock_ns();
        plain = (double)(middle - begin) < plain ? (double)(middle - begin) : plain;
        view = (double)(end - middle) < view ? (double)(end - middle) : view;
    }
    printf("%-28s %8.2f GB/s, memcpy %6.2f GB/s, ratio %.2f\n", what, (double)file.n / view,
           (double)file.n / plain, plain / view);
    cbf_chunk_free(&c);
    cbf_header_free(&h);
    buf_free(&file);
    free(copy);
}

int main(void)
{
    measure("dense, 784 values", STREAM_DENSE, 784);
    measure("dense, 10 values", STREAM_DENSE, 10);
    measure("sparse, 1000 values", STREAM_SPARSE, 1000);
    measure("sparse, 20 values", STREAM_SPARSE, 20);
    measure("sparse, 1 value", STREAM_SPARSE, 1);
    return 0;
}
