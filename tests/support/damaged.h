/* tests/support/damaged.h - images that cannot be decoded, or only with faults mended: JPEGs of
 * every layout cut and changed, and what the fuzz targets of images begin with. */
#ifndef IMREC_TESTS_DAMAGED_H
#define IMREC_TESTS_DAMAGED_H

#include "tests/support/images.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DAMAGED = 600 };

struct damaged {
    struct bytes image[MOST_DAMAGED];
    char name[MOST_DAMAGED][96];
    uint32_t n;
};

static inline void damaged_add(struct damaged *d, const char *name, const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    ck_assert(d->n < MOST_DAMAGED && copy != NULL);
    memcpy(copy, p, n);
    snprintf(d->name[d->n], sizeof(d->name[0]), "%.90s", name);
    d->image[d->n++] = (struct bytes){copy, n};
}

/* Cut in three places, two bytes changed, and as it is. */
static inline void damaged_add_all(struct damaged *d, const char *name, struct bytes whole)
{
    char called[160];
    uint64_t state = whole.n;
    for (uint32_t i = 1; i <= 3; i++) {
        snprintf(called, sizeof(called), "%s_cut%u", name, i);
        damaged_add(d, called, whole.p, whole.n * (2 * i + 1) / 8);
    }
    for (uint32_t i = 1; i <= 2; i++) {
        uint8_t *p = malloc(whole.n);
        memcpy(p, whole.p, whole.n);
        for (uint32_t k = 0; k < 2 * i; k++)
            p[whole.n / 4 + pick(&state, (uint32_t)whole.n * 3 / 4)] = (uint8_t)pick(&state, 256);
        snprintf(called, sizeof(called), "%s_hit%u", name, i);
        damaged_add(d, called, p, whole.n);
        free(p);
    }
    damaged_add(d, name, whole.p, whole.n);
}

static inline void damaged_add_corpus(struct damaged *d, const char *corpus)
{
    char path[512], called[96];
    uint8_t p[1 << 16];
    struct dirent *e;
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", IMREC_SOURCE_DIR, corpus);
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "%s", path);
    while ((e = readdir(folder)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s", IMREC_SOURCE_DIR, corpus,
                 e->d_name);
        FILE *f = fopen(path, "rb");
        ck_assert(f != NULL);
        const size_t n = fread(p, 1, sizeof(p), f);
        fclose(f);
        snprintf(called, sizeof(called), "%.40s_%.40s", corpus, e->d_name);
        damaged_add(d, called, p, n);
        damaged_add(d, called, p, n * 2 / 3);
        snprintf(d->name[d->n - 1], sizeof(d->name[0]), "%.40s_%.40s_cut", corpus, e->d_name);
    }
    closedir(folder);
}

/* In gzip, not packed and without a checksum that fits: its room lets what comes later grow. */
static inline void damaged_add_stored(struct damaged *d)
{
    enum { HEAD = 10, BLOCK_HEAD = 5, BLOCK = 65535, BLOCKS = 5, TAIL = 8 };
    const size_t n = HEAD + BLOCKS * (BLOCK_HEAD + BLOCK) + TAIL;
    uint8_t *p = calloc(1, n), *at = p + HEAD;
    memcpy(p, "\x1f\x8b\x08", 3);
    for (int i = 0; i < BLOCKS; i++, at += BLOCK_HEAD + BLOCK) {
        memcpy(at, "\0\xff\xff\0\0", BLOCK_HEAD);
        at[0] = i + 1 == BLOCKS;
    }
    damaged_add(d, "stored.gz", p, n);
    free(p);
}

static inline struct damaged *damaged_make(void)
{
    static const struct jpeg_layout layouts[] = {
        {.colours = COLOURS_YCC, .h = 2, .v = 2},
        {.colours = COLOURS_YCC, .h = 1, .v = 1, .progressive = true},
        {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true},
        {.colours = COLOURS_YCC, .h = 2, .v = 1, .arithmetic = true},
        {.colours = COLOURS_YCC, .h = 1, .v = 2, .progressive = true, .arithmetic = true},
        {.colours = COLOURS_GREY, .h = 1, .v = 1},
        {.colours = COLOURS_GREY, .h = 1, .v = 1, .progressive = true},
        {.colours = COLOURS_RGB, .h = 1, .v = 1, .separate_scans = true},
        {.colours = COLOURS_CMYK, .h = 1, .v = 1},
        {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1, .optimal = true},
    };
    static const uint32_t sizes[][2] = {{24, 24}, {61, 190}, {210, 100}};
    struct damaged *d = calloc(1, sizeof(*d));
    for (uint32_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        for (uint32_t k = 0; k < 3; k++) {
            char name[96];
            const struct bytes whole = jpeg_make(sizes[k][0], sizes[k][1], &layouts[i]);
            snprintf(name, sizeof(name), "layout%u_%ux%u", i, sizes[k][0], sizes[k][1]);
            damaged_add_all(d, name, whole);
            bytes_free(whole);
        }
    damaged_add_stored(d);
    damaged_add_corpus(d, "image");
    damaged_add_corpus(d, "baseline");
    damaged_add_corpus(d, "jpeg_header");
    return d;
}

static inline void damaged_free(struct damaged *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        bytes_free(d->image[i]);
    free(d);
}

/* 0..n - 1 in an order of its own for each seed; 0: as they are, 1: backwards. */
static inline void damaged_order(const struct damaged *d, uint32_t seed, uint32_t *order)
{
    uint64_t state = seed;
    for (uint32_t i = 0; i < d->n; i++)
        order[i] = seed == 1 ? d->n - 1 - i : i;
    for (uint32_t i = d->n; seed > 1 && i > 1; i--) {
        const uint32_t k = pick(&state, i), keep = order[i - 1];
        order[i - 1] = order[k];
        order[k] = keep;
    }
}

static struct damaged *g_damaged;

/* CASE(.begin = damaged_begin, .end = damaged_end) */
static inline bool damaged_begin(void)
{
    g_damaged = damaged_make();
    return true;
}

static inline void damaged_end(void)
{
    damaged_free(g_damaged);
}
#endif
