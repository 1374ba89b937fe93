/* tests/formats/test_cbf_vectors.c - the binary files of the shared vectors: read as their
 * field `ours` says, refused at the byte it names, and written again to the same bytes. */
#include "tests/support/cbf_support.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

static const char *cntk(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "../cntk/%s", name);
    return path;
}

static double value_at(const uint8_t *p, size_t i, enum stream_element element)
{
    float f;
    double d;
    if (element == STREAM_DOUBLE)
        return memcpy(&d, p + 8 * i, 8), d;
    return memcpy(&f, p + 4 * i, 4), (double)f;
}

/* Numbers in JSON are those of a double file, or of a float one as double. */
static void
check_value(const json_t *expected, const uint8_t *p, size_t i, const struct stream_info *s)
{
    const double want = json_number_value(expected), got = value_at(p, i, s->element);
    ck_assert_msg(s->element == STREAM_DOUBLE ? got == want : (float)got == (float)want,
                  "%.17g instead of %.17g", got, want);
}

static void
check_dense(const json_t *samples, const struct sequence_view *v, const struct stream_info *s)
{
    size_t i, k;
    json_t *sample, *value;
    json_array_foreach(samples, i, sample)
    {
        ck_assert_uint_eq(json_array_size(sample), s->dim);
        json_array_foreach(sample, k, value) check_value(value, v->values, i * s->dim + k, s);
    }
}

static void
check_sparse(const json_t *samples, const struct sequence_view *v, const struct stream_info *s)
{
    size_t i, k, at = 0;
    json_t *sample, *pair;
    json_array_foreach(samples, i, sample)
    {
        ck_assert_uint_eq(json_array_size(sample), load_le32(v->counts + 4 * i));
        json_array_foreach(sample, k, pair)
        {
            ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(pair, 0)),
                              load_le32(v->indices + 4 * at));
            check_value(json_array_get(pair, 1), v->values, at++, s);
        }
    }
    ck_assert_uint_eq(at, v->nnz);
}

static void check_content(const json_t *expected, const struct sequence_chunk *c,
                          const struct stream_info *info)
{
    size_t i, k;
    json_t *sequences, *samples;
    ck_assert_uint_eq(json_array_size(expected), c->streams);
    json_array_foreach(expected, i, sequences)
    {
        ck_assert_uint_eq(json_array_size(sequences), c->sequences);
        json_array_foreach(sequences, k, samples)
        {
            const struct sequence_view v = sequence_view(c, (uint32_t)i, (uint32_t)k, &info[i]);
            ck_assert_uint_eq(v.samples, json_array_size(samples));
            (info[i].storage == STREAM_DENSE ? check_dense : check_sparse)(samples, &v, &info[i]);
        }
    }
}

static void check_streams(const json_t *expected, const struct cbf_header *h)
{
    size_t i;
    json_t *stream;
    ck_assert_uint_eq(json_array_size(expected), h->streams);
    json_array_foreach(expected, i, stream)
    {
        ck_assert_str_eq(h->stream[i].name, vectors_text(stream, "name"));
        ck_assert_uint_eq((uint64_t)h->stream[i].storage, vectors_u64(stream, "storage"));
        ck_assert_uint_eq((uint64_t)h->stream[i].element, vectors_u64(stream, "element"));
        ck_assert_uint_eq(h->stream[i].dim, vectors_u64(stream, "dim"));
    }
}

/* Reads every chunk, as stored or with all values as `want`, and compares. */
static void check_chunks(struct bytes file, const struct cbf_header *h, const json_t *expected,
                         const enum stream_element *want, struct cbf_writer *again)
{
    const json_t *chunks = json_object_get(expected, "chunks");
    const json_t *data = json_object_get(expected, "data_by_chunk_stream_sequence_sample");
    struct stream_info info[8];
    struct cbf_chunk c = {0};
    uint64_t first = 0;
    const struct cbf_reading how = {.element = want};
    memcpy(info, h->stream, h->streams * sizeof(*info));
    for (uint32_t i = 0; want != NULL && i < h->streams; i++)
        info[i].element = want[i];
    ck_assert_uint_eq(json_array_size(chunks), h->chunks);
    for (uint32_t i = 0; i < h->chunks; first += h->chunk[i++].sequences) {
        const json_t *chunk = json_array_get(chunks, i);
        const json_t *lengths = json_object_get(chunk, "sequence_samples");
        struct imrec_error err = {0};
        ck_assert_msg(cbf_chunk_parse(h, i, cbf_chunk_bytes(file, h, i), first, &how, &c, &err) ==
                          IMREC_OK,
                      "%s", err.message);
        ck_assert_uint_eq(h->chunk[i].offset, vectors_u64(chunk, "offset"));
        ck_assert_uint_eq(c.view.samples, vectors_u64(chunk, "samples"));
        for (uint32_t k = 0; k < c.view.sequences; k++)
            ck_assert_uint_eq(c.view.length[k],
                              (uint64_t)json_integer_value(json_array_get(lengths, k)));
        check_content(json_array_get(data, i), &c.view, info);
        if (again != NULL) {
            ck_assert_int_eq(cbf_writer_add(again, &c.view, NULL), IMREC_OK);
            ck_assert_int_eq(cbf_writer_cut(again, NULL), IMREC_OK);
        }
    }
    cbf_chunk_free(&c);
}

