/* tests/support/replacing.h - what on_error=replace has to deliver, worked out of what
 * on_error=skip delivers one sample at a time and of the windows that positions tell. */
#ifndef IMREC_TESTS_REPLACING_H
#define IMREC_TESTS_REPLACING_H

#include "imrec/imrec.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filled { /* the slots of a sample */
    uint64_t id, hash, sweep;
    uint64_t window, before; /* of the position behind it */
    enum imrec_status status;
};

struct filled_list {
    struct filled *of;
    size_t n, room;
    uint64_t failed, replaced; /* slots */
};

static inline void filled_free(struct filled_list *l)
{
    free(l->of);
    *l = (struct filled_list){0};
}

static inline uint64_t filled_mix(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return h;
}

/* Pixels, masks (of one byte) and labels of one slot; pixels are float32. */
static inline uint64_t filled_slot(uint64_t h, const struct imrec_batch *b, uint32_t slot)
{
    for (uint32_t t = 0; t < b->view_count; t++) {
        const struct imrec_view *v = &b->views[t];
        const size_t px = (size_t)v->shape.height * v->shape.width;
        const size_t bytes = px * v->shape.channels * sizeof(float);
        h = filled_mix(h, (const uint8_t *)v->data + slot * bytes, bytes);
        if (v->masks != NULL)
            h = filled_mix(h, (const uint8_t *)v->masks + slot * px, px);
        if (v->draws != NULL) {
            const struct imrec_draw *d = &v->draws[slot];
            const uint32_t drawn[] = {d->x, d->y, d->mirror, d->crop_width, d->boxes};
            h = filled_mix(h, drawn, sizeof(drawn));
        }
    }
    const size_t first = (size_t)slot * b->label_width;
    if (b->typed_labels != NULL)
        h = filled_mix(h, (const int64_t *)b->typed_labels + first,
                       b->label_width * sizeof(int64_t));
    return filled_mix(h, b->labels + first, b->label_width * sizeof(float));
}

static inline struct filled filled_sample(const struct imrec_batch *b, uint32_t first)
{
    struct filled f = {b->ids[first], 0xcbf29ce484222325u, b->sweep, 0, 0, b->status[first]};
    for (uint32_t i = first; i < first + b->repeats; i++) {
        ck_assert_uint_eq(b->ids[i], f.id);
        ck_assert_int_eq(b->status[i], f.status);
        ck_assert_int_eq(b->valid[i], i < b->count && f.status == IMREC_OK);
        f.hash = filled_slot(f.hash, b, i);
    }
    return f;
}

static inline void filled_put(struct filled_list *l, struct filled f)
{
    if (l->n == l->room) {
        l->room = l->room != 0 ? 2 * l->room : 256;
        l->of = realloc(l->of, l->room * sizeof(f));
    }
    l->of[l->n++] = f;
}

static inline uint64_t filled_number(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    ck_assert_ptr_nonnull(at);
    return strtoull(at + strlen(quoted), NULL, 10);
}

/* Samples of the sweeps themselves, no pad, until `ends` ENDs or `most` samples. */
static inline void
filled_read(struct filled_list *l, struct imrec_iter *it, uint32_t ends, size_t most)
{
    struct imrec_batch b;
    struct imrec_error err;
    const char *json;
    while (ends > 0 && l->n < most) {
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END) {
            ends--;
            continue;
        }
        if (st != IMREC_OK)
            ck_abort_msg("next(): %s", err.message);
        ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
        for (uint32_t i = 0; i < b.count; i += b.repeats) {
            struct filled f = filled_sample(&b, i);
            f.window = filled_number(json, "window");
            f.before = filled_number(json, "window_first_sample");
            filled_put(l, f);
        }
        l->failed += b.failed;
        l->replaced += b.replaced;
    }
}

static inline bool filled_together(const struct filled *a, const struct filled *b)
{
    return a->sweep == b->sweep && a->window == b->window && a->before == b->before;
}

/* `skip` was read one sample a batch. */
static inline struct filled_list replacing_oracle(const struct filled_list *skip)
{
    struct filled_list right = {0};
    for (size_t i = 0; i < skip->n; i++) {
        size_t first = i, end = i;
        struct filled f = skip->of[i];
        while (first > 0 && filled_together(&skip->of[first - 1], &f))
            first--;
        while (end < skip->n && filled_together(&skip->of[end], &f))
            end++;
        const size_t n = end - first;
        for (size_t k = 1; k < n && k <= IMREC_REPLACE_TRIES && f.status != IMREC_OK; k++)
            f = skip->of[first + (i - first + k) % n];
        filled_put(&right, f.status == IMREC_OK ? f : skip->of[i]);
    }
    return right;
}

static inline void
filled_must_equal(const struct filled_list *a, const struct filled *b, size_t n, const char *what)
{
    ck_assert_msg(a->n >= n, "%s: %zu samples instead of %zu", what, a->n, n);
    for (size_t i = 0; i < n; i++)
        if (a->of[i].status != b[i].status || a->of[i].id != b[i].id || a->of[i].hash != b[i].hash)
            ck_abort_msg("%s: sample %zu: status %d instead of %d, id %d instead of %d, hash %s",
                         what, i, a->of[i].status, b[i].status, (int)a->of[i].id, (int)b[i].id,
                         a->of[i].hash == b[i].hash ? "same" : "not");
}

/* open(words): an iterator, "on_error=... batch_size=... preprocess_threads=..." in the words, its
 * samples `rows` slots each. Reads `ends` sweeps. Returns how many samples were replaced. */
static inline size_t replacing_must_hold(struct imrec_iter *(*open)(const char *words),
                                         uint32_t rows, uint32_t ends, const char *what)
{
    static const uint32_t threads[] = {1, 2, 7}, sizes[] = {1, 5, 8};
    struct filled_list skip = {0}, ours = {0};
    char words[200];
    snprintf(words, sizeof(words), "on_error=skip batch_size=%u preprocess_threads=1", rows);
    struct imrec_iter *it = open(words);
    filled_read(&skip, it, ends, 100000);
    imrec_iter_close(it);
    struct filled_list right = replacing_oracle(&skip);
    size_t failed = 0, left = 0;
    for (size_t i = 0; i < skip.n; i++) {
        failed += skip.of[i].status != IMREC_OK;
        left += right.of[i].status != IMREC_OK;
    }
    for (int i = 0; i < 3; i++) {
        struct imrec_iter_stats stats;
        snprintf(words, sizeof(words), "on_error=replace batch_size=%u preprocess_threads=%u",
                 sizes[i] * rows, threads[i]);
        it = open(words);
        filled_read(&ours, it, ends, 100000);
        imrec_iter_get_stats(it, &stats);
        imrec_iter_close(it);
        ck_assert_msg(ours.n == right.n, "%s %s: %zu samples instead of %zu", what, words, ours.n,
                      right.n);
        filled_must_equal(&ours, right.of, right.n, what);
        ck_assert_uint_eq(ours.failed, left * rows);
        ck_assert_uint_eq(ours.replaced, (failed - left) * rows);
        ck_assert_uint_ge(stats.replaced, ours.replaced); /* it reads ahead */
        filled_free(&ours);
    }
    filled_free(&skip);
    filled_free(&right);
    return failed - left;
}
#endif
