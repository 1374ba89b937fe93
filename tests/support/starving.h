/*
 * tests/support/starving.h - the first, second, ... allocation fails, until none does.
 *
 *     STARVING(s) {
 *         s.st = make(&thing, &err);
 *         thing_free(&thing);
 *     }
 *
 * A round whose allocation fails must say IMREC_ERR_NO_MEMORY, and what it made must be freed in
 * it. In STARVING_SOME() it may also go well: some memory can be done without, or is asked for
 * later.
 */
#ifndef IMREC_TESTS_STARVING_H
#define IMREC_TESTS_STARVING_H

#include "base/alloc.h"

#include <check.h>
#include <stdbool.h>

struct starving {
    enum imrec_status st; /* the body's */
    bool some, ended;
    long n, live;
};

static inline bool starving_begin(struct starving *s)
{
    if (s->ended)
        return false;
    ck_assert_int_lt(s->n, 5000);
    s->live = imrec_alloc_live();
    imrec_alloc_fail_after(s->n);
    return true;
}

static inline void starving_end(struct starving *s)
{
    const bool refused = imrec_alloc_has_failed();
    imrec_alloc_fail_after(-1);
    if (s->st != IMREC_OK)
        ck_assert_msg(refused && s->st == IMREC_ERR_NO_MEMORY, "allocation %ld: status %d", s->n,
                      (int)s->st);
    ck_assert_msg(s->st != IMREC_OK || !refused || s->some, "allocation %ld: nobody misses it",
                  s->n);
    ck_assert_msg(imrec_alloc_live() == s->live, "allocation %ld: %ld leak", s->n,
                  imrec_alloc_live() - s->live);
    s->ended = !refused;
    s->n++;
}

#define STARVING_(s, may)                                                                          \
    for (struct starving s = {.some = may}; starving_begin(&s); starving_end(&s))
#define STARVING(s)      STARVING_(s, false)
#define STARVING_SOME(s) STARVING_(s, true)
#endif
