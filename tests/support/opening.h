/* tests/support/opening.h - iterators by "key=value" words separated by blanks. */
#ifndef IMREC_TESTS_OPENING_H
#define IMREC_TESTS_OPENING_H

#include "base/alloc.h"
#include "imrec/imrec.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Opens over `o` as `words` change it; *out is NULL where that fails. */
static inline enum imrec_status open_words(struct imrec_iter_options *o, const char *words,
                                           struct imrec_iter **out, struct imrec_error *err)
{
    char text[4096];
    *out = NULL;
    ck_assert_int_lt(snprintf(text, sizeof(text), "%s", words), sizeof(text));
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        const enum imrec_status st = imrec_iter_options_set(o, word, err);
        if (st != IMREC_OK)
            return st;
    }
    return imrec_iter_open(o, out, err);
}

/* Over the shards `uri`, with the words `common` and then `more`. */
static inline enum imrec_status try_open_over(const char *uri, const char *common, const char *more,
                                              struct imrec_iter **out, struct imrec_error *err)
{
    struct imrec_iter_options o;
    char words[4096];
    imrec_iter_options_init(&o);
    o.path_imgrec = uri;
    snprintf(words, sizeof(words), "%s %s", common, more);
    return open_words(&o, words, out, err);
}

static inline struct imrec_iter *open_over(const char *uri, const char *common, const char *more)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    if (try_open_over(uri, common, more, &it, &err) != IMREC_OK)
        ck_abort_msg("%s %s: %s", uri, more, err.message);
    return it;
}

/* The next batch; an END is passed over. */
static inline struct imrec_batch following_batch(struct imrec_iter *it)
{
    struct imrec_batch b;
    struct imrec_error e;
    enum imrec_status st = imrec_iter_next(it, &b, &e);
    if (st == IMREC_END)
        st = imrec_iter_next(it, &b, &e);
    ck_assert_msg(st == IMREC_OK, "%s", e.message);
    return b;
}

/* From here on whoever asks for memory is refused, and `calls` more of next() go well. */
static inline void must_ask_for_no_memory(struct imrec_iter *it, int calls)
{
    struct imrec_batch b;
    imrec_alloc_fail_after(0);
    for (int i = 0; i < calls; i++) {
        struct imrec_error err = {0};
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        ck_assert_msg(st <= IMREC_END, "%s", err.message);
    }
    imrec_alloc_fail_after(-1);
}
#endif
