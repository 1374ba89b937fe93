/* tests/support/minibatch_vectors.h - entries of the vectors' manifest as keys of a source. */
#ifndef IMREC_TESTS_MINIBATCH_VECTORS_H
#define IMREC_TESTS_MINIBATCH_VECTORS_H

#include "tests/support/minibatches.h"
#include "tests/support/shared.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

enum { MAX_KEYS = 200, KEY_BYTES = 600 };

static inline const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static inline json_t *load_json(const char *relative)
{
    char path[512];
    json_error_t why;
    snprintf(path, sizeof(path), "vectors/cntk/%s", relative);
    json_t *j = json_load_file(shared_path(path), 0, &why);
    if (j == NULL) {
        fprintf(stderr, "%s: %s\n", path, why.text);
        exit(99);
    }
    return j;
}

static json_t *manifest;

/* CASE(.begin = manifest_load, .end = manifest_forget) */
static inline bool manifest_load(void)
{
    if (!shared_is_here())
        return false;
    manifest = load_json("MANIFEST.json");
    return true;
}

static inline void manifest_forget(void)
{
    json_decref(manifest);
}

static inline int entries(const char *group)
{
    return (int)json_array_size(json_object_get(manifest, group));
}

/* ---- keys -------------------------------------------------------------------------------- */

struct keys {
    char text[MAX_KEYS][KEY_BYTES];
    const char *key[MAX_KEYS + 1];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static inline void add(struct keys *k, const char *fmt, ...)
{
    va_list args;
    ck_assert_uint_lt(k->n, MAX_KEYS);
    va_start(args, fmt);
    const int n = vsnprintf(k->text[k->n], KEY_BYTES, fmt, args);
    va_end(args);
    ck_assert_int_lt(n, KEY_BYTES);
    k->key[k->n] = k->text[k->n];
    k->key[++k->n] = NULL;
}

static inline void add_file(struct keys *k, const char *relative)
{
    char path[512];
    snprintf(path, sizeof(path), "vectors/cntk/%s", relative);
    add(k, "file=%s", shared_path(path));
}

static inline void add_streams(struct keys *k, const json_t *list)
{
    size_t i;
    const json_t *s;
    json_array_foreach(list, i, s)
    {
        const char *name = text_of(s, "name"), *alias = text_of(s, "alias");
        const bool sparse = json_is_true(json_object_get(s, "sparse"));
        add(k, "input.%s.format=%s", name, sparse ? "sparse" : "dense");
        add(k, "input.%s.dim=%" JSON_INTEGER_FORMAT, name,
            json_integer_value(json_object_get(s, "dim")));
        if (alias != NULL)
            add(k, "input.%s.alias=%s", name, alias);
        if (json_is_true(json_object_get(s, "mb")))
            add(k, "input.%s.definesMBSize=true", name);
    }
}

static inline void add_values(struct keys *k, json_t *object)
{
    const char *key;
    json_t *v;
    json_object_foreach(object, key, v)
    {
        if (strcmp(key, "max_errors") == 0 || strncmp(key, "randomization_window_in_", 24) == 0)
            continue; /* the file's own is beside it; windows are set by name */
        if (json_is_boolean(v))
            add(k, "%s=%s", key, json_is_true(v) ? "true" : "false");
        else
            add(k, "%s=%" JSON_INTEGER_FORMAT, key, json_integer_value(v));
    }
}

static inline json_int_t number_of(const json_t *o, const char *key, json_int_t otherwise)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

#endif
