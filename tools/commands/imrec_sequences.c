/* tools/commands/imrec_sequences.c - what info and verify say of CNTK's text. */
#include "tools/commands/imrec_sequences.h"

#include "cli/show.h"
#include "imrec/ctf.h"
#include "imrec/sequences.h"
#include "tools/commands/command.h"
#include "tools/commands/minibatch_config.h"

#include <string.h>

#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_minibatch_options
static const struct param source_table[] = {IMREC_MINIBATCH_PARAMS(PARAM_ROW){0}};
#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_deserializer
static const struct param file_table[] = {IMREC_DESERIALIZER_PARAMS(PARAM_ROW){0}};
#undef PARAM_STRUCT
struct input { /* for the offsets of its table, which nobody sets by */
    IMREC_INPUT_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct input
static const struct param input_table[] = {IMREC_INPUT_PARAMS(PARAM_ROW){0}};

const struct cli_keys sequences_keys[] = {{"Minibatch source parameters", source_table},
                                          {"Minibatch file parameters", file_table},
                                          {"Minibatch input parameters", input_table},
                                          {0}};

bool sequences_is_pair(const char *operand)
{
    const char *equals = strchr(operand, '='), *slash = strchr(operand, '/');
    return equals != NULL && equals != operand && (slash == NULL || slash > equals);
}

struct sequences_request sequences_request(const struct cli_page *page, const char *config,
                                           bool json, int operands, char *const *operand)
{
    return (struct sequences_request){.name = page->name,
                                      .config = config,
                                      .operand = operand,
                                      .operands = operands,
                                      .json = json};
}

bool sequences_are_binary(const struct sequences_request *r)
{
    return r->operands > 0 && command_file_is(r->operand[0], IMREC_FILE_CBF);
}

bool sequences_are_asked(const struct sequences_request *r)
{
    if (r->config[0] != '\0')
        return true;
    for (int i = 1; i < r->operands; i++)
        if (sequences_is_pair(r->operand[i]))
            return true;
    return r->operands > 0 && command_file_is(r->operand[0], IMREC_FILE_CTF);
}

/* ---- what is asked for ------------------------------------------------------------------- */

static enum imrec_status configure(const struct sequences_request *r,
                                   struct imrec_minibatch_config *c, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    cli_log(r->name, IMREC_LOG_TRACE); /* which the library has for trace_level=2 only */
    if (r->config[0] != '\0')
        st = minibatch_config_load(c, r->config, r->operands, r->operand, err);
    for (int i = 0; i < r->operands && st == IMREC_OK; i++) {
        const bool is_file = i == 0 && !sequences_is_pair(r->operand[i]);
        st = is_file ? minibatch_config_file(c, r->operand[i], err)
                     : imrec_minibatch_config_set(c, r->operand[i], err);
    }
    return st;
}

int sequences_configure(const struct sequences_request *r, struct imrec_minibatch_config **out)
{
    struct imrec_error err;
    if (imrec_minibatch_config_new(out, &err) != IMREC_OK)
        return cli_fail(r->name, &err);
    if (configure(r, *out, &err) != IMREC_OK)
        return cli_fail(r->name, &err);
    if (imrec_minibatch_config_options(*out)->deserializers == 0)
        return cli_refuse(stderr, r->name, "a file is missing");
    return EXIT_OK;
}

/* ---- info -------------------------------------------------------------------------------- */

static void json_inputs(struct json *j, const struct imrec_ctf_card *c)
{
    json_array(j, "inputs");
    for (uint32_t i = 0; i < c->inputs; i++) {
        const struct imrec_ctf_input *in = &c->input[i];
        json_object(j, NULL);
        json_text(j, "alias", in->alias);
        json_text(j, "format", in->sparse ? "sparse" : "dense");
        JSON_UINTS(j, {"samples", in->samples}, {"first_width", in->width});
        if (in->sparse)
            json_uint(j, "max_index", in->max_index);
        else
            json_bool(j, "varies", in->varies);
        json_end(j);
    }
    json_end(j);
}

static void json_card(const struct imrec_ctf_card *c)
{
    struct json j;
    json_begin(&j, stdout);
    json_text(&j, "format", "ctf");
    JSON_UINTS(&j, {"bytes", c->bytes}, {"sequences", c->sequences}, {"samples", c->samples},
               {"longest_sequence", c->longest}, {"chunks", c->chunks});
    json_bool(&j, "ids", c->has_ids);
    json_uint(&j, "bytes_looked_at", c->looked);
    json_inputs(&j, c);
    json_close(&j);
}

static void print_card(const struct imrec_ctf_card *c)
{
    char n[HUMAN_BYTES], size[HUMAN_BYTES];
    printf("sequences  %s, %s", human_count(c->sequences, n), human_size(c->bytes, size));
    printf(", chunks: %s; %s\n", human_count(c->chunks, n),
           c->has_ids ? "by their ids" : "one a line");
    printf("samples    %s", human_count(c->samples, n));
    printf(", the longest sequence has %s\n", human_count(c->longest, n));
    for (uint32_t i = 0; i < c->inputs; i++) {
        const struct imrec_ctf_input *in = &c->input[i];
        printf("input      %s: %s, ", cli_show(in->alias), in->sparse ? "sparse" : "dense");
        if (in->sparse)
            printf("indices up to %" PRIu64, in->max_index);
        else
            printf("dim %" PRIu64 "%s", in->width,
                   in->varies ? " (in the first sample; varies)" : "");
        printf(", samples: %s\n", human_count(in->samples, n));
    }
    if (c->looked < c->bytes)
        printf("looked at  the first %s for inputs\n", human_size(c->looked, size));
}

static int binary_card_of(const struct sequences_request *r, const struct imrec_deserializer *d)
{
    struct json json, *j = json_begin_if(r->json, &json, NULL);
    const int status = cbf_show(r->name, d->file, false, j);
    json_close(j);
    return status;
}

/* One file: all is found by looking, only how it is cut is taken from the keys. */
static int card_of(const struct sequences_request *r, const struct imrec_deserializer *d)
{
    struct imrec_ctf_card c;
    struct imrec_error err;
    if (command_file_is(d->file, IMREC_FILE_CBF))
        return binary_card_of(r, d);
    if (imrec_ctf_card(d->file, d->skip_sequence_ids, (uint64_t)d->chunk_size_in_bytes, &c, &err) !=
        IMREC_OK)
        return cli_fail(r->name, &err);
    if (r->json)
        json_card(&c);
    else
        print_card(&c);
    imrec_ctf_card_free(&c);
    return EXIT_OK;
}

int sequences_info(const struct sequences_request *r)
{
    struct imrec_minibatch_config *c;
    int status = sequences_configure(r, &c);
    if (status == EXIT_OK) {
        const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
        for (uint32_t i = 0; i < o->deserializers && status == EXIT_OK; i++) {
            if (o->deserializers > 1 && !r->json)
                printf("%s%s\n", i > 0 ? "\n" : "", cli_show(o->deserializer[i].file));
            status = card_of(r, &o->deserializer[i]);
        }
    }
    imrec_minibatch_config_free(c);
    return status;
}

/* ---- verify ------------------------------------------------------------------------------ */

static void found(void *user, const struct imrec_finding *f)
{
    struct json *j = user;
    if (j == NULL) {
        puts(cli_show(f->reason));
        return;
    }
    json_object(j, NULL);
    json_uint(j, "offset", f->begin);
    json_text(j, "message", cli_uri(f->reason));
    json_end(j);
}

static enum imrec_status read_all(struct imrec_sequences *s, struct imrec_error *err)
{
    struct imrec_sequence one;
    enum imrec_status st;
    do
        st = imrec_sequences_next(s, &one, err);
    while (st == IMREC_OK);
    return st == IMREC_END ? IMREC_OK : st;
}

static void end_list(struct json *j, const struct imrec_sequences_totals *t, bool whole)
{
    json_end(j);
    JSON_UINTS(j, {"sequences", t->read}, {"samples", t->samples}, {"bytes", t->bytes},
               {"findings", t->problems + !whole}, {"lost", t->lost});
    json_bool(j, "fine", whole && t->problems == 0);
    json_close(j);
}

static void print_totals(const struct imrec_sequences_totals *t)
{
    char n[HUMAN_THINGS], lost[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("%s, %s: every value parsed; ", human_things(t->read, "sequence", n),
           human_size(t->bytes, size));
    if (t->problems == 0)
        fputs("nothing wrong\n", stdout);
    else
        printf("%s, %s lost\n", human_things(t->problems, "finding", n),
               human_things(t->lost, "sequence", lost));
}

static int verify_one(const struct sequences_request *r, const struct imrec_deserializer *given,
                      enum imrec_precision precision)
{
    struct json json, *j = json_begin_if(r->json, &json, "list");
    struct imrec_error err;
    struct imrec_sequences *s;
    struct imrec_sequences_totals t = {0};
    struct imrec_deserializer d = *given;
    d.max_errors = INT64_MAX; /* all of them are wanted */
    enum imrec_status st = imrec_sequences_open(&d, precision, found, j, &s, &err);
    if (st == IMREC_OK) {
        st = read_all(s, &err);
        t = imrec_sequences_totals(s);
    }
    imrec_sequences_close(s);
    if (j != NULL)
        end_list(j, &t, st == IMREC_OK);
    else if (st == IMREC_OK)
        print_totals(&t);
    if (st != IMREC_OK)
        return cli_fail(r->name, &err);
    return t.problems == 0 ? EXIT_OK : EXIT_FAILED;
}

int sequences_verify(const struct sequences_request *r)
{
    struct imrec_minibatch_config *c;
    int status = sequences_configure(r, &c);
    if (status == EXIT_OK) {
        const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
        for (uint32_t i = 0; i < o->deserializers; i++) {
            const int one = verify_one(r, &o->deserializer[i], o->precision);
            status = one != EXIT_OK ? one : status;
        }
    }
    imrec_minibatch_config_free(c);
    return status;
}
