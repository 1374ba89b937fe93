/*
 * minibatch/config_document.c - the options of a minibatch source, out of a CNTK
 * configuration: a reader's section alone, or a whole one.
 *
 * As in CNTK a key that a section does not have is taken from those around it, and $NAME$ stands
 * for the value that NAME has there. What else is around the reader is CNTK's own business.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/ctf/reader_config.h"
#include "minibatch/config.h"
#include "storage/source.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SAID = 384, MAX_SCOPES = 34, MAX_READERS = 64, MAX_REPLACED = 1000, MAX_VALUE = 65535 };

struct place { /* a reader, and the sections around it from the document on */
    const struct config_node *reader, *scope[MAX_SCOPES];
    uint32_t scopes;
};

struct document {
    struct imrec_minibatch_config *c;
    const char *name;
    bool whole; /* not a reader's section alone */
    struct place at;
};

static enum imrec_status at_line(const struct document *d, const struct config_node *n,
                                 enum imrec_status st, struct imrec_error *err)
{
    if (st == IMREC_OK || st == IMREC_ERR_NO_MEMORY)
        return st;
    char said[SAID];
    snprintf(said, sizeof(said), "%.*s", SAID - 1, err->message);
    return imrec_fail(err, st, "%.100s: line %u: %s", d->name, n->line, said);
}

static enum imrec_status want(const struct document *d, const struct config_node *n,
                              enum config_kind kind, const char *what, struct imrec_error *err)
{
    if (n->kind == kind)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%.100s: line %u: '%.60s' must be %s", d->name, n->line, n->name,
                        what);
}

/* ---- $NAME$ ------------------------------------------------------------------------------ */

struct replacing {
    const struct document *d;
    struct buf out;
    uint32_t replaced;
};

/* Bytes of the name in "$NAME$", 0: there is none. */
static size_t variable_bytes(const char *p)
{
    static const char none[] = ",/<>?;':\"[]{}\\|!@#%^&*()+=~` \t\n";
    const char first = p[1];
    const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    if (!letter && first != '_')
        return 0;
    const size_t n = strcspn(p + 1, none), m = strcspn(p + 1, "$");
    return m < n || (m == n && p[1 + m] == '$') ? m : 0;
}

/* The value that a name was given from outside, which is good for something, or NULL. */
static const char *find_defined(const struct document *d, const char *name, size_t n)
{
    for (struct config_variable *v = d->c->variable; v != NULL; v = v->next)
        if (strlen(v->name) == n && strncasecmp(v->name, name, n) == 0) {
            v->used = true;
            return v->value;
        }
    return NULL;
}

/* The value of a name in the scopes [0, *scope), innermost first, which *scope goes to; NULL. */
static const char *find_value(const struct document *d, const char *name, size_t n, uint32_t *scope)
{
    const char *defined = find_defined(d, name, n);
    if (defined != NULL) {
        *scope = 0;
        return defined;
    }
    while (*scope > 0) {
        const struct config_node *const s =
            --*scope == d->at.scopes ? d->at.reader : d->at.scope[*scope];
        for (const struct config_node *k = s->first; k != NULL; k = k->next)
            if (k->kind == CONFIG_TEXT && strlen(k->name) == n &&
                strncasecmp(k->name, name, n) == 0) {
                ++*scope;
                return k->text;
            }
    }
    return NULL;
}

static enum imrec_status
replace(struct replacing *r, const char *text, uint32_t scopes, struct imrec_error *err)
{
    while (*text != '\0') {
        const size_t plain = strcspn(text, "$");
        IMREC_TRY(buf_append(&r->out, text, plain, err));
        text += plain;
        const size_t n = *text == '$' ? variable_bytes(text) : 0;
        if (*text == '$' && n == 0)
            IMREC_TRY(buf_append(&r->out, text++, 1, err));
        if (n == 0)
            continue;
        uint32_t scope = scopes;
        const char *value = find_value(r->d, text + 1, n, &scope);
        if (value == NULL)
            return IMREC_REFUSE(err, "$%.*s$ is not defined; say what it is by %.*s=VALUE",
                                (int)(n < 60 ? n : 60), text + 1, (int)(n < 60 ? n : 60), text + 1);
        if (++r->replaced > MAX_REPLACED)
            return imrec_fail(err, IMREC_ERR_LIMIT,
                              "$%.*s$ refers to itself, or to more than %d others",
                              (int)(n < 60 ? n : 60), text + 1, MAX_REPLACED);
        IMREC_TRY(replace(r, value, scope, err));
        text += n + 2;
    }
    return IMREC_OK;
}

