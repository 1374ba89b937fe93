/* tools/commands/imrec_minibatches.c - what a minibatch source delivers, one JSON object a
 * minibatch. */
#include "tools/commands/imrec_sequences.h"
#include "tools/commands/minibatch_config.h"

#include <stdlib.h>
#include <string.h>

#define MINIBATCHES_PARAMS(X)                                                                      \
    X(int64_t, count, "0", 0, INT64_MAX, "N", "minibatches",                                       \
      "how many at most; 0 = all up to the end")                                                   \
    X(int64_t, size, "0", 0, INT32_MAX, "samples", "minibatches",                                  \
      "of a minibatch; 0 = minibatch_size_in_samples")                                             \
    X(const char *, from, "", 0, 65535, "POSITION.json", "minibatches",                            \
      "begin at this position, the value of \"position\" in a line")
COMMAND(minibatches, MINIBATCHES_PARAMS, 1, -1) = {
    PAGE_OF("minibatches", "0 fine, 1 failed, 2 wrong usage"),
    .summary = "print the minibatches of a CNTK text or binary file as JSON",
    .usage = {"[OPTIONS] SOURCE [key=value ...]"},
    .text =
        "SOURCE is a text (CTF) or a binary file (CBF), several ('a.ctf;b.ctf'), or a CNTK\n"
        "configuration: reader = [ ... ] alone, or a whole one, of which the reader is used. What\n"
        "key=value says changes what a configuration says. A text's inputs have to be described "
        "by\n"
        "input.NAME.format and input.NAME.dim.\n\n" SEQUENCES_CONFIGURATION
        "A line is a minibatch: for each stream its sequences as lists of samples (dense: values;\n"
        "sparse: [index, value] pairs; values that are not finite: \"NaN\", \"Infinity\",\n"
        "\"-Infinity\"), then what holds for all. Unless max_sweeps=, max_samples= or epoch_size=\n"
        "is given, the sweep's end is the end, whatever --count is: max_sweeps=0 continues.",
    .keys = sequences_keys,
    .examples = "  imrec minibatches train.ctf randomize=false minibatch_size_in_samples=7 \\\n"
                "      input.features.format=dense input.features.dim=784 --count 3\n"
                "  imrec minibatches reader.cntk --count 10 | tail -1 | jq .position >here.json\n"
                "  imrec minibatches reader.cntk --count 10 --from here.json\n"
                "  imrec minibatches whole.cntk action=test DataDir=/data randomize=false\n",
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

/* *sample: the first one of the sequence; moves past it. */
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
    JSON_UINTS(j, {"num_sequences", s->sequences}, {"num_samples", s->samples});
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
    json_begin_line(&j, stdout);
    for (uint32_t i = 0; i < m->streams; i++)
        put_stream(&j, &m->stream[i]);
    json_array(&j, "ids");
    for (uint64_t i = 0; i < m->sequences; i++)
        json_uint(&j, NULL, m->ids[i]);
    json_end(&j);
    JSON_UINTS(&j, {"num_sequences", m->sequences}, {"num_samples", m->samples},
               {"sweep", m->sweep}, {"epoch", m->epoch});
    json_bool(&j, "sweep_end", m->sweep_end);
    json_bool(&j, "epoch_end", m->epoch_end);
    json_raw(&j, "position", position);
    json_close(&j);
}

/* ---- the source -------------------------------------------------------------------------- */

#define NOT_GIVEN (INT64_MAX - 2) /* max_sweeps of a source whose keys do not say it */

static enum imrec_status
set_sweeps(struct imrec_minibatch_config *c, int64_t sweeps, struct imrec_error *err)
{
    char pair[48];
    snprintf(pair, sizeof(pair), "max_sweeps=%" PRId64, sweeps);
    return imrec_minibatch_config_set(c, pair, err);
}

/* *one_sweep: no option ends it; *c continues for ever. */
static enum imrec_status configure(struct imrec_minibatch_config *c, const char *source, int pairs,
                                   char *const *pair, bool *one_sweep, struct imrec_error *err)
{
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    enum imrec_status st = set_sweeps(c, NOT_GIVEN, err);
    if (st == IMREC_OK)
        st = minibatch_config_read(c, page.name, source, pairs, pair, err);
    const bool given = o->max_sweeps != NOT_GIVEN;
    *one_sweep = !given && o->max_samples == 0 && o->epoch_size != IMREC_FULL_DATA_SWEEP;
    return st == IMREC_OK && !given ? set_sweeps(c, 0, err) : st;
}

