/*
 * minibatch/config.c - the options of a minibatch source, out of key=value.
 *
 * A key is looked up in the table of the source, then in that of a file; nothing else exists but
 * the words that CNTK's pages use for structure. Everything that text says is copied.
 */
#include "minibatch/config.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "formats/ctf/reader_config.h"

#include <string.h>
#include <strings.h>

#define PARAM_STRUCT struct imrec_minibatch_options
const struct param minibatch_params[] = {IMREC_MINIBATCH_PARAMS(PARAM_ROW){0}};
#undef PARAM_STRUCT
#define PARAM_STRUCT struct imrec_deserializer
const struct param deserializer_params[] = {IMREC_DESERIALIZER_PARAMS(PARAM_ROW){0}};

enum { MAX_DESERIALIZERS = 256, MAX_STREAMS = 4096 };

void imrec_deserializer_init_sized(struct imrec_deserializer *d, size_t size)
{
    struct imrec_deserializer defaults = {0};
    param_defaults(deserializer_params, &defaults);
    sized_init(d, size, &defaults, sizeof(defaults));
}

void imrec_minibatch_options_init_sized(struct imrec_minibatch_options *o, size_t size)
{
    struct imrec_minibatch_options defaults = {0};
    param_defaults(minibatch_params, &defaults);
    sized_init(o, size, &defaults, sizeof(defaults));
}

/* ---- memory ------------------------------------------------------------------------------ */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for a configuration");
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
    c->action = "";
    return IMREC_OK;
}

void imrec_minibatch_config_free(struct imrec_minibatch_config *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->options.deserializers; i++)
        imrec_free((void *)c->files[i].stream);
    for (struct config_variable *v = c->variable, *next; v != NULL; v = next) {
        next = v->next;
        imrec_free(v);
    }
    string_arena_free(&c->kept);
    IMREC_FREE(c->files, c->loose, c);
}