/* A node's text as the scopes [0, scopes), with $NAME$ replaced. */
static enum imrec_status value_of(const struct document *d, const struct config_node *n,
                                  uint32_t scopes, const char **out, struct imrec_error *err)
{
    *out = n->text;
    if (strchr(n->text, '$') == NULL)
        return IMREC_OK;
    struct replacing r = {.d = d, .out = BUF_INIT(MAX_VALUE)};
    enum imrec_status st = replace(&r, n->text, scopes, err);
    if (st == IMREC_OK)
        st = config_keep(d->c, r.out.p != NULL ? (const char *)r.out.p : "", r.out.n, out, err);
    buf_free(&r.out);
    return st;
}

/* ---- sections ---------------------------------------------------------------------------- */

static enum imrec_status set_key(const struct document *d, struct imrec_deserializer *file,
                                 bool of_file_only, const struct config_node *n, uint32_t scopes,
                                 struct imrec_error *err)
{
    const char *text;
    IMREC_TRY(want(d, n, CONFIG_TEXT, "a value", err));
    if (d->c->any_file && config_same_name(n->name, "file"))
        return IMREC_OK;
    IMREC_TRY(at_line(d, n, value_of(d, n, scopes, &text, err), err));
    return at_line(d, n, config_set_key(d->c, file, of_file_only, n->name, text, err), err);
}

static enum imrec_status read_input(const struct document *d, struct imrec_deserializer *file,
                                    const struct config_node *input, struct imrec_error *err)
{
    struct imrec_stream *s;
    const char *text;
    for (const struct config_node *n = input->first; n != NULL; n = n->next) {
        IMREC_TRY(want(d, n, CONFIG_SECTION, "a section: [ alias dim format ]", err));
        if (config_find_stream(file->stream, file->streams, n->name) != NULL)
            return IMREC_REFUSE(err, "%.100s: line %u: input '%.60s' is described twice", d->name,
                                n->line, n->name);
        IMREC_TRY(config_stream(d->c, file, n->name, strlen(n->name), &s, err));
        for (const struct config_node *k = n->first; k != NULL; k = k->next) {
            IMREC_TRY(want(d, k, CONFIG_TEXT, "a value", err));
            IMREC_TRY(at_line(d, k, value_of(d, k, d->at.scopes + 1, &text, err), err));
            IMREC_TRY(at_line(d, k, config_set_of_stream(d->c, s, k->name, text, err), err));
        }
    }
    return IMREC_OK;
}

/* The keys of a file: of a deserializer, or of a reader that has none (then also a source's). */
static enum imrec_status read_file(const struct document *d, const struct config_node *section,
                                   bool is_reader, struct imrec_error *err)
{
    struct imrec_deserializer *file;
    IMREC_TRY(want(d, section, CONFIG_SECTION, "a section", err));
    IMREC_TRY(config_add_file(d->c, &file, err));
    for (const struct config_node *n = section->first; n != NULL; n = n->next) {
        if (!config_same_name(n->name, "input")) {
            IMREC_TRY(set_key(d, file, !is_reader, n, d->at.scopes + 1, err));
            continue;
        }
        IMREC_TRY(want(d, n, CONFIG_SECTION, "a section of inputs", err));
        IMREC_TRY(read_input(d, file, n, err));
    }
    return IMREC_OK;
}

