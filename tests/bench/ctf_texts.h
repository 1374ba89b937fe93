/* tests/bench/ctf_texts.h - texts in CNTK's format for benchmarks, the same on every machine. */
#ifndef IMREC_TESTS_BENCH_CTF_TEXTS_H
#define IMREC_TESTS_BENCH_CTF_TEXTS_H

#include "formats/sequence_chunk.h"

#include <stdio.h>
#include <stdlib.h>

struct bench_text {
    const char *name;
    const struct stream_info *stream;
    uint32_t streams;
    uint8_t *p; /* a line's end behind it */
    size_t n;
    char header_path[640]; /* for ctf2bin; where bench_text_save() left it */
};

static uint32_t bench_random_state = 1;
static inline uint32_t bench_random(void) /* xorshift, Marsaglia 2003 */
{
    uint32_t x = bench_random_state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return bench_random_state = x;
}

static inline double bench_uniform(void)
{
    return bench_random() / 4294967296.0;
}

static const struct stream_info bench_dense[] = {
    {"labels", "labels", STREAM_DENSE, STREAM_FLOAT, 10, false},
    {"features", "features", STREAM_DENSE, STREAM_FLOAT, 784, false}};
static const struct stream_info bench_sparse[] = {
    {"labels", "y", STREAM_DENSE, STREAM_FLOAT, 1, false},
    {"words", "x", STREAM_SPARSE, STREAM_FLOAT, 1000000, false}};
static const struct stream_info bench_tiny[] = {{"a", "a", STREAM_DENSE, STREAM_FLOAT, 1, false}};

static inline int bench_labels(char *to)
{
    const uint32_t label = bench_random() % 10;
    int n = sprintf(to, "|labels");
    for (uint32_t i = 0; i < 10; i++)
        n += sprintf(to + n, " %d", i == label);
    return n + sprintf(to + n, " |features");
}

static inline int bench_line_integers(char *to)
{
    int n = bench_labels(to);
    for (int i = 0; i < 784; i++)
        n += sprintf(to + n, " %u", bench_random() % 256);
    return n + sprintf(to + n, "\n");
}

/* Four fifths are background, strokes are a few pixels long. */
static inline int bench_line_digits(char *to)
{
    int n = bench_labels(to);
    for (int i = 0, left = 0, ink = 0; i < 784; i++, left--) {
        if (left == 0) {
            ink = !ink;
            left = ink ? 2 + (int)(bench_random() % 5) : 8 + (int)(bench_random() % 16);
        }
        n += sprintf(to + n, " %u", ink ? 1 + bench_random() % 255 : 0);
    }
    return n + sprintf(to + n, "\n");
}

static inline int bench_line_floats(char *to)
{
    int n = bench_labels(to);
    for (int i = 0; i < 784; i++)
        n += sprintf(to + n, " %.6f", 2 * bench_uniform() - 1);
    return n + sprintf(to + n, "\n");
}

static inline int bench_line_doubles(char *to)
{
    int n = bench_labels(to);
    for (int i = 0; i < 784; i++)
        n += sprintf(to + n, " %.17g", 2 * bench_uniform() - 1);
    return n + sprintf(to + n, "\n");
}

static inline int bench_line_sparse(char *to, const char *value)
{
    int n = sprintf(to, "|y %u |x", bench_random() % 2);
    for (uint32_t i = 0, at = 0; i < 60; i++) {
        at += 1 + bench_random() % 16000;
        n += sprintf(to + n, " %u:", at);
        n += sprintf(to + n, value, bench_uniform());
    }
    return n + sprintf(to + n, "\n");
}

static inline int bench_line_counts(char *to)
{
    return bench_line_sparse(to, "1");
}

static inline int bench_line_weights(char *to)
{
    return bench_line_sparse(to, "%.4f");
}

static const struct {
    const char *name;
    const struct stream_info *stream;
    uint32_t streams;
    int (*line)(char *to);
} bench_kinds[] = {
    {"784 integers below 256", bench_dense, 2, bench_line_integers},
    {"784 pixels of a digit", bench_dense, 2, bench_line_digits},
    {"784 floats, %.6f", bench_dense, 2, bench_line_floats},
    {"784 floats, %.17g", bench_dense, 2, bench_line_doubles},
    {"sparse, 60 x index:1", bench_sparse, 2, bench_line_counts},
    {"sparse, 60 x index:%.4f", bench_sparse, 2, bench_line_weights},
};
static const size_t bench_text_kinds = sizeof(bench_kinds) / sizeof(bench_kinds[0]);

enum { BENCH_LINE = 32 << 10 }; /* more than any of these lines */

static inline struct bench_text bench_text_make(size_t kind, size_t bytes)
{
    struct bench_text t = {.name = bench_kinds[kind].name,
                           .stream = bench_kinds[kind].stream,
                           .streams = bench_kinds[kind].streams,
                           .p = malloc(bytes + BENCH_LINE)};
    if (t.p == NULL)
        exit(1);
    while (t.n < bytes)
        t.n += (size_t)bench_kinds[kind].line((char *)t.p + t.n);
    t.p[t.n] = '\n';
    return t;
}

static inline struct bench_text bench_text_tiny_lines(size_t lines)
{
    struct bench_text t = {
        .name = "tiny lines", .stream = bench_tiny, .streams = 1, .p = malloc(lines * 20 + 64)};
    if (t.p == NULL)
        exit(1);
    for (size_t i = 0; i < lines; i++)
        t.n += (size_t)sprintf((char *)t.p + t.n, "%zu |a %zu\n", i, i % 10);
    t.p[t.n] = '\n';
    return t;
}

static inline void bench_text_save(struct bench_text *t, const char *path)
{
    snprintf(t->header_path, sizeof(t->header_path), "%s.header", path);
    FILE *f = fopen(path, "wb"), *h = fopen(t->header_path, "w");
    if (f == NULL || h == NULL || fwrite(t->p, 1, t->n, f) != t->n || fclose(f) != 0)
        exit(1);
    for (uint32_t i = 0; i < t->streams; i++)
        fprintf(h, "%s %s %s %u\n", t->stream[i].name, t->stream[i].alias,
                t->stream[i].storage == STREAM_DENSE ? "dense" : "sparse", t->stream[i].dim);
    fclose(h);
}

static inline void bench_text_free(struct bench_text *t)
{
    (void)remove(t->header_path);
    free(t->p);
}
#endif