enum imrec_status config_keep(struct imrec_minibatch_config *c, const char *text, size_t n,
                              const char **out, struct imrec_error *err)
{
    char *kept = string_arena_put(&c->kept, NULL, n + 1);
    *out = kept;
    if (kept == NULL)
        return no_memory(err);
    memcpy(kept, text, n);
    kept[n] = '\0';
    return IMREC_OK;
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
                                           {"verbosity", "trace_level"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (config_same_name(words[i][0], name))
            return words[i][1];
    return name;
}

/* Values that CNTK spells otherwise than the tables do; key NULL: of every flag. */
static const char *respelled(const struct param *p, const char *text)
{
    static const struct {
        const char *key, *text, *means;
    } words[] = {
        {NULL, "true", "1"},
        {NULL, "t", "1"},
        {NULL, "false", "0"},
        {NULL, "f", "0"},
        {"randomize", "auto", "1"},
        {"randomize", "none", "0"},
        {"truncated", "t", "true"},
        {"truncated", "f", "false"},
        {"truncated", "1", "true"},
        {"truncated", "0", "false"},
        {"truncated", "true", "true"},
        {"truncated", "false", "false"},
        {"prefetch", "true", "2"},
        {"prefetch", "false", "1"},
        {"precision", "float", "float"},
        {"precision", "double", "double"},
        {"format", "dense", "dense"},
        {"format", "sparse", "sparse"},
        {"trace_level", "3", "2"},
        {"trace_level", "4", "2"},
        {"epoch_size", "INFINITELY_REPEAT", "9223372036854775807"},
        {"epoch_size", "FULL_DATA_SWEEP", "9223372036854775806"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((words[i].key == NULL ? p->type == PARAM_FLAG : strcmp(words[i].key, p->name) == 0) &&
            config_same_name(words[i].text, text))
            return words[i].means;
    return text;
}

static enum imrec_status unknown_key(const char *name, struct imrec_error *err)
{
    const size_t n = strlen(name);
    const struct param *p, *nearest = param_nearest(minibatch_params, name, n);
    if (config_param_find(minibatch_params, name, n, &p))
        return IMREC_REFUSE(err, "'%.60s' is a key of the reader, not of one of its deserializers",
                            name);
    if (nearest == NULL)
        nearest = param_nearest(deserializer_params, name, n);
    return IMREC_REFUSE(err, "unknown key '%.60s'%s%s%s", name, nearest ? "; did you mean " : "",
                        nearest ? nearest->name : "", nearest ? "?" : "");
}

static enum imrec_status set(struct imrec_minibatch_config *c, const struct param *p,
                             const struct param *table, void *values, const char *text,
                             struct imrec_error *err)
{
    const char *value = respelled(p, text), *copy;
    IMREC_TRY(config_keep(c, value, strlen(value), &copy, err));
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

/* What CNTK's readers have and no reader here needs: which library to load, how old ones packed. */
static bool is_without_effect(const char *key)
{
    return config_same_name(key, "module") || config_same_name(key, "miniBatchMode") ||
           config_same_name(key, "multiThreadedDeserialization");
}

bool config_knows(const char *key)
{
    const struct param *p;
    const char *name = renamed(key);
    return is_without_effect(key) || config_param_find(minibatch_params, name, strlen(name), &p) ||
           config_param_find(deserializer_params, name, strlen(name), &p);
}

enum imrec_status config_set_key(struct imrec_minibatch_config *c, struct imrec_deserializer *d,
                                 bool of_file_only, const char *key, const char *text,
                                 struct imrec_error *err)
{
    const struct param *p;
    const char *name = renamed(key);
    const size_t n = strlen(name);
    if (is_without_effect(key))
        return IMREC_OK;
    if (!of_file_only && config_param_find(minibatch_params, name, n, &p))
        return set(c, p, minibatch_params, &c->options, text, err);
    if (config_param_find(deserializer_params, name, n, &p))
        return set_of_file(c, p, d, text, err);
    return unknown_key(key, err);
}

/* ---- files and streams ------------------------------------------------------------------- */

enum imrec_status config_add_file(struct imrec_minibatch_config *c, struct imrec_deserializer **out,
                                  struct imrec_error *err)
{
    const uint32_t n = c->options.deserializers;
    if (n == MAX_DESERIALIZERS)
        return imrec_fail(err, IMREC_ERR_LIMIT, "more than %d deserializers", MAX_DESERIALIZERS);
    if (!IMREC_GROW(c->files, c->room, n + 1u))
        return no_memory(err);
    *out = &c->files[n];
    **out = c->common;
    (*out)->stream = c->loose; /* the first file's, if any */
    (*out)->streams = c->loose_streams;
    c->loose = NULL;
    c->loose_streams = 0;
    c->options.deserializer = c->files;
    c->options.deserializers = n + 1;
    return IMREC_OK;
}

struct imrec_stream *config_find_stream(const struct imrec_stream *s, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0)
            return (struct imrec_stream *)&s[i];
    return NULL;
}

enum imrec_status config_stream(struct imrec_minibatch_config *c, struct imrec_deserializer *d,
                                const char *name, size_t n, struct imrec_stream **out,
                                struct imrec_error *err)
{
    const struct imrec_stream *have = d != NULL ? d->stream : c->loose;
    const uint32_t count = d != NULL ? d->streams : c->loose_streams;
    const char *copy;
    if (n == 0)
        return IMREC_REFUSE(err, "the name of an input is empty");
    IMREC_TRY(config_keep(c, name, n, &copy, err));
    if ((*out = config_find_stream(have, count, copy)) != NULL)
        return IMREC_OK;
    if (count == MAX_STREAMS)
        return imrec_fail(err, IMREC_ERR_LIMIT, "more than %d inputs", MAX_STREAMS);
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

enum imrec_status config_set_of_stream(struct imrec_minibatch_config *c, struct imrec_stream *s,
                                       const char *key, const char *text, struct imrec_error *err)
{
    struct stream_values v = {s->alias, s->storage, s->dim, s->defines_mb_size, s->precision};
    const struct param *p;
    if (!config_param_find(stream_params, key, strlen(key), &p))
        return IMREC_REFUSE(err,
                            "unknown key '%.60s' of input %.60s; alias, format, dim, "
                            "definesMBSize and precision are known",
                            key, s->name);
    IMREC_TRY(set(c, p, stream_params, &v, text, err));
    s->storage_given |= strcmp(p->name, "format") == 0;
    s->precision_given |= strcmp(p->name, "precision") == 0;
    s->alias = v.alias;
    s->storage = v.format;
    s->dim = (uint32_t)v.dim;
    s->defines_mb_size = v.defines_mb_size;
    s->precision = v.precision;
    return IMREC_OK;
}

/* ---- public ------------------------------------------------------------------------------ */

/* The file that has an input called name[0..n); else the only one. */
static enum imrec_status file_of_input(struct imrec_minibatch_config *c, const char *name, size_t n,
                                       struct imrec_deserializer **out, struct imrec_error *err)
{
    const char *copy;
    *out = NULL;
    IMREC_TRY(config_keep(c, name, n, &copy, err));
    for (uint32_t i = 0; i < c->options.deserializers && *out == NULL; i++)
        if (config_find_stream(c->files[i].stream, c->files[i].streams, copy) != NULL)
            *out = &c->files[i];
    if (*out == NULL && c->options.deserializers > 1)
        return IMREC_REFUSE(err, "none of the %u files has an input '%.60s'",
                            c->options.deserializers, copy);
    if (*out == NULL && c->options.deserializers == 1)
        *out = &c->files[0];
    return IMREC_OK;
}

/* input.NAME.key: NAME may have dots. */
static enum imrec_status set_input(struct imrec_minibatch_config *c, const char *rest,
                                   const char *equals, struct imrec_error *err)
{
    const char *dot = NULL, *key;
    for (const char *p = rest; p < equals; p++)
        if (*p == '.')
            dot = p;
    if (dot == NULL)
        return IMREC_REFUSE(err, "'input.%.60s' is not of the form input.NAME.key=value", rest);
    IMREC_TRY(config_keep(c, dot + 1, (size_t)(equals - dot - 1), &key, err));
    struct imrec_deserializer *d;
    struct imrec_stream *s;
    IMREC_TRY(file_of_input(c, rest, (size_t)(dot - rest), &d, err));
    IMREC_TRY(config_stream(c, d, rest, (size_t)(dot - rest), &s, err));
    return config_set_of_stream(c, s, key, equals + 1, err);
}

static enum imrec_status
set_file(struct imrec_minibatch_config *c, const char *file, struct imrec_error *err)
{
    struct imrec_deserializer *d = c->files;
    if (c->options.deserializers > 1)
        return IMREC_REFUSE(err,
                            "file= replaces the only file of a source, this one has %u: '%.80s', "
                            "'%.80s', ...",
                            c->options.deserializers, d[0].file != NULL ? d[0].file : "",
                            d[1].file != NULL ? d[1].file : "");
    if (c->options.deserializers == 0)
        IMREC_TRY(config_add_file(c, &d, err));
    return config_set_key(c, d, false, "file", file, err);
}

enum imrec_status
config_choose_reader(struct imrec_minibatch_config *c, const char *action, struct imrec_error *err)
{
    if (c->options.deserializers > 0 && !config_same_name(c->action, action))
        return IMREC_REFUSE(err,
                            "action=%.60s chooses a reader of a configuration; there is none, or "
                            "it has been read already",
                            action);
    return config_keep(c, action, strlen(action), &c->action, err);
}

static bool stands_for_variable(const struct imrec_minibatch_config *c, const char *name)
{
    const struct config_variable *v = c->variable;
    while (v != NULL && !(v->used && strcasecmp(v->name, name) == 0))
        v = v->next;
    return v != NULL;
}

enum imrec_status imrec_minibatch_config_set(struct imrec_minibatch_config *c,
                                             const char *key_value, struct imrec_error *err)
{
    const char *equals = strchr(key_value, '='), *key;
    if (equals == NULL)
        return IMREC_REFUSE(err, "'%.80s' is not of the form key=value", key_value);
    if (strncmp(key_value, "input.", 6) == 0)
        return set_input(c, key_value + 6, equals, err);
    IMREC_TRY(config_keep(c, key_value, (size_t)(equals - key_value), &key, err));
    if (config_same_name(key, "file"))
        return set_file(c, equals + 1, err);
    if (config_same_name(key, "action"))
        return config_choose_reader(c, equals + 1, err);
    if (!config_knows(key) && stands_for_variable(c, key))
        return IMREC_OK; /* it has had its effect */
    return config_set_key(c, NULL, false, key, equals + 1, err);
}

enum imrec_status imrec_minibatch_config_define(struct imrec_minibatch_config *c,
                                                const char *name_value, struct imrec_error *err)
{
    const char *equals = strchr(name_value, '=');
    if (equals == NULL || equals == name_value)
        return IMREC_REFUSE(err, "'%.80s' is not of the form NAME=VALUE", name_value);
    struct config_variable *v = imrec_zalloc(1, sizeof(*v));
    if (v == NULL)
        return no_memory(err);
    v->next = c->variable; /* the last of a name counts */
    c->variable = v;
    v->name = v->value = "";
    IMREC_TRY(config_keep(c, name_value, (size_t)(equals - name_value), &v->name, err));
    return config_keep(c, equals + 1, strlen(equals + 1), &v->value, err);
}

const struct imrec_minibatch_options *
imrec_minibatch_config_options(const struct imrec_minibatch_config *c)
{
    return &c->options;
}
