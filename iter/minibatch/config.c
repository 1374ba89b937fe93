/*
 * iter/minibatch/config.c - the options of a minibatch source, out of the sections of CNTK's
 * pages and out of key=value.
 *
 * A key is looked up in the table of the source, then in that of a file; nothing else exists but
 * the words that the pages use for structure. Everything that text says is copied.
 */
#include "iter/minibatch/config.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/reader_config.h"
#include "storage/source.h"

#include <stdio.h>
#include <string.h>

#define PARAM_STRUCT struct imrec_minibatch_options
const struct param minibatch_params[] = {IMREC_MINIBATCH_PARAMS(PARAM_ROW){0}};
#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_deserializer
const struct param deserializer_params[] = {IMREC_DESERIALIZER_PARAMS(PARAM_ROW){0}};

enum { MAX_DESERIALIZERS = 256, MAX_STREAMS = 4096, SAID = 384 };

struct kept { /* text that options point to */
    struct kept *before;
    char text[];
};

struct imrec_minibatch_config {
    struct imrec_minibatch_options options;
    struct imrec_deserializer common; /* of the files to come */
    struct imrec_deserializer *files;
    struct imrec_stream *loose; /* streams described before any file */
    uint32_t loose_streams;
    struct kept *kept;
};

void imrec_deserializer_init_sized(struct imrec_deserializer *d, size_t size)
{
    struct imrec_deserializer defaults = {0};
    param_defaults(deserializer_params, &defaults);
    memset(d, 0, size);
    memcpy(d, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
    d->struct_size = size;
}

void imrec_minibatch_options_init_sized(struct imrec_minibatch_options *o, size_t size)
{
    struct imrec_minibatch_options defaults = {0};
    param_defaults(minibatch_params, &defaults);
    memset(o, 0, size);
    memcpy(o, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
    o->struct_size = size;
}

/* ---- memory ------------------------------------------------------------------------------ */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for a configuration");
}

enum imrec_status
imrec_minibatch_config_new(struct imrec_minibatch_config **out, struct imrec_error *err)
{
    struct imrec_minibatch_config *c = imrec_zalloc(1, sizeof(*c));
    *out = c;
    if (c == NULL)
        return no_memory(err);
    imrec_minibatch_options_init(&c->options);
    imrec_deserializer_init(&c->common);
    return IMREC_OK;
}

void imrec_minibatch_config_free(struct imrec_minibatch_config *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->options.deserializers; i++)
        imrec_free((void *)c->files[i].stream);
    for (struct kept *k = c->kept, *before; k != NULL; k = before) {
        before = k->before;
        imrec_free(k);
    }
    imrec_free(c->files);
    imrec_free(c->loose);
    imrec_free(c);
}

static const char *keep(struct imrec_minibatch_config *c, const char *text, size_t n)
{
    struct kept *k = imrec_realloc(NULL, sizeof(*k) + n + 1, 1);
    if (k == NULL)
        return NULL;
    memcpy(k->text, text, n);
    k->text[n] = '\0';
    k->before = c->kept;
    c->kept = k;
    return k->text;
}

/* ---- one value --------------------------------------------------------------------------- */

/* What `table` has under a name as CNTK's pages or C spell it. False: nothing. */
static bool
config_param_find(const struct param *table, const char *name, size_t n, const struct param **out)
{
    char spelled[64];
    if (n >= sizeof(spelled))
        return false;
    memcpy(spelled, name, n);
    spelled[n] = '\0';
    for (; table->name != NULL; table++)
        if (config_same_name(table->name, spelled)) {
            *out = table;
            return true;
        }
    return false;
}

