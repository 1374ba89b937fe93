/* tests/formats/test_ctf_vectors.c - every text of the vectors: accepted with what it holds,
 * or refused, as the manifest says of ours. */
#include "storage/source.h"
#include "tests/support/ctf_text.h"
#include "tests/support/shared.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

enum { MAX_STREAMS = 64 };

static json_t *manifest;

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static json_t *load_json(const char *relative)
{
    char path[512];
    json_error_t why;
    snprintf(path, sizeof(path), "vectors/cntk/%s", relative);
    json_t *j = json_load_file(shared_path(path), 0, &why);
    ck_assert_msg(j != NULL, "%s: %s", path, why.text);
    return j;
}

static uint32_t take_streams(const json_t *list, struct stream_info *out)
{
    uint32_t n = 0;
    size_t i;
    const json_t *s;
    json_array_foreach(list, i, s)
    {
        ck_assert_uint_lt(n, MAX_STREAMS);
        const char *alias = text_of(s, "alias");
        out[n++] = (struct stream_info){
            .name = text_of(s, "name"),
            .alias = alias != NULL ? alias : text_of(s, "name"),
            .storage = json_is_true(json_object_get(s, "sparse")) ? STREAM_SPARSE : STREAM_DENSE,
            .element = STREAM_FLOAT,
            .dim = (uint32_t)json_integer_value(json_object_get(s, "dim")),
            .defines_mb_size = json_is_true(json_object_get(s, "mb")),
        };
    }
    return n;
}

/* ---- content ----------------------------------------------------------------------------- */

/* The next sequence of a stream in the recorded minibatches. */
struct recorded {
    const json_t *minibatches;
    size_t minibatch, sequence;
};

static const json_t *next_recorded(struct recorded *r, const char *stream)
{
    for (;;) {
        const json_t *mb = json_array_get(r->minibatches, r->minibatch);
        if (mb == NULL)
            return NULL;
        const json_t *sequences = json_object_get(json_object_get(mb, stream), "sequences");
        if (r->sequence < json_array_size(sequences))
            return json_array_get(sequences, r->sequence++);
        r->minibatch++;
        r->sequence = 0;
    }
}

static float value_at(const uint8_t *values, size_t i)
{
    float v;
    memcpy(&v, values + 4 * i, sizeof(v));
    return v;
}

static void check_dense(const char *what, const uint8_t *values, const json_t *sample, uint32_t dim)
{
    ck_assert_msg(json_array_size(sample) == dim, "%s: %zu values recorded", what,
                  json_array_size(sample));
    for (uint32_t i = 0; i < dim; i++) {
        const float want = (float)json_number_value(json_array_get(sample, i));
        ck_assert_msg(value_at(values, i) == want, "%s: value %u is %.9g, not %.9g", what, i,
                      value_at(values, i), want);
    }
}

/* As vectors: the original sorts, sums what is double, and leaves zeros out. */
static void check_sparse(const char *what, const uint8_t *values, const uint8_t *indices,
                         uint32_t n, const json_t *sample)
{
    for (uint32_t i = 0; i < n; i++) {
        float got = 0, want = 0;
        for (uint32_t k = 0; k < n; k++)
            if (load_le32(indices + 4 * k) == load_le32(indices + 4 * i))
                got += value_at(values, k);
        for (size_t k = 0; k < json_array_size(sample); k++) {
            const json_t *pair = json_array_get(sample, k);
            if ((uint32_t)json_integer_value(json_array_get(pair, 0)) == load_le32(indices + 4 * i))
                want += (float)json_number_value(json_array_get(pair, 1));
        }
        ck_assert_msg(got == want, "%s: index %u is %.9g, not %.9g", what,
                      load_le32(indices + 4 * i), got, want);
    }
    for (size_t k = 0; k < json_array_size(sample); k++) {
        const json_t *pair = json_array_get(sample, k);
        bool there = json_number_value(json_array_get(pair, 1)) == 0;
        for (uint32_t i = 0; i < n; i++)
            there |=
                load_le32(indices + 4 * i) == (uint32_t)json_integer_value(json_array_get(pair, 0));
        ck_assert_msg(there, "%s: index %lld is missing", what,
                      json_integer_value(json_array_get(pair, 0)));
    }
}

