/* tests/fuzz/fuzz_ctf.c - arbitrary text as sequences, the first byte as options: whatever it is,
 * the index tiles the text, and what is parsed has the form that CBF's reader would accept. */
#include "formats/ctf/ctf_look.h"
#include "tests/fuzz/must.h"
#include "tests/support/ctf_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_stream(const struct sequence_chunk *c, uint32_t i, const struct stream_info *s)
{
    for (uint32_t q = 0; q < c->sequences; q++) {
        const struct sequence_view v = sequence_view(c, i, q, s);
        const uint64_t bytes = c->stream[i].offset[q + 1] - c->stream[i].offset[q];
        uint64_t nnz = 0;
        if (s->storage == STREAM_DENSE) {
            must(bytes == 4 + (uint64_t)v.samples * s->dim * stream_element_bytes(s->element));
            continue;
        }
        must(bytes == 8 + v.nnz * (4 + stream_element_bytes(s->element)) + 4 * (uint64_t)v.samples);
        for (uint32_t k = 0; k < v.samples; k++)
            nnz += load_le32(v.counts + 4 * (size_t)k);
        must(nnz == v.nnz);
        for (uint32_t k = 0; k < v.nnz; k++)
            must(load_le32(v.indices + 4 * (size_t)k) < s->dim);
    }
}

static void check_chunk(struct ctf_text *t, uint64_t k, const struct ctf_parse_options *o)
{
    struct sequence_chunk c;
    uint64_t n;
    must(ctf_text_chunk(t, k, &c, NULL) == IMREC_OK);
    must(c.sequences == t->index.chunk[k].sequences && c.streams == o->streams);
    for (uint32_t i = 0; i < o->streams; i++)
        check_stream(&c, i, &o->stream[i]);
    const struct ctf_problem *p = ctf_parser_problems(t->parser, &n);
    for (uint64_t i = 0; i < n; i++)
        must(p[i].offset <= t->n && p[i].message[0] != '\0');
}

static void look(const uint8_t *text, size_t n)
{
    struct ctf_look l = {0};
    (void)ctf_looks_so((struct bytes){text, n});
    must(ctf_look_at(&l, (struct bytes){text, n}));
    for (uint32_t i = 0; i < l.inputs; i++)
        must(l.input[i].filled <= l.input[i].samples && l.input[i].alias[0] != '\0');
    ctf_look_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctf_text t;
    struct imrec_error err;
    if (size == 0)
        return 0;
    const uint8_t flags = data[0];
    look(data + 1, size - 1);
    const struct stream_info streams[] = {
        {"a", "a", STREAM_DENSE, STREAM_FLOAT, 2, (flags & 1) != 0},
        {"b", "b", STREAM_SPARSE, flags & 2 ? STREAM_DOUBLE : STREAM_FLOAT, 9, false},
        {"long", "a2", STREAM_DENSE, STREAM_DOUBLE, 1, false}};
    const struct ctf_parse_options o = {.name = "f",
                                        .stream = streams,
                                        .streams = 3,
                                        .skip_sequence_ids = (flags & 4) != 0,
                                        .ignore_unknown = (flags & 8) != 0,
                                        .frame_mode = (flags & 16) != 0,
                                        .max_problems = flags & 32 ? 1000 : 0};
    const enum imrec_status st =
        ctf_text_open(&t, data + 1, size - 1, &o, flags & 64 ? 20 : 1 << 20, 1 + flags, &err);
    if (st != IMREC_OK)
        must(st == IMREC_ERR_CORRUPT && err.offset <= size);
    for (uint64_t k = 0; st == IMREC_OK && k < t.index.chunks; k++)
        check_chunk(&t, k, &o);
    ctf_text_close(&t);
    return 0;
}