/* The words of the pages that have another name here. */
static const char *renamed(const char *name)
{
    static const char *const words[][2] = {{"minibatchSize", "minibatch_size_in_samples"},
                                           {"readerType", "type"},
                                           {"verbosity", "trace_level"},
                                           {"truncationLength", "truncation_length"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (config_same_name(words[i][0], name))
            return words[i][1];
    return name;
}

static const char *written_number(const char *name, const char *text)
{
    if (config_same_name(name, "epoch_size") && config_same_name(text, "INFINITELY_REPEAT"))
        return "9223372036854775807";
    if (config_same_name(name, "epoch_size") && config_same_name(text, "FULL_DATA_SWEEP"))
        return "9223372036854775806";
    return text;
}

static enum imrec_status unknown_key(const char *name, struct imrec_error *err)
{
    const size_t n = strlen(name);
    const struct param *nearest = param_nearest(minibatch_params, name, n);
    if (nearest == NULL)
        nearest = param_nearest(deserializer_params, name, n);
    return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET, "unknown key '%.60s'%s%s%s",
                          name, nearest ? "; did you mean " : "", nearest ? nearest->name : "",
                          nearest ? "?" : "");
}

static enum imrec_status set(struct imrec_minibatch_config *c, const struct param *p,
                             const struct param *table, void *values, const char *text,
                             struct imrec_error *err)
{
    const char *number = written_number(p->name, text);
    const char *copy = keep(c, number, strlen(number));
    if (copy == NULL)
        return no_memory(err);
    return param_set(table, values, p->name, strlen(p->name), copy, err);
}

/* A key of a file, into one of them or into all there are and are to come. */
static enum imrec_status set_of_file(struct imrec_minibatch_config *c, const struct param *p,
                                     struct imrec_deserializer *d, const char *text,
                                     struct imrec_error *err)
{
    if (d != NULL)
        return set(c, p, deserializer_params, d, text, err);
    IMREC_TRY(set(c, p, deserializer_params, &c->common, text, err));
    for (uint32_t i = 0; i < c->options.deserializers; i++)
        IMREC_TRY(set(c, p, deserializer_params, &c->files[i], text, err));
    return IMREC_OK;
}

/* d: the file that the key stands in the section of, or NULL. */
static enum imrec_status set_key(struct imrec_minibatch_config *c, struct imrec_deserializer *d,
                                 bool of_file_only, const char *key, const char *text,
                                 struct imrec_error *err)
{
    const struct param *p;
    const char *name = renamed(key);
    const size_t n = strlen(name);
    if (config_same_name(name, "module")) /* which library to load: there is one */
        return IMREC_OK;
    if (!of_file_only && config_param_find(minibatch_params, name, n, &p))
        return set(c, p, minibatch_params, &c->options, text, err);
    if (config_param_find(deserializer_params, name, n, &p))
        return set_of_file(c, p, d, text, err);
    return unknown_key(key, err);
}

/* ---- files and streams ------------------------------------------------------------------- */

static enum imrec_status
add_file(struct imrec_minibatch_config *c, struct imrec_deserializer **out, struct imrec_error *err)
{
    const uint32_t n = c->options.deserializers;
    if (n == MAX_DESERIALIZERS)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET, "more than %d deserializers",
                              MAX_DESERIALIZERS);
    struct imrec_deserializer *grown = imrec_realloc(c->files, n + 1, sizeof(*grown));
    if (grown == NULL)
        return no_memory(err);
    c->files = grown;
    grown[n] = c->common;
    grown[n].stream = n == 0 ? c->loose : NULL;
    grown[n].streams = n == 0 ? c->loose_streams : 0;
    if (n == 0) {
        c->loose = NULL;
        c->loose_streams = 0;
    }
    c->options.deserializer = grown;
    c->options.deserializers = n + 1;
    *out = &grown[n];
    return IMREC_OK;
}

static struct imrec_stream *find_stream(const struct imrec_stream *s, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0)
            return (struct imrec_stream *)&s[i];
    return NULL;
}

/* The stream called name[0..n) of d (NULL: of no file yet), a new one where there is none. */
static enum imrec_status stream_called(struct imrec_minibatch_config *c,
                                       struct imrec_deserializer *d, const char *name, size_t n,
                                       struct imrec_stream **out, struct imrec_error *err)
{
    const struct imrec_stream *have = d != NULL ? d->stream : c->loose;
    const uint32_t count = d != NULL ? d->streams : c->loose_streams;
    const char *copy = keep(c, name, n);
    if (copy == NULL)
        return no_memory(err);
    if (n == 0)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "the name of an input is empty");
    if ((*out = find_stream(have, count, copy)) != NULL)
        return IMREC_OK;
    if (count == MAX_STREAMS)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET, "more than %d inputs",
                              MAX_STREAMS);
    struct imrec_stream *grown = imrec_realloc((void *)have, count + 1, sizeof(*grown));
    if (grown == NULL)
        return no_memory(err);
    grown[count] = (struct imrec_stream){.name = copy};
    if (d != NULL) {
        d->stream = grown;
        d->streams = count + 1;
    } else {
        c->loose = grown;
        c->loose_streams = count + 1;
    }
    *out = &grown[count];
    return IMREC_OK;
}

