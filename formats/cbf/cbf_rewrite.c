/*
 * formats/cbf/cbf_rewrite.c - chunks that cannot stay as they are in the file.
 *
 * Two things are rare and cost a copy of the streams they touch: sequences that are dropped, and
 * streams whose values are wanted in another type than the file's.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/cbf/chunk_work.h"

#include <string.h>

/* float has 32 bits and double 64 in IEEE 754, as in the file; the nearest one is taken. */
static void narrow(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, from + 8 * i, 8);
        const float f = (float)v;
        memcpy(to + 4 * i, &f, 4);
    }
}

static void widen(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, from + 4 * i, 4);
        const double v = f;
        memcpy(to + 8 * i, &v, 8);
    }
}

/* Values of a sequence, in any of its samples. */
static size_t value_count(const struct sequence_view *v, const struct stream_info *s)
{
    return s->storage == STREAM_SPARSE ? v->nnz : (size_t)v->samples * s->dim;
}

/* Copies a sequence of `bytes`, its values as `want`; returns its bytes at `to`. */
static size_t copy_sequence(uint8_t *to, const uint8_t *from, size_t bytes,
                            const struct sequence_view *v, const struct stream_info *s,
                            enum stream_element want)
{
    if (want == s->element) {
        memcpy(to, from, bytes);
        return bytes;
    }
    const size_t head = (size_t)(v->values - from), n = value_count(v, s);
    const size_t have_bytes = n * stream_element_bytes(s->element);
    const size_t want_bytes = n * stream_element_bytes(want);
    memcpy(to, from, head);
    (want == STREAM_FLOAT ? narrow : widen)(to + head, v->values, n);
    memcpy(to + head + want_bytes, v->values + have_bytes, bytes - head - have_bytes);
    return bytes - have_bytes + want_bytes;
}

/* Writes what is kept of stream i to `to`; its offsets move down in place. Returns the end. */
static uint8_t *rewrite_stream(const struct cbf_header *h, struct cbf_chunk *c, uint32_t i,
                               enum stream_element want, uint8_t *to)
{
    struct chunk_stream *stream = &c->stream[i];
    uint64_t *offset = c->offset + (size_t)i * ((size_t)c->view.sequences + 1);
    const uint8_t *from = stream->bytes, *begin = to;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < c->view.sequences; k++) {
        if (c->dropped[k])
            continue;
        const struct sequence_view v = sequence_view(&c->view, i, k, &h->stream[i]);
        const uint64_t at = offset[k], end = offset[k + 1];
        offset[kept++] = (uint64_t)(to - begin);
        to += copy_sequence(to, from + at, (size_t)(end - at), &v, &h->stream[i], want);
    }
    offset[kept] = (uint64_t)(to - begin);
    stream->bytes = begin;
    return to;
}

static enum stream_element
wanted(const struct cbf_header *h, const struct cbf_reading *how, uint32_t i)
{
    return how != NULL && how->element != NULL ? how->element[i] : h->stream[i].element;
}

/* Bytes that stream i needs when it is rewritten, at most: a float can grow to a double. */
static uint64_t room_of(const struct cbf_header *h, const struct cbf_chunk *c,
                        const struct cbf_reading *how, uint32_t i)
{
    const enum stream_element want = wanted(h, how, i), have = h->stream[i].element;
    if (c->lost == 0 && want == have)
        return 0;
    const uint64_t bytes = c->stream[i].offset[c->view.sequences];
    return want > have ? 2 * bytes : bytes;
}

/* Lengths and keys of what is kept. */
static enum imrec_status keep_sequences(struct cbf_chunk *c, struct imrec_error *err)
{
    const uint32_t n = c->view.sequences;
    uint32_t kept = 0;
    IMREC_TRY(cbf_reserve((void **)&c->key, &c->key_cap, n, sizeof(*c->key), err));
    c->view.samples = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (c->dropped[k])
            continue;
        c->view.samples += c->length[kept] = c->length[k];
        c->key[kept++] = c->view.first_key + k;
    }
    c->view.sequences = kept;
    c->view.key = c->key;
    return IMREC_OK;
}

enum imrec_status cbf_rewrite(const struct cbf_header *h, const struct cbf_reading *how,
                              struct cbf_chunk *c, struct imrec_error *err)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < h->streams; i++)
        room += room_of(h, c, how, i);
    if (room > 0) {
        IMREC_TRY(cbf_reserve((void **)&c->rewritten, &c->rewritten_cap, room, 1, err));
        uint8_t *to = c->rewritten;
        for (uint32_t i = 0; i < h->streams; i++)
            if (room_of(h, c, how, i) > 0)
                to = rewrite_stream(h, c, i, wanted(h, how, i), to);
    }
    return c->lost == 0 ? IMREC_OK : keep_sequences(c, err);
}