static void check_sequence(const char *what, const struct sequence_view *v, const json_t *samples,
                           const struct stream_info *s)
{
    const uint8_t *values = v->values, *indices = v->indices;
    ck_assert_msg(json_array_size(samples) == v->samples, "%s: %u samples, recorded are %zu", what,
                  v->samples, json_array_size(samples));
    for (uint32_t i = 0; i < v->samples; i++) {
        const json_t *sample = json_array_get(samples, i);
        if (s->storage == STREAM_DENSE) {
            check_dense(what, values, sample, s->dim);
            values += 4 * (size_t)s->dim;
            continue;
        }
        const uint32_t n = load_le32(v->counts + 4 * (size_t)i);
        check_sparse(what, values, indices, n, sample);
        values += 4 * (size_t)n;
        indices += 4 * (size_t)n;
    }
}

static bool has_samples(const struct sequence_chunk *c, uint32_t q, const struct stream_info *s)
{
    for (uint32_t i = 0; i < c->streams; i++)
        if (sequence_view(c, i, q, &s[i]).samples > 0)
            return true;
    return false;
}

static void check_content(const char *name, struct ctf_text *t, const json_t *expected,
                          const struct stream_info *s, uint32_t streams)
{
    struct recorded r[MAX_STREAMS];
    struct sequence_chunk c;
    for (uint32_t i = 0; i < streams; i++)
        r[i] = (struct recorded){json_object_get(expected, "minibatches"), 0, 0};
    for (uint64_t k = 0; k < t->index.chunks; k++) {
        ck_assert_int_eq(ctf_text_chunk(t, k, &c, NULL), IMREC_OK);
        for (uint32_t q = 0; q < c.sequences; q++) {
            if (!has_samples(&c, q, s))
                continue; /* left out */
            for (uint32_t i = 0; i < streams; i++) {
                char what[160];
                snprintf(what, sizeof(what), "%s: stream %s, id %llu", name, s[i].name,
                         (unsigned long long)c.key[q]);
                const struct sequence_view v = sequence_view(&c, i, q, &s[i]);
                const json_t *samples = next_recorded(&r[i], s[i].name);
                ck_assert_msg(samples != NULL, "%s: not recorded", what);
                check_sequence(what, &v, samples, &s[i]);
            }
        }
    }
    for (uint32_t i = 0; i < streams; i++)
        ck_assert_msg(next_recorded(&r[i], s[i].name) == NULL, "%s: %s: more is recorded", name,
                      s[i].name);
}

/* ---- entries ----------------------------------------------------------------------------- */

/* Problems of all chunks, and the first of them. */
static uint64_t count_problems(struct ctf_text *t, struct ctf_problem *first)
{
    uint64_t all = 0, n;
    struct sequence_chunk c;
    for (uint64_t k = 0; k < t->index.chunks; k++) {
        ck_assert_int_eq(ctf_text_chunk(t, k, &c, NULL), IMREC_OK);
        const struct ctf_problem *p = ctf_parser_problems(t->parser, &n);
        if (all == 0 && n > 0)
            *first = p[0];
        all += n;
    }
    return all;
}

static bool is_for_the_parser(const json_t *e, const json_t *params)
{
    const json_t *o = json_object_get(params, "options");
    const char *ours = text_of(e, "ours");
    if (text_of(e, "file") == NULL || strcmp(ours, "either") == 0 || strcmp(ours, "layout") == 0)
        return false;
    if (json_object_get(o, "truncation_length") != NULL || /* minibatches, not texts */
        json_object_get(o, "max_sweeps") != NULL ||
        json_integer_value(json_object_get(params, "workers")) > 1)
        return false;
    return strcmp(text_of(e, "name"), "alias_dup") != 0 && /* options */
           strcmp(text_of(e, "name"), "bad_dim_sparse") != 0;
}