/* The names of streams share a JSON object with a line's own members. */
static bool check_names(const struct imrec_minibatch_source *s)
{
    static const char *const own[] = {"ids",   "num_sequences", "num_samples", "sweep",
                                      "epoch", "sweep_end",     "epoch_end",   "position"};
    const struct imrec_stream *stream;
    const uint32_t n = imrec_minibatch_streams(s, &stream);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            if (strcmp(stream[i].name, own[k]) == 0) {
                cli_say(page.name,
                        "a stream called '%s' cannot be printed next to \"%s\"; rename it, by "
                        "input.NAME.alias=%s",
                        own[k], own[k], stream[i].alias);
                return false;
            }
    return true;
}

static int seek(struct imrec_minibatch_source *s, const char *path)
{
    struct imrec_error err;
    if (path[0] == '\0')
        return EXIT_OK;
    char *position = command_read_position(page.name, path);
    if (position == NULL)
        return EXIT_FAILED;
    const enum imrec_status st = imrec_minibatch_seek(s, position, &err);
    cli_free(position);
    return st == IMREC_OK ? EXIT_OK : cli_fail(page.name, &err);
}

/* Opens the source and goes to where it begins. */
static int begin(const struct options *o, const struct imrec_minibatch_config *c,
                 struct imrec_minibatch_source **out)
{
    struct imrec_error err;
    if (imrec_minibatch_source_open(imrec_minibatch_config_options(c), out, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    return check_names(*out) ? seek(*out, o->from) : EXIT_FAILED;
}

/* The end of the sweep in which the printing begins becomes the source's end. */
static int end_with_sweep(const struct options *o, struct imrec_minibatch_config *c)
{
    static const char member[] = "\"sweep\": ";
    struct imrec_minibatch_source *s = NULL;
    struct imrec_error err;
    const char *position, *sweep = NULL;
    int status = o->from[0] == '\0' ? EXIT_OK : begin(o, c, &s);
    int64_t first = 0;
    if (s != NULL && status == EXIT_OK && imrec_minibatch_position(s, &position, &err) == IMREC_OK)
        sweep = strstr(position, member);
    if (sweep != NULL)
        first = strtoll(sweep + strlen(member), NULL, 10);
    imrec_minibatch_source_close(s);
    if (status == EXIT_OK && set_sweeps(c, first + 1, &err) != IMREC_OK)
        status = cli_fail(page.name, &err);
    return status;
}

/* *printed: how many there were before the end, or before o->count. */
static int print_all(struct imrec_minibatch_source *s, const struct options *o, int64_t *printed)
{
    struct imrec_minibatch m;
    struct imrec_error err;
    const char *position;
    for (*printed = 0; o->count == 0 || *printed < o->count; ++*printed) {
        const enum imrec_status st = imrec_minibatch_next(s, (uint64_t)o->size, NULL, 0, &m, &err);
        if (st == IMREC_END)
            return EXIT_OK;
        if (st != IMREC_OK || imrec_minibatch_position(s, &position, &err) != IMREC_OK)
            return cli_fail(page.name, &err);
        put_minibatch(&m, position);
    }
    return EXIT_OK;
}

static int run_with(const struct options *o, struct imrec_minibatch_config *c, bool one_sweep)
{
    struct imrec_minibatch_source *s = NULL;
    int64_t printed = 0;
    int status = one_sweep ? end_with_sweep(o, c) : EXIT_OK;
    if (status == EXIT_OK)
        status = begin(o, c, &s);
    if (status == EXIT_OK)
        status = print_all(s, o, &printed);
    imrec_minibatch_source_close(s);
    if (status == EXIT_OK && one_sweep && printed < o->count)
        fprintf(stderr,
                "%s: the sweep is over after %" PRId64 " of %" PRId64
                " minibatches; max_sweeps=0 continues\n",
                page.name, printed, o->count);
    return status;
}

static int run(const struct options *o, int n, char **operand)
{
    struct imrec_minibatch_config *c;
    struct imrec_error err;
    bool one_sweep;
    if (imrec_minibatch_config_new(&c, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    const int status = configure(c, operand[0], n - 1, operand + 1, &one_sweep, &err) == IMREC_OK
                           ? run_with(o, c, one_sweep)
                           : cli_fail(page.name, &err);
    imrec_minibatch_config_free(c);
    return status;
}
