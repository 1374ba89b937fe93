/* tests/support/minibatches.h - minibatch sources out of keys, and what they deliver, noted. */
#ifndef IMREC_TESTS_MINIBATCHES_H
#define IMREC_TESTS_MINIBATCHES_H

#include "imrec/minibatch.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Like ck_assert(), which writes to a file whenever it holds: too slow for every byte. */
#define EXPECT_SAYING(x, ...)                                                                      \
    do {                                                                                           \
        if (!(x))                                                                                  \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)
#define EXPECT(x) EXPECT_SAYING(x, "%s", #x)

struct noted_sequence {
    uint64_t id;
    uint64_t hash;   /* of its samples in all streams */
    uint32_t length; /* samples of the longest stream */
};
struct noted {
    uint64_t first, sequences; /* in notes.sequence */
    uint64_t samples, position, sweep, epoch;
    bool sweep_end, epoch_end;
    uint64_t hash; /* of every array */
};
struct notes {
    struct noted *minibatch;
    uint64_t minibatches, minibatch_room;
    struct noted_sequence *sequence;
    uint64_t sequences, sequence_room;
};

/* ---- opening ----------------------------------------------------------------------------- */

/* keys: up to a NULL, "file=..." and others; a first one without '=' is a configuration's text. */
static inline enum imrec_status
mb_try_open(const char *const *keys, struct imrec_minibatch_source **out, struct imrec_error *err)
{
    struct imrec_minibatch_config *c;
    enum imrec_status st = imrec_minibatch_config_new(&c, err);
    *out = NULL;
    if (st == IMREC_OK && keys[0] != NULL && strncmp(keys[0], "reader", 6) == 0) {
        st = imrec_minibatch_config_parse(c, "test", keys[0], strlen(keys[0]), err);
        keys++;
    }
    for (; st == IMREC_OK && *keys != NULL; keys++)
        st = imrec_minibatch_config_set(c, *keys, err);
    if (st == IMREC_OK)
        st = imrec_minibatch_source_open(imrec_minibatch_config_options(c), out, err);
    imrec_minibatch_config_free(c);
    return st;
}

static inline struct imrec_minibatch_source *mb_open(const char *const *keys)
{
    struct imrec_minibatch_source *s;
    struct imrec_error err;
    EXPECT_SAYING(mb_try_open(keys, &s, &err) == IMREC_OK, "%s", err.message);
    return s;
}

/* `more` behind `keys`, in a static array of 4 that take turns. */
static inline const char *const *mb_keys(const char *const *keys, const char *const *more)
{
    static const char *all[4][64];
    static unsigned turn;
    const char **to = all[turn++ % 4];
    size_t n = 0;
    for (; *keys != NULL && n < 63; keys++)
        to[n++] = *keys;
    for (; *more != NULL && n < 63; more++)
        to[n++] = *more;
    to[n] = NULL;
    return to;
}
#define MB_KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- what a minibatch promises ----------------------------------------------------------- */

static inline void mb_mix(uint64_t *h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
}

static inline void mb_check_dense(const struct imrec_minibatch_stream *s, size_t element)
{
    const size_t sample = element * s->dim;
    uint64_t marked = 0;
    for (uint64_t q = 0; q < s->sequences; q++)
        for (uint32_t k = 0; k < s->length[q]; k++) {
            const uint8_t m = s->mask[s->row[q] * s->width + s->column[q] + k];
            EXPECT(m != 0);
            EXPECT(k == 0 || m == 1);
            marked++;
        }
    for (uint64_t i = 0; i < s->rows * s->width; i++) {
        EXPECT(s->mask[i] <= 2);
        marked -= s->mask[i] != 0;
        for (size_t b = 0; s->mask[i] == 0 && b < sample; b++)
            EXPECT_SAYING(((const uint8_t *)s->values)[i * sample + b] == 0, "a gap is not zero");
    }
    EXPECT(marked == 0); /* no two stand in one place, none is marked beside them */
}

