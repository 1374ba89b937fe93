/* tests/support/iter_pair.h - a folder packed more than once, and iterators compared slot by slot.
 */
#ifndef IMREC_TESTS_ITER_PAIR_H
#define IMREC_TESTS_ITER_PAIR_H

#include "tests/support/opening.h"
#include "tests/support/packing.h"

#define PAIR_WORDS "data_shape=3,12,12 batch_size=5 preprocess_threads=2 verbose=0"

static inline enum imrec_status
pair_try_open(const char *uri, const char *words, struct imrec_iter **out, struct imrec_error *err)
{
    return try_open_over(uri, PAIR_WORDS, words, out, err);
}

static inline struct imrec_iter *pair_open(const char *uri, const char *words)
{
    return open_over(uri, PAIR_WORDS, words);
}

static inline void batches_must_equal(const struct imrec_batch *a, const struct imrec_batch *b,
                                      size_t sample_bytes, const char *what)
{
    ck_assert_msg(a->slots == b->slots && a->count == b->count && a->pad == b->pad &&
                      a->failed == b->failed && a->sweep == b->sweep &&
                      a->sweep_end == b->sweep_end && a->label_width == b->label_width,
                  "%s: batch %d: %u slots, %u of them samples, instead of %u and %u", what,
                  (int)a->number, a->slots, a->count, b->slots, b->count);
    for (uint32_t i = 0; i < a->slots; i++)
        ck_assert_msg(a->ids[i] == b->ids[i] && a->valid[i] == b->valid[i] &&
                          a->status[i] == b->status[i],
                      "%s: batch %d, slot %u: id %d instead of %d", what, (int)a->number, i,
                      (int)a->ids[i], (int)b->ids[i]);
    const size_t labels = (size_t)a->slots * a->label_width * sizeof(float);
    ck_assert_msg(memcmp(a->labels, b->labels, labels) == 0, "%s: batch %d: labels", what,
                  (int)a->number);
    ck_assert_uint_eq(a->view_count, b->view_count);
    for (uint32_t t = 0; t < a->view_count; t++) { /* sample_bytes are those of the largest */
        const struct imrec_shape *s = &a->views[t].shape, *first = &a->views[0].shape;
        const size_t bytes = sample_bytes * s->height * s->width / first->height / first->width;
        ck_assert_msg(memcmp(a->views[t].data, b->views[t].data, a->slots * bytes) == 0,
                      "%s: batch %d: pixels", what, (int)a->number);
    }
}

/* Both give the same for `calls` calls of next(), ENDs too. */
static inline void iterators_must_agree(struct imrec_iter *a, struct imrec_iter *b,
                                        size_t sample_bytes, int calls, const char *what)
{
    for (int i = 0; i < calls; i++) {
        struct imrec_batch x, y;
        struct imrec_error e = {0}, f = {0};
        const enum imrec_status st = imrec_iter_next(a, &x, &e), other = imrec_iter_next(b, &y, &f);
        ck_assert_msg(st == other, "%s: call %d: status %d (%s) instead of %d (%s)", what, i, st,
                      e.message, other, f.message);
        ck_assert_msg(st == IMREC_OK || st == IMREC_END, "%s: call %d: %s", what, i, e.message);
        if (st == IMREC_OK)
            batches_must_equal(&x, &y, sample_bytes, what);
    }
    imrec_iter_close(a);
    imrec_iter_close(b);
}

#endif