static enum imrec_status
read_composite(const struct document *d, const struct config_node *files, struct imrec_error *err)
{
    for (const struct config_node *n = d->at.reader->first; n != NULL; n = n->next)
        if (n != files)
            IMREC_TRY(set_key(d, NULL, false, n, d->at.scopes + 1, err));
    IMREC_TRY(want(d, files, CONFIG_ARRAY, "an array: ( { ... } { ... } )", err));
    for (const struct config_node *n = files->first; n != NULL; n = n->next)
        IMREC_TRY(read_file(d, n, false, err));
    return IMREC_OK;
}

/* ---- around a reader --------------------------------------------------------------------- */

/* Keys of a whole configuration that may be outside of a reader and still be meant for it. */
static bool may_be_around(const char *key)
{
    static const char *const of_a_reader[] = {"file", "type", "readerType", "rank"};
    for (size_t i = 0; i < sizeof(of_a_reader) / sizeof(of_a_reader[0]); i++)
        if (config_same_name(of_a_reader[i], key))
            return false;
    return config_knows(key);
}

/* Keys of a whole configuration that are not a reader's are ignored; one that looks like a reader's
 * is reported. */
static void pass_over(const struct document *d, const struct config_node *n, bool at_the_top)
{
    const struct param *near = param_nearest(minibatch_params, n->name, strlen(n->name));
    if (n->kind != CONFIG_TEXT)
        return;
    if (at_the_top && config_same_name(n->name, "include"))
        imrec_log(IMREC_LOG_WARNING,
                  "%s: line %u: include=%s is not read; what it defines has to be said by "
                  "NAME=VALUE",
                  d->name, n->line, n->text);
    else if (near != NULL && !config_knows(n->name))
        imrec_log(IMREC_LOG_WARNING, "%s: line %u: '%s' is passed over; did you mean %s?", d->name,
                  n->line, n->name, near->name);
}

static enum imrec_status read_around(const struct document *d, struct imrec_error *err)
{
    for (uint32_t i = 0; i < d->at.scopes; i++)
        for (const struct config_node *n = d->at.scope[i]->first; n != NULL; n = n->next) {
            (void)find_defined(d, n->name, strlen(n->name));
            if (config_same_name(n->name, "reader"))
                IMREC_TRY(want(d, n, CONFIG_SECTION, "a section: [ ... ] or { ... }", err));
            if (d->whole ? n->kind == CONFIG_TEXT && may_be_around(n->name) : !config_is_reader(n))
                IMREC_TRY(set_key(d, NULL, false, n, i + 1, err));
            else
                pass_over(d, n, i == 0);
        }
    return IMREC_OK;
}

/* ---- which reader ------------------------------------------------------------------------ */

struct readers {
    struct place at[MAX_READERS];
    uint32_t n, more;
};

static void find_readers(const struct config_node *section, struct place *here, struct readers *out)
{
    here->scope[here->scopes++] = section;
    for (const struct config_node *n = section->first; n != NULL; n = n->next) {
        if (config_is_reader(n)) {
            here->reader = n;
            if (out->n < MAX_READERS)
                out->at[out->n++] = *here;
            else
                out->more++;
        } else if (n->kind == CONFIG_SECTION) {
            find_readers(n, here, out);
        }
    }
    here->scopes--;
}

/* "train", "train.cvReader"; at the top "reader". */
static void name_reader(const struct place *p, char out[96])
{
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 1; i < p->scopes && n < 96; i++)
        n += (size_t)snprintf(out + n, 96 - n, "%s%s", i > 1 ? "." : "", p->scope[i]->name);
    if (n < 96 && (p->scopes == 1 || !config_same_name(p->reader->name, "reader")))
        snprintf(out + n, 96 - n, "%s%s", n > 0 ? "." : "", p->reader->name);
}

static bool is_called(const struct place *p, const char *action)
{
    char name[96], all[96 + sizeof(".reader")];
    name_reader(p, name);
    snprintf(all, sizeof(all), "%s.reader", name);
    return config_same_name(name, action) || config_same_name(all, action);
}

/* By what its action does: train, test, ... */
static bool is_of_kind(const struct place *p, const char *action)
{
    const struct config_node *k = config_find(p->scope[p->scopes - 1], "action");
    return k != NULL && k->kind == CONFIG_TEXT && config_same_name(k->text, action) &&
           config_same_name(p->reader->name, "reader");
}

