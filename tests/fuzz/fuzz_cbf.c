/* tests/fuzz/fuzz_cbf.c - arbitrary bytes: refused, or sequences that the writer writes again; with
 * faults dropped what is left is whole, too. */
#include "tests/support/cbf_support.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum imrec_status go_on(void *user, const struct cbf_fault *f, struct imrec_error *err)
{
    (void)err;
    *(uint64_t *)user += f->lost;
    return IMREC_OK;
}

/* Touches everything a view shows. */
static uint32_t touch(const struct sequence_chunk *c, const struct stream_info *info)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < c->streams; i++) {
        for (uint32_t k = 0; k < c->sequences; k++) {
            const struct chunk_stream *s = &c->stream[i];
            const struct sequence_view v = sequence_view(c, i, k, &info[i]);
            for (uint64_t b = s->offset[k]; b < s->offset[k + 1]; b++)
                sum += s->bytes[b];
            for (uint32_t x = 0; x < v.nnz; x++)
                if (load_le32(v.indices + 4 * (size_t)x) >= info[i].dim)
                    abort();
        }
    }
    return sum;
}

static void read_chunks(struct bytes file, const struct cbf_header *h, struct cbf_chunk *c)
{
    static const enum stream_element doubles[64] = {STREAM_DOUBLE, STREAM_FLOAT, STREAM_DOUBLE};
    uint64_t lost = 0;
    const struct cbf_reading how = {
        .element = h->streams <= 64 ? doubles : NULL, .on_fault = go_on, .user = &lost};
    struct stream_info info[64];
    if (h->streams > 64)
        return;
    for (uint32_t i = 0; i < h->streams; i++) {
        info[i] = h->stream[i];
        info[i].element = doubles[i];
    }
    for (uint32_t i = 0; i < h->chunks; i++) {
        const struct bytes raw = cbf_chunk_bytes(file, h, i);
        if (cbf_chunk_parse(h, i, raw, 0, NULL, c, NULL) == IMREC_OK)
            (void)touch(&c->view, h->stream);
        if (cbf_chunk_parse(h, i, raw, 0, &how, c, NULL) != IMREC_OK ||
            c->view.sequences + c->lost != h->chunk[i].sequences)
            abort();
        (void)touch(&c->view, info);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbf_header h;
    struct cbf_chunk c = {0};
    const struct bytes file = {data, size};
    if (cbf_open(file, &h, NULL) == IMREC_OK)
        read_chunks(file, &h, &c);
    cbf_chunk_free(&c);
    cbf_header_free(&h);
    return 0;
}