static inline void mb_check_sparse(const struct imrec_minibatch_stream *s)
{
    EXPECT(s->row_start[0] == 0);
    for (uint64_t i = 0; i < s->samples; i++)
        EXPECT(s->row_start[i] <= s->row_start[i + 1]);
    EXPECT(s->row_start[s->samples] == (int64_t)s->nnz);
    for (uint64_t i = 0; i < s->nnz; i++)
        EXPECT(s->indices[i] >= 0 && (uint32_t)s->indices[i] < s->dim);
}

static inline void
mb_check_stream(const struct imrec_minibatch_stream *s, uint64_t sequences, size_t element)
{
    uint64_t samples = 0, longest = 0;
    EXPECT(s->sequences == sequences);
    for (uint64_t q = 0; q < sequences; q++) {
        samples += s->length[q];
        longest = s->length[q] > longest ? s->length[q] : longest;
        EXPECT(s->row[q] < s->rows);
        EXPECT((uint64_t)s->column[q] + s->length[q] <= s->width);
    }
    EXPECT(s->samples == samples);
    EXPECT(s->max_length == longest);
    if (s->storage == IMREC_DENSE)
        mb_check_dense(s, element);
    else
        mb_check_sparse(s);
}

/* Hash of sequence q in a stream; *sample: its first one among the stream's, moves on. */
static inline void mb_mix_sequence(uint64_t *h, const struct imrec_minibatch_stream *s, uint64_t q,
                                   uint64_t *sample, size_t element)
{
    mb_mix(h, &s->length[q], sizeof(s->length[q]));
    if (s->storage == IMREC_DENSE) {
        const uint64_t at = s->row[q] * s->width + s->column[q];
        const size_t bytes = element * s->dim;
        mb_mix(h, (const uint8_t *)s->values + at * bytes, s->length[q] * bytes);
        return;
    }
    for (uint32_t k = 0; k < s->length[q]; k++, ++*sample) {
        const int64_t from = s->row_start[*sample], n = s->row_start[*sample + 1] - from;
        mb_mix(h, &n, sizeof(n));
        mb_mix(h, s->indices + from, (size_t)n * 4);
        mb_mix(h, (const uint8_t *)s->values + (size_t)from * element, (size_t)n * element);
    }
}

/* ---- notes ------------------------------------------------------------------------------- */

static inline void *mb_grow(void *p, uint64_t *room, uint64_t n, size_t size)
{
    if (n <= *room)
        return p;
    *room = 2 * n + 64;
    p = realloc(p, *room * size);
    ck_assert_ptr_nonnull(p);
    return p;
}

static inline void
mb_note_sequences(struct notes *to, const struct imrec_minibatch *m, size_t element)
{
    uint64_t sample[64] = {0};
    EXPECT(m->streams <= 64);
    to->sequence = mb_grow(to->sequence, &to->sequence_room, to->sequences + m->sequences,
                           sizeof(*to->sequence));
    for (uint64_t q = 0; q < m->sequences; q++) {
        struct noted_sequence n = {m->ids[q], 0xcbf29ce484222325u, 0};
        for (uint32_t i = 0; i < m->streams; i++) {
            const uint32_t length = m->stream[i].length[q];
            mb_mix_sequence(&n.hash, &m->stream[i], q, &sample[i], element);
            n.length = length > n.length ? length : n.length;
        }
        to->sequence[to->sequences++] = n;
    }
}

