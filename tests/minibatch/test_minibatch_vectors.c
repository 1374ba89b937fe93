/* tests/minibatch/test_minibatch_vectors.c - every text and binary file of the vectors through a
 * minibatch source: its minibatches, or its refusal, as the manifest says of ours. */
#include "tests/support/minibatch_vectors.h"
#include "tests/support/suite.h"

static json_t *manifest;

static void text_keys(struct keys *k, const json_t *e)
{
    const json_t *p = json_object_get(e, "params");
    k->n = 0;
    add_file(k, text_of(e, "file"));
    add_streams(k, json_object_get(p, "streams"));
    add(k, "randomize=false");
    add(k, "traceLevel=0");
    add_values(k, json_object_get(p, "deser"));
    add_values(k, json_object_get(p, "options"));
    if (json_object_get(json_object_get(p, "options"), "max_sweeps") == NULL)
        add(k, "max_sweeps=1");
    add(k, "minibatchSize=%" JSON_INTEGER_FORMAT, number_of(p, "mb", 1 << 20));
    if (number_of(p, "workers", 1) == 1)
        return;
    add(k, "num_ranks=%" JSON_INTEGER_FORMAT, number_of(p, "workers", 1));
    add(k, "rank=%" JSON_INTEGER_FORMAT, number_of(p, "rank", 0));
    add(k, "rank_mode=local");
}

/* ---- content ----------------------------------------------------------------------------- */

static double value_at(const struct imrec_minibatch_stream *s, uint64_t i, bool doubles)
{
    return doubles ? ((const double *)s->values)[i] : (double)((const float *)s->values)[i];
}

static double recorded(const json_t *v, bool doubles)
{
    return doubles ? json_number_value(v) : (double)(float)json_number_value(v);
}

static void check_dense(const struct imrec_minibatch_stream *s, uint64_t cell, const json_t *sample,
                        bool doubles)
{
    ck_assert_uint_eq(json_array_size(sample), s->dim);
    for (uint32_t i = 0; i < s->dim; i++)
        ck_assert_double_eq(value_at(s, cell * s->dim + i, doubles),
                            recorded(json_array_get(sample, i), doubles));
}

/* As vectors: the record sorts, sums what is double, and leaves zeros out. */
static double sum_of(const struct imrec_minibatch_stream *s, int64_t from, int64_t to,
                     int32_t index, bool doubles)
{
    double sum = 0;
    for (int64_t i = from; i < to; i++)
        if (s->indices[i] == index)
            sum += value_at(s, (uint64_t)i, doubles);
    return doubles ? sum : (double)(float)sum;
}

static double sum_recorded(const json_t *sample, int32_t index, bool doubles)
{
    double sum = 0;
    size_t i;
    const json_t *pair;
    json_array_foreach(sample, i, pair)
    {
        if (json_integer_value(json_array_get(pair, 0)) == index)
            sum += recorded(json_array_get(pair, 1), doubles);
    }
    return doubles ? sum : (double)(float)sum;
}

static void
check_sparse(const struct imrec_minibatch_stream *s, uint64_t n, const json_t *sample, bool doubles)
{
    const int64_t from = s->row_start[n], to = s->row_start[n + 1];
    size_t i;
    const json_t *pair;
    for (int64_t k = from; k < to; k++)
        ck_assert_double_eq(sum_of(s, from, to, s->indices[k], doubles),
                            sum_recorded(sample, s->indices[k], doubles));
    json_array_foreach(sample, i, pair)
    {
        const int32_t index = (int32_t)json_integer_value(json_array_get(pair, 0));
        ck_assert_double_eq(sum_of(s, from, to, index, doubles),
                            sum_recorded(sample, index, doubles));
    }
}

/* *first: number of the sequence's first sample in the stream; moves on. */
static void check_sequence(const struct imrec_minibatch_stream *s, uint64_t q, uint64_t *first,
                           const json_t *samples, bool doubles)
{
    ck_assert_uint_eq(json_array_size(samples), s->length[q]);
    for (uint32_t k = 0; k < s->length[q]; k++) {
        const json_t *sample = json_array_get(samples, k);
        if (s->storage == IMREC_DENSE)
            check_dense(s, s->row[q] * s->width + s->column[q] + k, sample, doubles);
        else
            check_sparse(s, *first + k, sample, doubles);
    }
    *first += s->length[q];
}

static void check_stream(const struct imrec_minibatch_stream *s, const json_t *want, bool doubles)
{
    const json_t *sequences = json_object_get(want, "sequences");
    uint64_t first = 0;
    mb_check_stream(s, s->sequences, doubles ? 8 : 4);
    ck_assert_int_eq((json_int_t)s->sequences, number_of(want, "num_sequences", -1));
    ck_assert_int_eq((json_int_t)s->samples, number_of(want, "num_samples", -1));
    ck_assert_uint_eq(json_array_size(sequences), s->sequences);
    for (uint64_t q = 0; q < s->sequences; q++)
        check_sequence(s, q, &first, json_array_get(sequences, q), doubles);
}

