/*
 * tests/support/starving.h - the first, second, ... allocation fails, until nothing does.
 *
 *     STARVING(s) {
 *         s.st = make(&thing, &err);
 *         thing_free(&thing);
 *     }
 *
 * What fails must say IMREC_ERR_NO_MEMORY; all that was made in a round must be freed in it.
 */
#ifndef IMREC_TESTS_STARVING_H
#define IMREC_TESTS_STARVING_H

#include "base/alloc.h"

#include <check.h>
#include <stdbool.h>

struct starving {
    enum imrec_status st; /* the body's */
    long n, live;
};

static inline bool starving_begin(struct starving *s)
{
    if (s->st == IMREC_OK)
        return false;
    ck_assert_int_lt(s->n, 5000);
    s->live = imrec_alloc_live();
    imrec_alloc_fail_after(s->n);
    return true;
}

static inline void starving_end(struct starving *s)
{
    imrec_alloc_fail_after(-1);
    ck_assert_msg(s->st == IMREC_OK || s->st == IMREC_ERR_NO_MEMORY, "allocation %ld: status %d",
                  s->n, (int)s->st);
    ck_assert_msg(imrec_alloc_live() == s->live, "allocation %ld: %ld leak", s->n,
                  imrec_alloc_live() - s->live);
    s->n++;
}

#define STARVING(s)                                                                                \
    for (struct starving s = {.st = IMREC_ERR_NO_MEMORY}; starving_begin(&s); starving_end(&s))
#endif