static enum imrec_status
refuse_choice(const struct document *d, const struct readers *r, struct imrec_error *err)
{
    char list[300] = "", name[96];
    size_t n = 0;
    for (uint32_t i = 0; i < r->n && n < sizeof(list); i++) {
        name_reader(&r->at[i], name);
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s (line %u)", i > 0 ? ", " : "", name,
                              r->at[i].reader->line);
    }
    if (n >= sizeof(list))
        memcpy(list + sizeof(list) - 4, "...", 4);
    name_reader(&r->at[0], name);
    if (d->c->action[0] == '\0')
        return IMREC_REFUSE(err, "%.100s: %u readers are described: %s; choose one by action=%s",
                            d->name, r->n + r->more, list, name);
    return IMREC_REFUSE(err, "%.100s: action=%.60s is not the name of one reader; there are %s",
                        d->name, d->c->action, list);
}

/* *out: the one that is asked for, or the only one. */
static enum imrec_status choose(const struct document *d, const struct readers *r,
                                const struct place **out, struct imrec_error *err)
{
    bool (*const fits[])(const struct place *, const char *) = {is_called, is_of_kind};
    uint32_t found = r->n;
    *out = &r->at[0];
    for (size_t i = 0; i < 2 && d->c->action[0] != '\0'; i++) {
        found = 0;
        for (uint32_t k = 0; k < r->n; k++)
            if (fits[i](&r->at[k], d->c->action)) {
                *out = &r->at[k];
                found++;
            }
        if (found > 0)
            break;
    }
    return found == 1 ? IMREC_OK : refuse_choice(d, r, err);
}

static enum imrec_status find_reader(struct document *d, const struct config_node *root,
                                     struct readers *r, struct imrec_error *err)
{
    const struct place *chosen;
    struct place here = {.scopes = 0};
    find_readers(root, &here, r);
    if (r->n == 0 && d->whole)
        return IMREC_REFUSE(err, "%.100s: no section of it describes a reader: reader = [ ... ]",
                            d->name);
    d->at = (struct place){.scope = {root}, .scopes = 1}; /* keys for a file that comes later */
    if (r->n == 0)
        return IMREC_OK;
    IMREC_TRY(choose(d, r, &chosen, err));
    d->at = *chosen;
    return IMREC_OK;
}

/* ---- the document ------------------------------------------------------------------------ */

static void tell_choice(const struct document *d)
{
    char name[96];
    if (!d->whole || d->c->options.deserializers == 0 || d->c->files[0].trace_level < 2)
        return;
    name_reader(&d->at, name);
    imrec_log(IMREC_LOG_TRACE, "%s: line %u: the reader of %s; other sections are skipped", d->name,
              d->at.reader->line, name);
}

static enum imrec_status read_document(struct document *d, const struct config_node *root,
                                       struct readers *r, struct imrec_error *err)
{
    IMREC_TRY(find_reader(d, root, r, err));
    IMREC_TRY(read_around(d, err));
    if (d->at.reader == NULL)
        return IMREC_OK;
    const struct config_node *files = config_find(d->at.reader, "deserializers");
    IMREC_TRY(files != NULL ? read_composite(d, files, err)
                            : read_file(d, d->at.reader, true, err));
    tell_choice(d);
    return IMREC_OK;
}

enum imrec_status imrec_minibatch_config_parse(struct imrec_minibatch_config *c, const char *name,
                                               const char *text, size_t n, struct imrec_error *err)
{
    struct config_tree *tree;
    struct imrec_error own; /* at_line() wants the sentence, whether or not the caller asks */
    err = err != NULL ? err : &own;
    IMREC_TRY(config_parse(name, (struct bytes){(const uint8_t *)text, n}, &tree, err));
    struct document d = {.c = c, .name = name, .whole = config_is_whole(tree)};
    struct readers *r = imrec_zalloc(1, sizeof(*r));
    const enum imrec_status st =
        r != NULL ? read_document(&d, config_root(tree), r, err)
                  : IMREC_NO_MEMORY(err, "%.100s: no memory for a configuration", name);
    imrec_free(r);
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