static void accept(const char *cbf, const char *content)
{
    static const enum stream_element floats[8] = {STREAM_FLOAT},
                                     doubles[8] = {STREAM_DOUBLE, STREAM_DOUBLE, STREAM_DOUBLE,
                                                   STREAM_DOUBLE};
    struct file_bytes f = vectors_file(cntk(cbf));
    json_t *expected = vectors_json(cntk(content));
    const struct bytes file = {f.p, f.n};
    struct cbf_header h;
    struct imrec_error err = {0};
    struct buf out = BUF_INIT(1 << 20);
    struct cbf_writer *again = NULL;
    ck_assert_msg(cbf_open(file, &h, &err) == IMREC_OK, "%s: %s", cbf, err.message);
    check_streams(json_object_get(expected, "streams"), &h);
    ck_assert_int_eq(cbf_writer_new(h.stream, h.streams, 0, cbf_to_buf, &out, &again, NULL),
                     IMREC_OK);
    check_chunks(file, &h, expected, NULL, again);
    check_chunks(file, &h, expected, floats, NULL);
    if (h.stream[0].element == STREAM_DOUBLE)
        check_chunks(file, &h, expected, doubles, NULL);
    ck_assert_int_eq(cbf_writer_finish(again, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, f.n);
    ck_assert_mem_eq(out.p, f.p, f.n);
    cbf_writer_free(again);
    buf_free(&out);
    cbf_header_free(&h);
    json_decref(expected);
    free(f.p);
}

/* The first thing wrong with a file. */
static enum imrec_status read_all(struct bytes file, struct imrec_error *err)
{
    struct cbf_header h;
    struct cbf_chunk c = {0};
    enum imrec_status st = cbf_open(file, &h, err);
    for (uint32_t i = 0; st == IMREC_OK && i < h.chunks; i++)
        st = cbf_chunk_parse(&h, i, cbf_chunk_bytes(file, &h, i), 0, NULL, &c, err);
    cbf_chunk_free(&c);
    cbf_header_free(&h);
    return st;
}

static void refuse(const json_t *entry, const char *name)
{
    struct file_bytes f = vectors_file(cntk(vectors_text(entry, "cbf")));
    struct imrec_error err = {0};
    ck_assert_msg(read_all((struct bytes){f.p, f.n}, &err) == IMREC_ERR_CORRUPT, "%s", name);
    ck_assert_msg(err.offset == vectors_u64(entry, "ours_at") || strcmp(name, "x_elem_double") == 0,
                  "%s: byte %llu: %s", name, (unsigned long long)err.offset, err.message);
    ck_assert_uint_gt(strlen(err.message), 20);
    free(f.p);
}

START_TEST(every_file_does_what_ours_says)
{
    json_t *manifest = vectors_json(cntk("MANIFEST.json")), *entry;
    size_t i, accepted = 0, refused = 0;
    json_array_foreach(json_object_get(manifest, "cbf"), i, entry)
    {
        const char *name = vectors_text(entry, "name"), *ours = vectors_text(entry, "ours");
        const char *read = json_string_value(json_object_get(entry, "cbf_read"));
        const bool is_file = strcmp(vectors_text(entry, "kind"), "cbf") == 0;
        if (is_file && strcmp(ours, "refuse") == 0) {
            refuse(entry, name);
            refused++;
        } else if (is_file || (read != NULL && strcmp(read, "accept") == 0)) {
            accept(vectors_text(entry, "cbf"), vectors_text(entry, "expected_content"));
            accepted++;
        }
        if (json_object_get(entry, "ours_cbf") != NULL)
            accept(vectors_text(entry, "ours_cbf"), vectors_text(entry, "ours_expected"));
    }
    ck_assert_uint_ge(accepted, 10);
    ck_assert_uint_ge(refused, 24);
    json_decref(manifest);
}
END_TEST

START_TEST(sequence_data_are_the_bytes_that_the_pages_of_the_format_show)
{
    json_t *manifest = vectors_json(cntk("MANIFEST.json")), *entry;
    size_t i, seen = 0;
    json_array_foreach(json_object_get(manifest, "cbf"), i, entry)
    {
        const json_t *data = json_object_get(entry, "sequence_data");
        if (data == NULL)
            continue;
        struct file_bytes f = vectors_file(cntk(vectors_text(entry, "cbf")));
        struct cbf_header h;
        struct cbf_chunk c = {0};
        uint8_t want[128];
        const size_t n = vectors_unhex(vectors_text(data, "hex"), want, sizeof(want));
        const struct bytes file = {f.p, f.n};
        ck_assert_int_eq(cbf_open(file, &h, NULL), IMREC_OK);
        ck_assert_int_eq(cbf_chunk_parse(&h, 0, cbf_chunk_bytes(file, &h, 0), 0, NULL, &c, NULL),
                         IMREC_OK);
        ck_assert_uint_eq(c.view.stream[0].offset[1], n);
        ck_assert_mem_eq(c.view.stream[0].bytes, want, n);
        ck_assert(n == 52 || n == 76);
        seen++;
        cbf_chunk_free(&c);
        cbf_header_free(&h);
        free(f.p);
    }
    ck_assert_uint_eq(seen, 2);
    json_decref(manifest);
}
END_TEST

int main(void)
{
    shared_or_skip();
    Suite *s = suite_create("cbf vectors");
    TCase *tc = tcase_create("cntk");
    tcase_add_test(tc, every_file_does_what_ours_says);
    tcase_add_test(tc, sequence_data_are_the_bytes_that_the_pages_of_the_format_show);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