static inline void mb_note(struct notes *to, const struct imrec_minibatch *m, size_t element)
{
    struct noted n = {to->sequences, m->sequences, m->samples,   m->position,        m->sweep,
                      m->epoch,      m->sweep_end, m->epoch_end, 0xcbf29ce484222325u};
    for (uint32_t i = 0; i < m->streams; i++) {
        const struct imrec_minibatch_stream *s = &m->stream[i];
        mb_check_stream(s, m->sequences, element);
        mb_mix(&n.hash, &s->rows, sizeof(s->rows));
        mb_mix(&n.hash, &s->width, sizeof(s->width));
        mb_mix(&n.hash, s->row, s->sequences * 4);
        mb_mix(&n.hash, s->column, s->sequences * 4);
        if (s->mask != NULL)
            mb_mix(&n.hash, s->mask, s->rows * s->width);
    }
    mb_note_sequences(to, m, element);
    for (uint64_t q = 0; q < n.sequences; q++) {
        mb_mix(&n.hash, &to->sequence[n.first + q].id, 8);
        mb_mix(&n.hash, &to->sequence[n.first + q].hash, 8);
    }
    to->minibatch =
        mb_grow(to->minibatch, &to->minibatch_room, to->minibatches + 1, sizeof(*to->minibatch));
    to->minibatch[to->minibatches++] = n;
}

static inline void notes_free(struct notes *n)
{
    free(n->minibatch);
    free(n->sequence);
    *n = (struct notes){0};
}

/* Notes up to `most` minibatches of `size`; returns what the last call did. */
static inline enum imrec_status mb_follow(struct imrec_minibatch_source *s, uint64_t size,
                                          uint64_t most, size_t element, struct notes *to)
{
    struct imrec_minibatch m;
    struct imrec_error err;
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < most && st == IMREC_OK; i++) {
        st = imrec_minibatch_next(s, size, NULL, 0, &m, &err);
        EXPECT_SAYING(st == IMREC_OK || st == IMREC_END, "%s", err.message);
        if (st == IMREC_OK)
            mb_note(to, &m, element);
    }
    return st;
}

/* What a source of these keys delivers, of floats. */
static inline struct notes mb_all(const char *const *keys, uint64_t size, uint64_t most)
{
    struct notes n = {0};
    struct imrec_minibatch_source *s = mb_open(keys);
    mb_follow(s, size, most, sizeof(float), &n);
    imrec_minibatch_source_close(s);
    return n;
}

static inline bool same_sequence(const struct noted_sequence *a, const struct noted_sequence *b)
{
    return a->id == b->id && a->hash == b->hash && a->length == b->length;
}

/* The same minibatches, byte for byte: a's from `from` on, and all of b. */
static inline void
expect_same_from(const struct notes *a, uint64_t from, const struct notes *b, const char *what)
{
    EXPECT_SAYING(a->minibatches >= from && a->minibatches - from == b->minibatches,
                  "%s: %llu minibatches, not %llu", what, (unsigned long long)b->minibatches,
                  (unsigned long long)(a->minibatches - from));
    for (uint64_t i = 0; i < b->minibatches; i++) {
        const struct noted *x = &a->minibatch[from + i], *y = &b->minibatch[i];
        EXPECT_SAYING(x->hash == y->hash && x->sequences == y->sequences &&
                          x->samples == y->samples && x->position == y->position &&
                          x->sweep == y->sweep && x->epoch == y->epoch &&
                          x->sweep_end == y->sweep_end && x->epoch_end == y->epoch_end,
                      "%s: minibatch %llu is another", what, (unsigned long long)(from + i));
    }
}

static inline void expect_same(const struct notes *a, const struct notes *b, const char *what)
{
    expect_same_from(a, 0, b, what);
}

/* The same sequences in the same order, however they are cut, as far as both go. */
static inline void expect_same_order(const struct notes *a, const struct notes *b, const char *what)
{
    const uint64_t n = a->sequences < b->sequences ? a->sequences : b->sequences;
    for (uint64_t i = 0; i < n; i++)
        EXPECT_SAYING(same_sequence(&a->sequence[i], &b->sequence[i]),
                      "%s: sequence %llu has id %llu, not %llu", what, (unsigned long long)i,
                      (unsigned long long)b->sequence[i].id, (unsigned long long)a->sequence[i].id);
}
#endif