static void check_refusal(const json_t *e, enum imrec_status st, const struct imrec_error *err,
                          uint64_t problems, int64_t budget, const struct ctf_problem *first)
{
    const json_t *at = json_object_get(e, "ours_at");
    const char *message = st != IMREC_OK ? err->message : first->message;
    const uint64_t offset = st != IMREC_OK ? err->offset : first->offset;
    ck_assert_msg(st == IMREC_ERR_CORRUPT || problems > (uint64_t)budget, "%s: accepted",
                  text_of(e, "name"));
    ck_assert_ptr_nonnull(strstr(message, text_of(e, "file")));
    if (at != NULL && offset != (uint64_t)json_integer_value(at))
        printf("%s: at %llu, a careful reader says %lld: %s\n", text_of(e, "name"),
               (unsigned long long)offset, json_integer_value(at), message);
}

static void check_entry(const json_t *e, size_t piece)
{
    struct stream_info s[MAX_STREAMS];
    struct ctf_text t = {0};
    struct ctf_problem first = {0};
    struct imrec_error err = {0};
    char path[512];
    uint8_t *bytes;
    size_t n;
    const json_t *params = json_object_get(e, "params");
    const json_t *deser = json_object_get(params, "deser");
    const json_t *chunk = json_object_get(deser, "chunkSizeInBytes");
    const int64_t budget = json_integer_value(json_object_get(deser, "maxErrors"));
    const struct ctf_parse_options o = {
        .name = text_of(e, "file"),
        .stream = s,
        .streams = take_streams(json_object_get(params, "streams"), s),
        .skip_sequence_ids = json_is_true(json_object_get(deser, "skipSequenceIds")),
        .frame_mode =
            json_is_true(json_object_get(json_object_get(params, "options"), "frame_mode")),
        .max_problems = (uint64_t)budget,
    };
    snprintf(path, sizeof(path), "vectors/cntk/%s", o.name);
    ck_assert_int_eq(source_load(shared_path(path), (size_t)1 << 26, &bytes, &n, NULL), IMREC_OK);
    const enum imrec_status st =
        ctf_text_open(&t, bytes, n, &o,
                      chunk != NULL ? (uint64_t)json_integer_value(chunk) : 32u << 20, piece, &err);
    imrec_free(bytes);
    const uint64_t problems = st == IMREC_OK ? count_problems(&t, &first) : 0;
    if (strcmp(text_of(e, "ours"), "refuse") == 0) {
        check_refusal(e, st, &err, problems, budget, &first);
    } else {
        ck_assert_msg(st == IMREC_OK && problems <= (uint64_t)budget, "%s: %s", text_of(e, "name"),
                      st != IMREC_OK ? err.message : first.message);
        const char *ours = text_of(e, "ours_expected");
        json_t *expected = load_json(ours != NULL ? ours : text_of(e, "expected"));
        check_content(text_of(e, "name"), &t, expected, s, o.streams);
        json_decref(expected);
    }
    ctf_text_close(&t);
}

static void check_all(const char *group, size_t piece, int least)
{
    int done = 0;
    size_t i;
    const json_t *e;
    json_array_foreach(json_object_get(manifest, group), i, e)
    {
        if (!is_for_the_parser(e, json_object_get(e, "params")))
            continue;
        check_entry(e, piece);
        done++;
    }
    printf("%d texts of '%s'\n", done, group);
    ck_assert_int_ge(done, least);
}

START_TEST(every_text_is_taken_or_refused_as_the_manifest_says) /* loop: sizes of pieces */
{
    check_all("ctf", _i == 0 ? (size_t)1 << 20 : 1, 110);
    check_all("unit", _i == 0 ? (size_t)1 << 20 : 1000, 12);
}
END_TEST

int main(void)
{
    shared_or_skip();
    manifest = json_load_file(shared_path("vectors/cntk/MANIFEST.json"), 0, NULL);
    Suite *s = suite_create("ctf_vectors");
    TCase *tc = tcase_create("core");
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, every_text_is_taken_or_refused_as_the_manifest_says, 0, 2);
    const int result = suite_run(s);
    json_decref(manifest);
    return result;
}