static void
check_minibatch(const struct imrec_minibatch *m, const json_t *want, bool flags, bool doubles)
{
    for (uint32_t i = 0; i < m->streams; i++) {
        const json_t *s = json_object_get(want, m->stream[i].name);
        if (s == NULL)
            continue;
        check_stream(&m->stream[i], s, doubles);
        if (flags)
            ck_assert_int_eq(m->sweep_end, json_is_true(json_object_get(s, "sweep_end")));
    }
}

/* Every minibatch, and no other. */
static void
check_minibatches(const struct keys *k, const json_t *expected, bool flags, bool doubles)
{
    struct imrec_minibatch_source *s = mb_open(k->key);
    struct imrec_minibatch m;
    struct imrec_error err = {0};
    const json_t *all = json_object_get(expected, "minibatches"),
                 *ids = json_object_get(expected, "ids");
    size_t n = 0, sequences = 0;
    enum imrec_status st;
    while ((st = imrec_minibatch_next(s, 0, NULL, 0, &m, &err)) == IMREC_OK) {
        ck_assert_uint_lt(n, json_array_size(all));
        check_minibatch(&m, json_array_get(all, n++), flags, doubles);
        for (uint64_t q = 0; ids != NULL && q < m.sequences; q++)
            ck_assert_uint_eq(m.ids[q],
                              (uint64_t)json_integer_value(json_array_get(ids, sequences + q)));
        sequences += m.sequences;
    }
    ck_assert_msg(st == IMREC_END, "%s", err.message);
    ck_assert_uint_eq(n, json_array_size(all));
    ck_assert(ids == NULL || sequences == json_array_size(ids));
    imrec_minibatch_source_close(s);
}

/* ---- refusal ----------------------------------------------------------------------------- */

static enum imrec_status run_to_the_end(const struct keys *k, struct imrec_error *err)
{
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    enum imrec_status st = mb_try_open(k->key, &s, err);
    while (st == IMREC_OK)
        st = imrec_minibatch_next(s, 0, NULL, 0, &m, err);
    imrec_minibatch_source_close(s);
    return st;
}

static void check_refused(const struct keys *k, const char *file)
{
    struct imrec_error err = {0};
    const enum imrec_status st = run_to_the_end(k, &err);
    ck_assert_int_ne(st, IMREC_OK);
    ck_assert_int_ne(st, IMREC_END);
    ck_assert_int_eq(st, err.status);
    ck_assert_msg(err.message[0] != '\0' && strchr(err.message, '\n') == NULL, "%s", err.message);
    const char *base = strrchr(file, '/') + 1; /* or it is the configuration that is wrong */
    ck_assert_msg(strstr(err.message, base) != NULL || err.offset == IMREC_NO_OFFSET, "%s",
                  err.message);
}

/* ---- texts ------------------------------------------------------------------------------- */

static void check_text(const json_t *e, bool tiny)
{
    static struct keys k;
    const json_t *p = json_object_get(e, "params"), *o = json_object_get(p, "options");
    const char *ours = text_of(e, "ours"), *other = text_of(e, "ours_expected");
    struct imrec_error err;
    const bool flags =
        number_of(p, "workers", 1) == 1 && json_object_get(o, "truncation_length") == NULL;
    text_keys(&k, e);
    if (tiny) { /* chunks of a sequence each, by several threads: nothing else changes */
        add(&k, "chunkSizeInBytes=1");
        add(&k, "threads=3");
        add(&k, "prefetch=1");
    }
    if (strcmp(ours, "refuse") == 0) {
        check_refused(&k, text_of(e, "file"));
    } else if (strcmp(ours, "either") == 0) {
        (void)run_to_the_end(&k, &err);
    } else {
        json_t *expected = load_json(other != NULL ? other : text_of(e, "expected"));
        check_minibatches(&k, expected, flags, false);
        json_decref(expected);
    }
}

START_TEST(a_text_gives_the_recorded_minibatches_or_is_refused) /* loop: entries of "ctf" */
{
    const json_t *e = json_array_get(json_object_get(manifest, "ctf"), (size_t)_i);
    check_text(e, false);
    check_text(e, true);
}
END_TEST

/* ---- the original's own tests ------------------------------------------------------------ */

START_TEST(the_originals_test_data_give_its_results) /* loop: entries of "unit" */
{
    static struct keys k;
    const json_t *e = json_array_get(json_object_get(manifest, "unit"), (size_t)_i);
    const char *other = text_of(e, "ours_expected");
    if (text_of(e, "file") != NULL) {
        check_text(e, false);
        return;
    }
    json_t *expected = load_json(other != NULL ? other : text_of(e, "expected"));
    const bool doubles = strcmp(text_of(e, "precision"), "double") == 0;
    k.n = 0;
    add_file(&k, text_of(e, "cbf"));
    add(&k, "randomize=false");
    add(&k, "max_sweeps=1");
    add(&k, "minibatchSize=1000000");
    check_minibatches(&k, expected, true, false);
    if (doubles) {
        add(&k, "precision=double");
        check_minibatches(&k, expected, true, true);
    }
    json_decref(expected);
}
END_TEST

