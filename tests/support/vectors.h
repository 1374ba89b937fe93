/* tests/support/vectors.h - whole files and JSON out of the shared vectors; a failure ends the
 * test program, for without its vectors a test says nothing. */
#ifndef IMREC_TESTS_VECTORS_H
#define IMREC_TESTS_VECTORS_H

#include "base/bytes.h"
#include "tests/support/shared.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void vectors_fail(const char *what, const char *path)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(99);
}

struct file_bytes {
    uint8_t *p;
    size_t n;
};

/* The file under vectors/mxnet/, in memory of exactly its size. The caller frees p. */
static inline struct file_bytes vectors_file(const char *name)
{
    char relative[512];
    snprintf(relative, sizeof(relative), "vectors/mxnet/%s", name);
    const char *path = shared_path(relative);
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        vectors_fail("cannot open", path);
    const long n = ftell(f);
    rewind(f);
    struct file_bytes out = {malloc(n > 0 ? (size_t)n : 1), (size_t)n};
    if (out.p == NULL || fread(out.p, 1, out.n, f) != out.n)
        vectors_fail("cannot read", path);
    fclose(f);
    return out;
}

/* The caller json_decref()s. */
static inline json_t *vectors_json(const char *name)
{
    struct file_bytes text = vectors_file(name);
    json_t *root = json_loadb((const char *)text.p, text.n, 0, NULL);
    if (root == NULL)
        vectors_fail("is not JSON", name);
    free(text.p);
    return root;
}

static inline uint64_t vectors_u64(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (!json_is_integer(v))
        vectors_fail("is no integer field", key);
    return (uint64_t)json_integer_value(v);
}

static inline const char *vectors_text(const json_t *object, const char *key)
{
    const char *v = json_string_value(json_object_get(object, key));
    if (v == NULL)
        vectors_fail("is no text field", key);
    return v;
}

/* The bytes that `hex` spells, into out; returns how many. */
static inline size_t vectors_unhex(const char *hex, uint8_t *out, size_t room)
{
    const size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned v = 0;
        if (i >= room || sscanf(hex + 2 * i, "%2x", &v) != 1)
            vectors_fail("is no hexadecimal text", hex);
        out[i] = (uint8_t)v;
    }
    return n;
}

/* FNV-1a 64 as the vectors count it, with their own offset basis. */
static inline uint64_t vectors_fnv1a64(struct bytes b)
{
    uint64_t h = 0x14650fb0739d0383u;
    for (size_t i = 0; i < b.n; i++)
        h = (h ^ b.p[i]) * 0x100000001b3u;
    return h;
}
#endif
