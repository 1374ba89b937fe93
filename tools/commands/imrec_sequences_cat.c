/* tools/commands/imrec_sequences_cat.c - sequences as lines of CNTK's text, or as JSON. */
#include "tools/commands/imrec_sequences.h"

#include "imrec/sequences.h"

#include <stdlib.h>
#include <string.h>

struct printing {
    const struct sequences_request *request;
    bool terminal; /* the text goes to one, and to no program */
    const struct imrec_stream *stream;
    uint32_t streams;
    uint64_t *at; /* [streams]: value that the sample begins at */
};

static bool has_doubles(const struct printing *p, uint32_t stream)
{
    return p->stream[stream].precision == IMREC_PRECISION_DOUBLE;
}

static double value_at(bool doubles, const struct imrec_sequence_stream *v, uint64_t i)
{
    double d;
    float f;
    if (doubles) {
        memcpy(&d, (const char *)v->values + 8 * i, sizeof(d));
        return d;
    }
    memcpy(&f, (const char *)v->values + 4 * i, sizeof(f));
    return (double)f;
}

static int32_t integer_at(const void *array, uint64_t i)
{
    int32_t v;
    memcpy(&v, (const char *)array + 4 * i, sizeof(v));
    return v;
}

static uint64_t values_of(const struct printing *p, const struct imrec_sequence *q, uint32_t stream,
                          uint32_t sample)
{
    return p->stream[stream].storage == IMREC_SPARSE
               ? (uint64_t)integer_at(q->stream[stream].counts, sample)
               : p->stream[stream].dim;
}

/* ---- text -------------------------------------------------------------------------------- */

/* The shortest of a few spellings that reads back as the value. */
static void put_number(bool doubles, double v)
{
    char text[40];
    for (int digits = doubles ? 15 : 6; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (doubles ? strtod(text, NULL) == v : (double)strtof(text, NULL) == v)
            break;
    }
    fputs(text, stdout);
}

static void put_sample(const struct printing *p, const struct imrec_sequence *q, uint32_t stream,
                       uint32_t sample)
{
    const struct imrec_sequence_stream *v = &q->stream[stream];
    const uint64_t n = values_of(p, q, stream, sample);
    const bool doubles = has_doubles(p, stream);
    const char *alias = p->stream[stream].alias;
    printf(" |%s", p->terminal ? cli_show(alias) : alias);
    for (uint64_t k = 0; k < n; k++, p->at[stream]++) {
        putchar(' ');
        if (v->indices != NULL)
            printf("%" PRId32 ":", integer_at(v->indices, p->at[stream]));
        put_number(doubles, value_at(doubles, v, p->at[stream]));
    }
}

static void put_lines(const struct printing *p, const struct imrec_sequence *q)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < p->streams; i++) {
        lines = q->stream[i].samples > lines ? q->stream[i].samples : lines;
        p->at[i] = 0;
    }
    for (uint32_t k = 0; k < lines; k++) {
        printf("%" PRIu64, q->id);
        for (uint32_t i = 0; i < p->streams; i++)
            if (k < q->stream[i].samples)
                put_sample(p, q, i, k);
        putchar('\n');
    }
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_value(bool doubles, struct json *j, double v)
{
    if (doubles)
        json_real(j, NULL, v);
    else
        json_float(j, NULL, (float)v);
}

static void
json_stream(const struct printing *p, struct json *j, const struct imrec_sequence *q, uint32_t i)
{
    const struct imrec_sequence_stream *v = &q->stream[i];
    const bool doubles = has_doubles(p, i);
    uint64_t at = 0;
    json_array(j, p->stream[i].name);
    for (uint32_t k = 0; k < v->samples; k++) {
        json_array(j, NULL);
        for (uint64_t left = values_of(p, q, i, k); left > 0; left--, at++) {
            if (v->indices != NULL) {
                json_array(j, NULL);
                json_int(j, NULL, integer_at(v->indices, at));
            }
            json_value(doubles, j, value_at(doubles, v, at));
            if (v->indices != NULL)
                json_end(j);
        }
        json_end(j);
    }
    json_end(j);
}

static void put_json(const struct printing *p, const struct imrec_sequence *q)
{
    struct json j;
    json_begin_line(&j, stdout);
    json_uint(&j, "id", q->id);
    json_object(&j, "streams");
    for (uint32_t i = 0; i < p->streams; i++)
        json_stream(p, &j, q, i);
    json_close(&j);
}

/* ---- reading ----------------------------------------------------------------------------- */

static void warn(void *user, const struct imrec_finding *f)
{
    const struct printing *p = user;
    cli_say(p->request->name, "%s; skipped", f->reason);
}

/* All, or the one that is asked for; *printed counts. */
static enum imrec_status print_all(struct imrec_sequences *s, const struct printing *p,
                                   const uint64_t *id, uint64_t *printed, struct imrec_error *err)
{
    struct imrec_sequence q;
    enum imrec_status st;
    while ((st = imrec_sequences_next(s, &q, err)) == IMREC_OK) {
        if (id != NULL && q.id != *id)
            continue;
        if (p->request->json)
            put_json(p, &q);
        else
            put_lines(p, &q);
        ++*printed;
        if (id != NULL || ferror(stdout))
            return IMREC_OK;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static int cat_one(const struct sequences_request *r, const struct imrec_deserializer *d,
                   enum imrec_precision precision, const uint64_t *id, uint64_t *printed)
{
    struct imrec_error err;
    struct imrec_sequences *s;
    struct printing p = {.request = r, .terminal = cli_is_terminal(stdout)};
    if (imrec_sequences_open(d, precision, warn, &p, &s, &err) != IMREC_OK)
        return cli_fail(r->name, &err);
    p.streams = imrec_sequences_streams(s, &p.stream);
    p.at = cli_realloc(NULL, p.streams + 1, sizeof(*p.at));
    const enum imrec_status st = print_all(s, &p, id, printed, &err);
    const bool fine = imrec_sequences_totals(s).problems == 0;
    cli_free(p.at);
    imrec_sequences_close(s);
    return st != IMREC_OK ? cli_fail(r->name, &err) : fine ? EXIT_OK : EXIT_PARTIAL;
}

int sequences_cat(const struct sequences_request *r)
{
    struct imrec_minibatch_config *c;
    uint64_t id = 0, printed = 0;
    int status = r->id != NULL ? command_read_id(r->name, r->id, &id) : EXIT_OK;
    if (status != EXIT_OK)
        return status;
    status = sequences_configure(r, &c);
    const struct imrec_minibatch_options *o =
        status == EXIT_OK ? imrec_minibatch_config_options(c) : NULL;
    for (uint32_t i = 0; o != NULL && i < o->deserializers && status == EXIT_OK; i++)
        status =
            cat_one(r, &o->deserializer[i], o->precision, r->id != NULL ? &id : NULL, &printed);
    if (status == EXIT_OK && r->id != NULL && printed == 0)
        status = cli_say(r->name, "no sequence has the id %" PRIu64, id);
    imrec_minibatch_config_free(c);
    return status;
}
