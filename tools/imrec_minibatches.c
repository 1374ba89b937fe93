/* tools/imrec_minibatches.c - what a minibatch source delivers, one JSON object a minibatch. */
#include "tools/imrec.h"
#include "tools/minibatch_config.h"

#include <string.h>

#define MINIBATCHES_PARAMS(X)                                                                      \
    X(int64_t, count, "0", 0, INT64_MAX, "N", "minibatches",                                       \
      "how many; 0 = to the end, of one sweep where the keys set none")                            \
    X(int64_t, size, "0", 0, INT32_MAX, "samples", "minibatches",                                  \
      "of a minibatch; 0 = minibatch_size_in_samples")                                             \
    X(const char *, from, "", 0, 65535, "POSITION.json", "minibatches",                            \
      "begin at this position, the value of \"position\" in a line")
struct minibatches_options {
    MINIBATCHES_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct minibatches_options
static const struct param table[] = {MINIBATCHES_PARAMS(PARAM_ROW){0}};
#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_minibatch_options
static const struct param keys[] = {IMREC_MINIBATCH_PARAMS(PARAM_ROW){0}};
static const char *const usage[] = {"[OPTIONS] SOURCE [key=value ...]", NULL};

static const struct cli_page page = {
    .name = "imrec minibatches",
    .summary = "print the minibatches of a CNTK text or binary file as JSON",
    .usage = usage,
    .text =
        "SOURCE is a text (CTF) or a binary file (CBF), several ('a.ctf;b.ctf'), or a file with\n"
        "reader = [ ... ] as CNTK's pages write it. A text's streams are described by\n"
        "input.NAME.format=dense|sparse, input.NAME.dim=N, input.NAME.alias=A,\n"
        "input.NAME.definesMBSize=true; keys are also known by the names of CNTK's pages "
        "(maxErrors,\n"
        "skipSequenceIds, chunkSizeInBytes, ...).\n\n"
        "A line is a minibatch: for each stream its sequences as lists of samples (dense: values;\n"
        "sparse: [index, value] pairs; values that are not finite: \"NaN\", \"Infinity\",\n"
        "\"-Infinity\"), then what holds for all. Without count=, max_sweeps= or max_samples=\n"
        "one sweep is printed.",
    .table = table,
    .keys = keys,
    .examples = "  imrec minibatches train.ctf randomize=false minibatch_size_in_samples=7 \\\n"
                "      input.features.format=dense input.features.dim=784 --count 3\n"
                "  imrec minibatches reader.cntk --count 10 | tail -1 | jq .position >here.json\n"
                "  imrec minibatches reader.cntk --count 10 --from here.json\n",
    .exits = "0 fine, 1 failed, 2 wrong usage",
};

/* ---- printing ---------------------------------------------------------------------------- */

static void put_value(struct json *j, const struct imrec_minibatch_stream *s, uint64_t i)
{
    if (s->precision == IMREC_PRECISION_DOUBLE)
        json_real(j, NULL, ((const double *)s->values)[i]);
    else
        json_float(j, NULL, ((const float *)s->values)[i]);
}

static void put_dense(struct json *j, const struct imrec_minibatch_stream *s, uint64_t sequence)
{
    const uint64_t cell = s->row[sequence] * s->width + s->column[sequence];
    for (uint32_t k = 0; k < s->length[sequence]; k++) {
        json_array(j, NULL);
        for (uint32_t i = 0; i < s->dim; i++)
            put_value(j, s, (cell + k) * s->dim + i);
        json_end(j);
    }
}

/* *sample: the first one of the sequence; moves behind it. */
static void put_sparse(struct json *j, const struct imrec_minibatch_stream *s, uint64_t sequence,
                       uint64_t *sample)
{
    for (uint32_t k = 0; k < s->length[sequence]; k++, ++*sample) {
        json_array(j, NULL);
        for (int64_t i = s->row_start[*sample]; i < s->row_start[*sample + 1]; i++) {
            json_array(j, NULL);
            json_int(j, NULL, s->indices[i]);
            put_value(j, s, (uint64_t)i);
            json_end(j);
        }
        json_end(j);
    }
}

static void put_stream(struct json *j, const struct imrec_minibatch_stream *s)
{
    uint64_t sample = 0;
    json_object(j, s->name);
    json_uint(j, "num_sequences", s->sequences);
    json_uint(j, "num_samples", s->samples);
    json_array(j, "sequences");
    for (uint64_t i = 0; i < s->sequences; i++) {
        json_array(j, NULL);
        if (s->storage == IMREC_DENSE)
            put_dense(j, s, i);
        else
            put_sparse(j, s, i, &sample);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void put_minibatch(const struct imrec_minibatch *m, const char *position)
{
    struct json j;
    json_open(&j, stdout);
    j.compact = true;
    json_object(&j, NULL);
    for (uint32_t i = 0; i < m->streams; i++)
        put_stream(&j, &m->stream[i]);
    json_array(&j, "ids");
    for (uint64_t i = 0; i < m->sequences; i++)
        json_uint(&j, NULL, m->ids[i]);
    json_end(&j);
    json_uint(&j, "num_sequences", m->sequences);
    json_uint(&j, "num_samples", m->samples);
    json_uint(&j, "sweep", m->sweep);
    json_uint(&j, "epoch", m->epoch);
    json_bool(&j, "sweep_end", m->sweep_end);
    json_bool(&j, "epoch_end", m->epoch_end);
    json_raw(&j, "position", position);
    json_close(&j);
}

/* ---- the source -------------------------------------------------------------------------- */

static bool ends_by_itself(const struct imrec_minibatch_options *o)
{
    return o->max_sweeps > 0 || o->max_samples > 0 || o->epoch_size == IMREC_FULL_DATA_SWEEP;
}

static enum imrec_status configure(struct imrec_minibatch_config *c,
                                   const struct minibatches_options *o, const char *source,
                                   int pairs, char *const *pair, struct imrec_error *err)
{
    enum imrec_status st = minibatch_config_read(c, page.name, source, pairs, pair, err);
    if (st == IMREC_OK && o->count == 0 && !ends_by_itself(imrec_minibatch_config_options(c)))
        st = imrec_minibatch_config_set(c, "max_sweeps=1", err);
    return st;
}

/* The names of streams stand beside those of a line's own members. */
static bool check_names(const struct imrec_minibatch_source *s)
{
    static const char *const own[] = {"ids",   "num_sequences", "num_samples", "sweep",
                                      "epoch", "sweep_end",     "epoch_end",   "position"};
    const struct imrec_stream *stream;
    const uint32_t n = imrec_minibatch_streams(s, &stream);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            if (strcmp(stream[i].name, own[k]) == 0) {
                fprintf(stderr,
                        "%s: a stream called '%s' cannot be printed beside \"%s\"; rename it, by "
                        "input.NAME.alias=%s\n",
                        page.name, own[k], own[k], stream[i].alias);
                return false;
            }
    return true;
}

static int seek(struct imrec_minibatch_source *s, const char *path)
{
    struct imrec_error err;
    char *position = command_read_position(page.name, path);
    if (position == NULL)
        return EXIT_FAILED;
    const enum imrec_status st = imrec_minibatch_seek(s, position, &err);
    cli_free(position);
    return st == IMREC_OK ? EXIT_OK : cli_fail(page.name, &err);
}

static int print_all(struct imrec_minibatch_source *s, const struct minibatches_options *o)
{
    struct imrec_minibatch m;
    struct imrec_error err;
    const char *position;
    for (int64_t i = 0; o->count == 0 || i < o->count; i++) {
        const enum imrec_status st = imrec_minibatch_next(s, (uint64_t)o->size, NULL, 0, &m, &err);
        if (st == IMREC_END)
            return EXIT_OK;
        if (st != IMREC_OK || imrec_minibatch_position(s, &position, &err) != IMREC_OK)
            return cli_fail(page.name, &err);
        put_minibatch(&m, position);
    }
    return EXIT_OK;
}

static int run_with(const struct minibatches_options *o, const struct imrec_minibatch_config *c)
{
    const struct imrec_minibatch_options *all = imrec_minibatch_config_options(c);
    struct imrec_minibatch_source *s;
    struct imrec_error err;
    if (imrec_minibatch_source_open(all, &s, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    int status = check_names(s) ? EXIT_OK : EXIT_FAILED;
    if (status == EXIT_OK && o->from[0] != '\0')
        status = seek(s, o->from);
    if (status == EXIT_OK)
        status = print_all(s, o);
    imrec_minibatch_source_close(s);
    return status;
}

static int run(int argc, char **argv)
{
    struct minibatches_options o;
    struct imrec_minibatch_config *c;
    struct imrec_error err;
    int status;
    const int first = command_begin(&page, &o, argc, argv, 1, -1, &status);
    if (first < 0)
        return status;
    if (imrec_minibatch_config_new(&c, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    status = configure(c, &o, argv[first], argc - first - 1, argv + first + 1, &err) == IMREC_OK
                 ? run_with(&o, c)
                 : cli_fail(page.name, &err);
    imrec_minibatch_config_free(c);
    return status;
}

const struct command command_minibatches = {&page, run};
