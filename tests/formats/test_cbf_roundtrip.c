/* tests/formats/test_cbf_roundtrip.c - random corpora through writer and reader: the same
 * sequences, the same bytes however they are cut, and no byte changed unnoticed that matters. */
#include "tests/support/cbf_random.h"
#include "tests/support/suite.h"

#define CORPORA 60

static const uint64_t chunk_sizes[] = {1, 100, 700, 5000, 0};

/* Whether sequence k of the corpus is sequence `at` of the chunk, byte for byte. */
static void same_sequence(const struct random_corpus *r, uint32_t k, const struct sequence_chunk *c,
                          uint32_t at)
{
    ck_assert_uint_eq(c->length[at], r->length[k]);
    for (uint32_t i = 0; i < c->streams; i++) {
        const struct chunk_stream *s = &c->stream[i];
        const uint64_t bytes = s->offset[at + 1] - s->offset[at];
        ck_assert_uint_eq(bytes, r->offset[i][k + 1] - r->offset[i][k]);
        ck_assert_mem_eq(s->bytes + s->offset[at], r->body[i].p + r->offset[i][k], bytes);
    }
}

static void check_file(const struct random_corpus *r, struct bytes file, uint64_t chunk_bytes)
{
    struct cbf_header h;
    struct cbf_chunk c = {0};
    struct imrec_error err = {0};
    uint32_t k = 0;
    ck_assert_msg(cbf_open(file, &h, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(h.sequences, r->chunk.sequences);
    for (uint32_t i = 0; i < h.chunks; i++) {
        ck_assert(h.chunk[i].sequences == 1 || chunk_bytes == 0 || h.chunk[i].bytes <= chunk_bytes);
        ck_assert_msg(cbf_chunk_parse(&h, i, cbf_chunk_bytes(file, &h, i), k, NULL, &c, &err) ==
                          IMREC_OK,
                      "%s", err.message);
        for (uint32_t at = 0; at < c.view.sequences; at++)
            same_sequence(r, k++, &c.view, at);
    }
    ck_assert_uint_eq(k, r->chunk.sequences);
    cbf_chunk_free(&c);
    cbf_header_free(&h);
}

START_TEST(what_is_written_is_read_and_no_cut_into_calls_shows) /* loop over corpora */
{
    struct random_corpus r;
    random_corpus_make(&r, (uint64_t)_i);
    for (size_t s = 0; s < sizeof(chunk_sizes) / sizeof(*chunk_sizes); s++) {
        struct buf whole = random_file(&r, chunk_sizes[s], RANDOM_SEQUENCES);
        check_file(&r, (struct bytes){whole.p, whole.n}, chunk_sizes[s]);
        for (uint32_t step = 1; step < 8; step += 3) {
            struct buf pieces = random_file(&r, chunk_sizes[s], step);
            ck_assert_uint_eq(pieces.n, whole.n);
            ck_assert_mem_eq(pieces.p, whole.p, whole.n);
            buf_free(&pieces);
        }
        buf_free(&whole);
    }
    random_corpus_free(&r);
}
END_TEST

/* Every value of a stream, as double. */
static size_t
values_of(const struct sequence_chunk *c, uint32_t i, struct stream_info s, double *to)
{
    size_t n = 0;
    for (uint32_t k = 0; k < c->sequences; k++) {
        const struct sequence_view v = sequence_view(c, i, k, &s);
        const size_t count = s.storage == STREAM_SPARSE ? v.nnz : (size_t)v.samples * s.dim;
        for (size_t j = 0; j < count; j++) {
            float f;
            memcpy(&f, v.values + 4 * j, 4);
            if (s.element == STREAM_DOUBLE)
                memcpy(to + n++, v.values + 8 * j, 8);
            else
                to[n++] = f;
        }
    }
    return n;
}

START_TEST(values_are_the_same_in_either_type) /* loop over corpora and types */
{
    static double stored[20000], wanted[20000];
    struct random_corpus r;
    random_corpus_make(&r, (uint64_t)_i / 2);
    const enum stream_element want = _i % 2 == 0 ? STREAM_FLOAT : STREAM_DOUBLE;
    const enum stream_element all[RANDOM_STREAMS] = {want, want, want, want};
    const struct cbf_reading how = {.element = all};
    struct buf file = random_file(&r, 0, RANDOM_SEQUENCES);
    struct cbf_header h;
    struct cbf_chunk c = {0};
    const struct bytes bytes = {file.p, file.n};
    ck_assert_int_eq(cbf_open(bytes, &h, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_chunk_parse(&h, 0, cbf_chunk_bytes(bytes, &h, 0), 0, &how, &c, NULL),
                     IMREC_OK);
    for (uint32_t i = 0; i < h.streams; i++) {
        struct stream_info s = h.stream[i];
        const size_t n = values_of(&r.chunk, i, s, stored);
        s.element = want;
        ck_assert_uint_eq(values_of(&c.view, i, s, wanted), n);
        ck_assert_mem_eq(stored, wanted, n * sizeof(*stored));
    }
    cbf_chunk_free(&c);
    cbf_header_free(&h);
    buf_free(&file);
    random_corpus_free(&r);
}
END_TEST

/* Reads all of a file that may be damaged; a count of sequences, or -1. */
static int read_damaged(struct bytes file)
{
    struct cbf_header h;
    struct cbf_chunk c = {0};
    struct imrec_error err = {0};
    int n = 0;
    enum imrec_status st = cbf_open(file, &h, &err);
    for (uint32_t i = 0; st == IMREC_OK && i < h.chunks; i++) {
        st = cbf_chunk_parse(&h, i, cbf_chunk_bytes(file, &h, i), 0, NULL, &c, &err);
        n += (int)c.view.sequences;
    }
    if (st != IMREC_OK) {
        ck_assert_uint_le(err.offset, file.n);
        ck_assert_uint_gt(strlen(err.message), 20);
    }
    cbf_chunk_free(&c);
    cbf_header_free(&h);
    return st == IMREC_OK ? n : -1;
}

START_TEST(a_file_cut_short_is_refused_wherever_it_is_cut) /* loop over corpora */
{
    struct random_corpus r;
    random_corpus_make(&r, (uint64_t)_i + 500);
    struct buf file = random_file(&r, 700, RANDOM_SEQUENCES);
    for (size_t n = 0; n < file.n; n += 1 + n / 40)
        ck_assert_int_eq(read_damaged((struct bytes){file.p, n}), -1);
    ck_assert_int_eq(read_damaged((struct bytes){file.p, file.n}), (int)r.chunk.sequences);
    buf_free(&file);
    random_corpus_free(&r);
}
END_TEST

START_TEST(a_changed_byte_is_refused_or_changes_no_count) /* loop over corpora */
{
    struct random_corpus r;
    random_corpus_make(&r, (uint64_t)_i + 900);
    struct buf file = random_file(&r, 700, RANDOM_SEQUENCES);
    for (size_t at = 0; at < file.n; at += 1 + file.n / 400) {
        const uint8_t was = file.p[at];
        file.p[at] ^= (uint8_t)(1u << (at % 8));
        const int n = read_damaged((struct bytes){file.p, file.n});
        ck_assert(n == -1 || n == (int)r.chunk.sequences);
        file.p[at] = was;
    }
    buf_free(&file);
    random_corpus_free(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cbf round trips");
    TCase *tc = tcase_create("random");
    tcase_add_loop_test(tc, what_is_written_is_read_and_no_cut_into_calls_shows, 0, CORPORA);
    tcase_add_loop_test(tc, values_are_the_same_in_either_type, 0, CORPORA);
    tcase_add_loop_test(tc, a_file_cut_short_is_refused_wherever_it_is_cut, 0, 10);
    tcase_add_loop_test(tc, a_changed_byte_is_refused_or_changes_no_count, 0, 10);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
