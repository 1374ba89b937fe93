/* tests/support/npy.h - reads the .npy files of the vectors: version 1, C order. */
#ifndef IMREC_TESTS_NPY_H
#define IMREC_TESTS_NPY_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npy {
    uint8_t *file;
    const uint8_t *data;
    size_t bytes;
    char kind; /* 'f', 'u', 'i' */
    int size;  /* of a value, bytes */
};

static inline struct npy npy_load(const char *path)
{
    struct npy a = {0};
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL && fseek(f, 0, SEEK_END) == 0, "cannot open %s", path);
    const size_t n = (size_t)ftell(f);
    rewind(f);
    a.file = malloc(n + 1);
    ck_assert_uint_eq(fread(a.file, 1, n, f), n);
    fclose(f);
    const size_t head = 10 + a.file[8] + 256u * a.file[9];
    a.file[head - 1] = '\0';
    const char *descr = strstr((char *)a.file + 10, "'descr': '");
    ck_assert_msg(descr != NULL && head <= n, "%s is no .npy", path);
    a.kind = descr[11];
    a.size = descr[12] - '0';
    a.data = a.file + head;
    a.bytes = n - head;
    return a;
}

static inline double npy_at(const struct npy *a, size_t i)
{
    float f;
    if (a->kind == 'u' && a->size == 1)
        return a->data[i];
    if (a->kind == 'i' && a->size == 1)
        return (int8_t)a->data[i];
    memcpy(&f, a->data + 4 * i, sizeof(f));
    return f;
}
#endif