/* ---- binary files ------------------------------------------------------------------------ */

/* The file's content: lists by chunk, stream, sequence, sample. */
static void check_content(const struct keys *k, const json_t *content, bool doubles)
{
    struct imrec_minibatch_source *s = mb_open(k->key);
    struct imrec_minibatch m;
    struct imrec_error err;
    uint64_t q = 0, first[8] = {0};
    size_t c, i;
    const json_t *chunk, *stream;
    ck_assert_msg(imrec_minibatch_next(s, 0, NULL, 0, &m, &err) == IMREC_OK, "%s", err.message);
    json_array_foreach(json_object_get(content, "data_by_chunk_stream_sequence_sample"), c, chunk)
    {
        size_t sequences = 0;
        json_array_foreach(chunk, i, stream)
        {
            sequences = json_array_size(stream);
            for (size_t n = 0; n < sequences; n++)
                check_sequence(&m.stream[i], q + n, &first[i], json_array_get(stream, n), doubles);
        }
        q += sequences;
    }
    ck_assert_uint_eq(q, m.sequences);
    ck_assert_int_eq(imrec_minibatch_next(s, 0, NULL, 0, &m, &err), IMREC_END);
    imrec_minibatch_source_close(s);
}

START_TEST(a_binary_file_gives_its_content_or_is_refused) /* loop: entries of "cbf" */
{
    static struct keys k;
    const json_t *e = json_array_get(json_object_get(manifest, "cbf"), (size_t)_i);
    const char *file = text_of(e, "cbf"), *content = text_of(e, "expected_content");
    const char *verdict = text_of(e, "cbf_read");
    if (file == NULL) /* a text that ctf2bin refuses */
        return;
    k.n = 0;
    add_file(&k, file);
    add(&k, "randomize=false");
    add(&k, "max_sweeps=1");
    add(&k, "minibatchSize=1000000");
    if (strcmp(verdict != NULL ? verdict : text_of(e, "ours"), "refuse") == 0) {
        check_refused(&k, file);
        return;
    }
    json_t *want = load_json(content);
    check_content(&k, want, false);
    add(&k, "precision=double");
    check_content(&k, want, true);
    json_decref(want);
}
END_TEST

/* CNTK's workers each pack their own sequences of the truncated text: a value a sample, whose tens
 * are the sequence's number. */
START_TEST(local_ranks_pack_truncated_sequences_of_their_own) /* loop: ranks */
{
    static const char *const packed[][6] = {
        {"0 1 2 20 ", "21 22 23 40 ", "41 42 43 44 ", "60 61 .", NULL},
        {"10 30 50 51 ", "52 53 54 55 ", "56 57 58 70 ", "71 72 73 74 ", "75 .", NULL}};
    static struct keys k;
    struct imrec_minibatch m;
    k.n = 0;
    add_file(&k, "ctf/truncated_4.ctf");
    add(&k, "input.A.format=dense");
    add(&k, "input.A.dim=1");
    add(&k, "randomize=false");
    add(&k, "truncated=true");
    add(&k, "truncationLength=4");
    add(&k, "minibatchSize=8");
    add(&k, "max_sweeps=1");
    add(&k, "rank_mode=local");
    add(&k, "num_ranks=2");
    add(&k, "rank=%d", _i);
    struct imrec_minibatch_source *s = mb_open(k.key);
    int n = 0;
    while (imrec_minibatch_next(s, 0, NULL, 0, &m, NULL) == IMREC_OK) {
        char got[200] = "";
        ck_assert_uint_eq(m.stream[0].rows, 1);
        for (uint64_t i = 0; i < m.stream[0].width; i++)
            if (m.stream[0].mask[i] != 0)
                sprintf(got + strlen(got), "%g ", (double)((const float *)m.stream[0].values)[i]);
        strcat(got, m.sweep_end ? "." : "");
        ck_assert_str_eq(got, packed[_i][n++]);
    }
    ck_assert_ptr_null(packed[_i][n]);
    imrec_minibatch_source_close(s);
}
END_TEST

static int entries(const char *group)
{
    return (int)json_array_size(json_object_get(manifest, group));
}

int main(void)
{
    Suite *s = suite_create("minibatch_vectors");
    TCase *tc = tcase_create("vectors");
    shared_or_skip();
    manifest = load_json("MANIFEST.json");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_text_gives_the_recorded_minibatches_or_is_refused, 0, entries("ctf"));
    tcase_add_loop_test(tc, the_originals_test_data_give_its_results, 0, entries("unit"));
    tcase_add_loop_test(tc, a_binary_file_gives_its_content_or_is_refused, 0, entries("cbf"));
    tcase_add_loop_test(tc, local_ranks_pack_truncated_sequences_of_their_own, 0, 2);
    suite_add_tcase(s, tc);
    const int result = suite_run(s);
    json_decref(manifest);
    return result;
}
