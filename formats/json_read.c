/* formats/json_read.c - jansson's values under names of our own. */
#include "formats/json_read.h"

#include "base/error.h"

#include <jansson.h>

static const json_t *tree(const struct json_value *v)
{
    return (const json_t *)v;
}

static const struct json_value *value(const json_t *v)
{
    return (const struct json_value *)v;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* jansson asks malloc() for its tree, and rarely reports that there is no memory. */
static bool lacked_memory(const json_error_t *why)
{
    return why->text[0] == '\0' || json_error_code(why) == json_error_out_of_memory;
}

static enum imrec_status no_memory(const struct json_input *in, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory for its JSON", in->name);
}

static enum imrec_status fault(const struct json_input *in, enum imrec_status of_a_file)
{
    return in->given ? IMREC_ERR_ARGUMENT : of_a_file;
}

static uint64_t place(const struct json_input *in, size_t offset)
{
    return in->given ? IMREC_NO_OFFSET : offset;
}

enum imrec_status
json_read(const struct json_input *in, struct json_value **out, struct imrec_error *err)
{
    json_error_t why;
    *out = NULL;
    if (in->text.n > in->max_bytes)
        return imrec_fail(err, fault(in, IMREC_ERR_LIMIT), "%s: the text is longer than %zu bytes",
                          in->name, in->max_bytes);
    json_t *root = json_loadb((const char *)in->text.p, in->text.n, JSON_REJECT_DUPLICATES, &why);
    *out = (struct json_value *)root;
    if (root != NULL)
        return IMREC_OK;
    if (lacked_memory(&why))
        return no_memory(in, err);
    return imrec_error_at(err, fault(in, IMREC_ERR_CORRUPT), place(in, (size_t)why.position),
                          "%s line %d, column %d: not JSON: %s", in->name, why.line, why.column,
                          why.text);
}

enum imrec_status json_read_next(const struct json_input *in, size_t *at, struct json_value **out,
                                 struct imrec_error *err)
{
    static const size_t flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY;
    const size_t left = in->text.n - *at, n = left < in->max_bytes ? left : in->max_bytes;
    json_error_t why;
    json_t *v = json_loadb((const char *)in->text.p + *at, n, flags, &why);
    *out = (struct json_value *)v;
    if (v != NULL) {
        *at += (size_t)why.position;
        return IMREC_OK;
    }
    if (lacked_memory(&why))
        return no_memory(in, err);
    if (n < left && json_error_code(&why) == json_error_premature_end_of_input)
        return imrec_error_at(err, fault(in, IMREC_ERR_LIMIT), place(in, *at),
                              "%s byte %zu: the value is longer than %zu bytes", in->name, *at,
                              in->max_bytes);
    return imrec_error_at(err, fault(in, IMREC_ERR_CORRUPT), place(in, *at),
                          "%s byte %zu: no JSON value begins here: %s", in->name, *at, why.text);
}

void json_read_free(struct json_value *v)
{
    json_decref((json_t *)v);
}

/* ---- values --------------------------------------------------------------------------------- */

enum json_kind json_read_kind(const struct json_value *v)
{
    static const enum json_kind kinds[] = {
        [JSON_OBJECT] = JSON_KIND_OBJECT, [JSON_ARRAY] = JSON_KIND_ARRAY,
        [JSON_STRING] = JSON_KIND_TEXT,   [JSON_INTEGER] = JSON_KIND_NUMBER,
        [JSON_REAL] = JSON_KIND_NUMBER,   [JSON_TRUE] = JSON_KIND_BOOL,
        [JSON_FALSE] = JSON_KIND_BOOL,    [JSON_NULL] = JSON_KIND_NULL,
    };
    return v == NULL ? JSON_KIND_NONE : kinds[json_typeof(tree(v))];
}

size_t json_read_count(const struct json_value *v)
{
    return json_is_array(tree(v)) ? json_array_size(tree(v)) : json_object_size(tree(v));
}

const struct json_value *json_read_member(const struct json_value *object, const char *key)
{
    return value(json_object_get(tree(object), key));
}

const struct json_value *json_read_element(const struct json_value *array, size_t i)
{
    return value(json_array_get(tree(array), i));
}

const struct json_value *json_read_next_member(const struct json_value *object, void **at)
{
    json_t *o = (json_t *)object; /* jansson's iterators can change it, and this one does not */
    *at = *at == NULL ? json_object_iter(o) : json_object_iter_next(o, *at);
    return value(json_object_iter_value(*at));
}

const char *json_read_text(const struct json_value *v)
{
    return json_string_value(tree(v));
}

bool json_read_i64(const struct json_value *v, int64_t *out)
{
    if (!json_is_integer(tree(v)))
        return false;
    *out = json_integer_value(tree(v));
    return true;
}

bool json_read_number(const struct json_value *v, double *out)
{
    if (!json_is_number(tree(v)))
        return false;
    *out = json_number_value(tree(v));
    return true;
}

bool json_read_bool(const struct json_value *v, bool *out)
{
    if (!json_is_boolean(tree(v)))
        return false;
    *out = json_is_true(tree(v));
    return true;
}