struct stream_values { /* what param.h can read */
    IMREC_INPUT_PARAMS(IMREC_FIELD)
};
#undef PARAM_STRUCT
#define PARAM_STRUCT struct stream_values
static const struct param stream_params[] = {IMREC_INPUT_PARAMS(PARAM_ROW){0}};

static enum imrec_status set_of_stream(struct imrec_minibatch_config *c, struct imrec_stream *s,
                                       const char *key, const char *text, struct imrec_error *err)
{
    struct stream_values v = {s->alias, s->storage, s->dim, s->defines_mb_size, s->precision};
    const struct param *p;
    if (!config_param_find(stream_params, key, strlen(key), &p))
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "unknown key '%.60s' of input %.60s; alias, format, dim, "
                              "definesMBSize and precision are known",
                              key, s->name);
    const enum imrec_status st = set(c, p, stream_params, &v, text, err);
    if (st != IMREC_OK)
        return st;
    s->storage_given |= strcmp(p->name, "format") == 0;
    s->alias = v.alias;
    s->storage = v.format;
    s->dim = (uint32_t)v.dim;
    s->defines_mb_size = v.defines_mb_size;
    s->precision = v.precision;
    s->precision_given |= strcmp(p->name, "precision") == 0;
    return IMREC_OK;
}

/* ---- sections ---------------------------------------------------------------------------- */

static enum imrec_status at_line(const char *name, const struct config_node *n,
                                 enum imrec_status st, struct imrec_error *err)
{
    if (st == IMREC_OK || st == IMREC_ERR_NO_MEMORY || err == NULL)
        return st;
    char said[SAID];
    snprintf(said, sizeof(said), "%.*s", SAID - 1, err->message);
    return imrec_error_at(err, st, IMREC_NO_OFFSET, "%.100s: line %u: %s", name, n->line, said);
}

static enum imrec_status want(const char *name, const struct config_node *n, enum config_kind kind,
                              const char *what, struct imrec_error *err)
{
    if (n->kind == kind)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                          "%.100s: line %u: '%.60s' must be %s", name, n->line, n->name, what);
}

static enum imrec_status read_input(struct imrec_minibatch_config *c, struct imrec_deserializer *d,
                                    const char *name, const struct config_node *input,
                                    struct imrec_error *err)
{
    struct imrec_stream *s;
    for (const struct config_node *n = input->first; n != NULL; n = n->next) {
        IMREC_TRY(want(name, n, CONFIG_SECTION, "a section: [ alias dim format ]", err));
        if (find_stream(d->stream, d->streams, n->name) != NULL)
            return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                                  "%.100s: line %u: input '%.60s' is described twice", name,
                                  n->line, n->name);
        IMREC_TRY(stream_called(c, d, n->name, strlen(n->name), &s, err));
        for (const struct config_node *k = n->first; k != NULL; k = k->next) {
            IMREC_TRY(want(name, k, CONFIG_TEXT, "a value", err));
            IMREC_TRY(at_line(name, k, set_of_stream(c, s, k->name, k->text, err), err));
        }
    }
    return IMREC_OK;
}

/* The keys of a file: of a deserializer, or of a reader that has none (then also a source's). */
static enum imrec_status read_file(struct imrec_minibatch_config *c, const char *name,
                                   const struct config_node *section, bool is_reader,
                                   struct imrec_error *err)
{
    struct imrec_deserializer *d;
    IMREC_TRY(want(name, section, CONFIG_SECTION, "a section", err));
    IMREC_TRY(add_file(c, &d, err));
    for (const struct config_node *n = section->first; n != NULL; n = n->next) {
        if (config_same_name(n->name, "input")) {
            IMREC_TRY(want(name, n, CONFIG_SECTION, "a section of inputs", err));
            IMREC_TRY(read_input(c, d, name, n, err));
            continue;
        }
        IMREC_TRY(want(name, n, CONFIG_TEXT, "a value", err));
        IMREC_TRY(at_line(name, n, set_key(c, d, !is_reader, n->name, n->text, err), err));
    }
    return IMREC_OK;
}

