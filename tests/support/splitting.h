/* tests/support/splitting.h - an input split of a test: opened, read to its end, compared. */
#ifndef IMREC_TESTS_SPLITTING_H
#define IMREC_TESTS_SPLITTING_H

#include "base/alloc.h"
#include "base/bytes.h"
#include "formats/recordio/recordio.h"
#include "imrec/input_split.h"
#include "storage/mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taken { /* what a split gave, copied */
    uint8_t *p;
    size_t n;
    uint32_t file;
    uint64_t offset;
};
struct takings {
    struct taken *t;
    size_t count, room;
    uint64_t errors;
    struct imrec_error last; /* of these */
};

static inline struct imrec_input_split_options
splitting(enum imrec_split_type type, uint64_t part, uint64_t parts, uint64_t chunk)
{
    struct imrec_input_split_options o;
    imrec_input_split_options_init(&o);
    o.type = type;
    o.part_index = part;
    o.num_parts = parts;
    o.chunk_bytes = chunk;
    return o;
}

static inline struct imrec_input_split *
split_open(const char *uri, const struct imrec_input_split_options *o)
{
    struct imrec_input_split *s;
    struct imrec_error err;
    ck_assert_msg(imrec_input_split_open(uri, o, &s, &err) == IMREC_OK, "%s", err.message);
    return s;
}

static inline void split_keep(struct takings *to, const struct imrec_split_bytes *b)
{
    if (to->count == to->room) {
        to->room = to->room * 2 + 16;
        to->t = realloc(to->t, to->room * sizeof(*to->t));
    }
    struct taken *t = &to->t[to->count++];
    *t = (struct taken){malloc(b->size + 1), b->size, b->file, b->offset};
    if (b->size != 0)
        memcpy(t->p, b->data, b->size);
}

/* Appends at most `most` more records, or chunks. */
static inline void
split_take(struct imrec_input_split *s, bool chunks, size_t most, struct takings *to)
{
    struct imrec_split_bytes b;
    struct imrec_error err;
    for (size_t i = 0; i < most; i++) {
        const enum imrec_status st = chunks ? imrec_input_split_next_chunk(s, &b, &err)
                                            : imrec_input_split_next(s, &b, &err);
        if (st == IMREC_END)
            return;
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_DATA, "%s", err.message);
        if (st == IMREC_OK) {
            split_keep(to, &b);
            continue;
        }
        to->errors++;
        to->last = err;
    }
}

static inline struct takings split_all(struct imrec_input_split *s, bool chunks)
{
    struct takings t = {0};
    split_take(s, chunks, SIZE_MAX, &t);
    return t;
}

static inline struct takings
split_read(const char *uri, const struct imrec_input_split_options *o, bool chunks)
{
    struct imrec_input_split *s = split_open(uri, o);
    const struct takings t = split_all(s, chunks);
    imrec_input_split_close(s);
    return t;
}

static inline void takings_free(struct takings *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->t[i].p);
    free(t->t);
    *t = (struct takings){0};
}

static inline void takings_equal(const struct takings *a, const struct takings *b)
{
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_uint_eq(a->errors, b->errors);
    for (size_t i = 0; i < a->count; i++) {
        ck_assert_uint_eq(a->t[i].n, b->t[i].n);
        ck_assert_int_eq(memcmp(a->t[i].p, b->t[i].p, a->t[i].n), 0);
        ck_assert_uint_eq(a->t[i].file, b->t[i].file);
        ck_assert_uint_eq(a->t[i].offset, b->t[i].offset);
    }
}

/* Numbers that look random, the same in every run. */
static inline uint32_t split_dice(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Files of records in memory: "mem://r0;mem://r1;...", each with an index "mem://i0;...". Every
 * fourth record has magics inside. */
struct record_files {
    char uri[256], index[256];
    struct takings records;  /* as they were written, with file and offset */
    uint64_t size[8], total; /* of the files */
};

static inline void
record_files_add(struct record_files *f, uint32_t file, uint32_t records, uint64_t *dice)
{
    struct buf out = BUF_INIT(SIZE_MAX), idx = BUF_INIT(SIZE_MAX);
    char name[32], line[64];
    for (uint32_t i = 0; i < records; i++) {
        uint8_t record[160];
        const uint32_t n = split_dice(dice) % 60;
        for (uint32_t k = 0; k < sizeof(record); k++)
            record[k] = (uint8_t)split_dice(dice);
        for (uint32_t k = 0; i % 4 == 3 && k + 4 <= n; k += 4 + split_dice(dice) % 9 * 4)
            store_le32(record + k, RECORDIO_MAGIC);
        split_keep(&f->records, &(struct imrec_split_bytes){record, n, NULL, file, out.n});
        const int m = snprintf(line, sizeof(line), "%u\t%zu\n", i, out.n);
        ck_assert_int_eq(buf_append(&idx, line, (size_t)m, NULL), IMREC_OK);
        ck_assert_int_eq(recordio_frame((struct bytes){record, n}, &out, NULL), IMREC_OK);
    }
    snprintf(name, sizeof(name), "r%u", file);
    ck_assert_int_eq(mem_put(name, out.p, out.n, NULL), IMREC_OK);
    snprintf(name, sizeof(name), "i%u", file);
    ck_assert_int_eq(mem_put(name, idx.p, idx.n, NULL), IMREC_OK);
    f->size[file] = out.n;
    f->total += out.n;
    snprintf(f->uri + strlen(f->uri), 32, "%smem://r%u", file == 0 ? "" : ";", file);
    snprintf(f->index + strlen(f->index), 32, "%smem://i%u", file == 0 ? "" : ";", file);
    buf_free(&out);
    buf_free(&idx);
}

static inline struct record_files record_files_make(uint32_t files, uint32_t records)
{
    struct record_files f = {0};
    uint64_t dice = files * 1000 + records;
    for (uint32_t i = 0; i < files; i++)
        record_files_add(&f, i, records, &dice);
    return f;
}

static inline void record_files_free(struct record_files *f)
{
    takings_free(&f->records);
    mem_clear();
}
#endif
