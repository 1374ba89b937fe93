/* tests/support/cbf_random.h - random sequences of random streams, for tests of CBF. */
#ifndef IMREC_TESTS_CBF_RANDOM_H
#define IMREC_TESTS_CBF_RANDOM_H

#include "tests/support/cbf_support.h"

#include <check.h>
#include <string.h>

#define RANDOM_STREAMS   4u
#define RANDOM_SEQUENCES 40u

struct random_corpus {
    struct stream_info info[RANDOM_STREAMS];
    struct buf body[RANDOM_STREAMS];
    uint64_t offset[RANDOM_STREAMS][RANDOM_SEQUENCES + 1];
    struct chunk_stream stream[RANDOM_STREAMS];
    uint32_t length[RANDOM_SEQUENCES];
    struct sequence_chunk chunk;
    uint64_t state;
};

static inline uint32_t random_below(struct random_corpus *r, uint32_t n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->state >> 33) % n);
}

static inline void random_u32(struct buf *b, uint32_t v)
{
    uint8_t le[4];
    store_le32(le, v);
    ck_assert_int_eq(buf_append(b, le, 4, NULL), IMREC_OK);
}

static inline void random_value(struct random_corpus *r, uint32_t i)
{
    const float f = ((float)random_below(r, 1u << 20) - 500000.0F) / 64.0F; /* exact either way */
    const double d = f;
    if (r->info[i].element == STREAM_FLOAT)
        ck_assert_int_eq(buf_append(&r->body[i], &f, 4, NULL), IMREC_OK);
    else
        ck_assert_int_eq(buf_append(&r->body[i], &d, 8, NULL), IMREC_OK);
}

/* Appends a sequence of up to 5 samples; returns how many. */
static inline uint32_t random_sequence(struct random_corpus *r, uint32_t i)
{
    const bool sparse = r->info[i].storage == STREAM_SPARSE;
    const uint32_t n = random_below(r, 6), dim = r->info[i].dim;
    uint32_t counts[5], values = n * dim;
    random_u32(&r->body[i], n);
    if (sparse) {
        values = 0;
        for (uint32_t k = 0; k < n; k++)
            values += counts[k] = random_below(r, 30);
        random_u32(&r->body[i], values);
    }
    for (uint32_t k = 0; k < values; k++)
        random_value(r, i);
    for (uint32_t k = 0; sparse && k < values; k++)
        random_u32(&r->body[i], random_below(r, dim));
    for (uint32_t k = 0; sparse && k < n; k++)
        random_u32(&r->body[i], counts[k]);
    return n;
}

static inline void random_corpus_make(struct random_corpus *r, uint64_t seed)
{
    static const char *const names[RANDOM_STREAMS] = {"features", "labels", "a", "weights of all"};
    *r = (struct random_corpus){.state = seed * 77 + 1};
    r->chunk.streams = 1 + random_below(r, RANDOM_STREAMS);
    r->chunk.sequences = 1 + random_below(r, RANDOM_SEQUENCES);
    for (uint32_t i = 0; i < r->chunk.streams; i++) {
        r->info[i] = (struct stream_info){.name = names[i],
                                          .alias = names[i],
                                          .storage = (enum stream_storage)random_below(r, 2),
                                          .element = (enum stream_element)random_below(r, 2),
                                          .dim = 1 + random_below(r, 9)};
        r->body[i] = BUF_INIT(SIZE_MAX);
        for (uint32_t k = 0; k < r->chunk.sequences; k++) {
            r->offset[i][k] = r->body[i].n;
            const uint32_t n = random_sequence(r, i);
            r->length[k] = n > r->length[k] ? n : r->length[k];
        }
        r->offset[i][r->chunk.sequences] = r->body[i].n;
        r->stream[i] = (struct chunk_stream){r->body[i].p, r->offset[i]};
    }
    r->chunk.length = r->length;
    r->chunk.stream = r->stream;
}

/* Sequences [from, to) of the corpus: a view whose tables are the corpus's. */
static inline struct sequence_chunk random_part(const struct random_corpus *r,
                                                struct chunk_stream stream[RANDOM_STREAMS],
                                                uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < r->chunk.streams; i++)
        stream[i] = (struct chunk_stream){r->body[i].p, r->offset[i] + from};
    struct sequence_chunk part = r->chunk;
    part.sequences = to - from;
    part.length += from;
    part.stream = stream;
    return part;
}

static inline void random_corpus_free(struct random_corpus *r)
{
    for (uint32_t i = 0; i < r->chunk.streams; i++)
        buf_free(&r->body[i]);
}

/* The corpus as a file, its sequences added `step` at a time. */
static inline struct buf
random_file(const struct random_corpus *r, uint64_t chunk_bytes, uint32_t step)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    struct cbf_writer *w;
    ck_assert_int_eq(
        cbf_writer_new(r->info, r->chunk.streams, chunk_bytes, cbf_to_buf, &out, &w, NULL),
        IMREC_OK);
    for (uint32_t k = 0; k < r->chunk.sequences; k += step) {
        struct chunk_stream stream[RANDOM_STREAMS];
        const uint32_t to = k + step < r->chunk.sequences ? k + step : r->chunk.sequences;
        const struct sequence_chunk part = random_part(r, stream, k, to);
        ck_assert_int_eq(cbf_writer_add(w, &part, NULL), IMREC_OK);
    }
    const uint64_t foreseen = cbf_writer_size(w);
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, foreseen);
    ck_assert_uint_eq(out.n, cbf_writer_written(w).bytes);
    cbf_writer_free(w);
    return out;
}
#endif