static enum imrec_status read_composite(struct imrec_minibatch_config *c, const char *name,
                                        const struct config_node *reader,
                                        const struct config_node *files, struct imrec_error *err)
{
    for (const struct config_node *n = reader->first; n != NULL; n = n->next) {
        if (n == files)
            continue;
        IMREC_TRY(want(name, n, CONFIG_TEXT, "a value", err));
        IMREC_TRY(at_line(name, n, set_key(c, NULL, false, n->name, n->text, err), err));
    }
    IMREC_TRY(want(name, files, CONFIG_ARRAY, "an array: ( { ... } { ... } )", err));
    for (const struct config_node *n = files->first; n != NULL; n = n->next)
        IMREC_TRY(read_file(c, name, n, false, err));
    return IMREC_OK;
}

static enum imrec_status read_document(struct imrec_minibatch_config *c, const char *name,
                                       const struct config_node *root, struct imrec_error *err)
{
    for (const struct config_node *n = root->first; n != NULL; n = n->next) {
        if (!config_same_name(n->name, "reader")) {
            IMREC_TRY(want(name, n, CONFIG_TEXT, "a value", err));
            IMREC_TRY(at_line(name, n, set_key(c, NULL, false, n->name, n->text, err), err));
            continue;
        }
        IMREC_TRY(want(name, n, CONFIG_SECTION, "a section: [ ... ] or { ... }", err));
        const struct config_node *files = config_find(n, "deserializers");
        IMREC_TRY(files != NULL ? read_composite(c, name, n, files, err)
                                : read_file(c, name, n, true, err));
    }
    return IMREC_OK;
}

/* ---- public ------------------------------------------------------------------------------ */

enum imrec_status imrec_minibatch_config_parse(struct imrec_minibatch_config *c, const char *name,
                                               const char *text, size_t n, struct imrec_error *err)
{
    struct config_tree *tree;
    struct imrec_error own; /* set_key()'s sentence is wanted, whether or not the caller asks */
    IMREC_TRY(config_parse(name, (struct bytes){(const uint8_t *)text, n}, &tree, err));
    const enum imrec_status st =
        read_document(c, name, config_root(tree), err != NULL ? err : &own);
    config_free(tree);
    return st;
}

enum imrec_status imrec_minibatch_config_load(struct imrec_minibatch_config *c, const char *uri,
                                              struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    IMREC_TRY(source_load(uri, READER_CONFIG_MAX_BYTES, &text, &n, err));
    const enum imrec_status st = imrec_minibatch_config_parse(c, uri, (const char *)text, n, err);
    imrec_free(text);
    return st;
}

/* input.NAME.key: NAME may have dots. */
static enum imrec_status set_input(struct imrec_minibatch_config *c, const char *rest,
                                   const char *equals, struct imrec_error *err)
{
    const char *dot = NULL;
    for (const char *p = rest; p < equals; p++)
        if (*p == '.')
            dot = p;
    if (dot == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "'input.%.60s' is not of the form input.NAME.key=value", rest);
    const char *key = keep(c, dot + 1, (size_t)(equals - dot - 1));
    if (key == NULL)
        return no_memory(err);
    struct imrec_deserializer *d = c->options.deserializers > 0 ? &c->files[0] : NULL;
    struct imrec_stream *s;
    IMREC_TRY(stream_called(c, d, rest, (size_t)(dot - rest), &s, err));
    return set_of_stream(c, s, key, equals + 1, err);
}

enum imrec_status imrec_minibatch_config_set(struct imrec_minibatch_config *c,
                                             const char *key_value, struct imrec_error *err)
{
    const char *equals = strchr(key_value, '=');
    if (equals == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "'%.80s' is not of the form key=value", key_value);
    if (strncmp(key_value, "input.", 6) == 0)
        return set_input(c, key_value + 6, equals, err);
    const char *key = keep(c, key_value, (size_t)(equals - key_value));
    if (key == NULL)
        return no_memory(err);
    struct imrec_deserializer *d = NULL;
    if (config_same_name(key, "file"))
        IMREC_TRY(add_file(c, &d, err));
    return set_key(c, d, false, key, equals + 1, err);
}

const struct imrec_minibatch_options *
imrec_minibatch_config_options(const struct imrec_minibatch_config *c)
{
    return &c->options;
}
