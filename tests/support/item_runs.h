/* tests/support/item_runs.h - runs over an itemset of encoded bytes: the fixture of the tests of
 * items, and what comes of a run. */
#ifndef IMREC_TESTS_ITEM_RUNS_H
#define IMREC_TESTS_ITEM_RUNS_H

#include "base/alloc.h"
#include "tests/support/itemset.h"

static struct packing p;
static struct itemset s;

static inline void setup(void)
{
    packing_make(&p, false);
    p.o.resize = 0;
    p.o.threads = 2;
    itemset_make(&s, &p, ITEM_BYTES);
}

static inline void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static inline const char *out_of(const char *name)
{
    return tmp_path(&p.dir, name);
}

static inline void expect_ok(const char *name)
{
    const enum imrec_status st = itemset_run(&s, out_of(name));
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
}

/* It failed with these words, and nothing is there. */
static inline void expect_refused(enum imrec_status st, const char *words)
{
    ck_assert_int_eq(itemset_run(&s, out_of("b")), st);
    ck_assert_msg(strstr(p.err.message, words) != NULL, "%s", p.err.message);
    ck_assert_int_eq(files_but(&p, NULL), 0);
}

static inline bool file_holds(const char *name, const char *words)
{
    const struct bytes text = read_whole(out_of(name));
    ck_assert_msg(text.p != NULL, "%s is missing", name);
    const bool found = strstr((const char *)text.p, words) != NULL;
    free((void *)(uintptr_t)text.p);
    return found;
}
#endif
