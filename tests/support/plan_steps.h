/* tests/support/plan_steps.h - what plans of files and of items have in common: names, the last
 * step, what comes of a step, and a plan of which one call fails. */
#ifndef IMREC_TESTS_PLAN_STEPS_H
#define IMREC_TESTS_PLAN_STEPS_H

#include "imrec/plan.h"
#include "tests/support/packing_faults.h"

static struct packing p;
static char plan[512], out[512];
static struct imrec_plan_status now;

static inline void name_all(const char *scheme)
{
    snprintf(plan, sizeof(plan), "%s%s/plan", scheme, p.dir.path);
    snprintf(out, sizeof(out), "%s%s/b", scheme, p.dir.path);
}

static inline enum imrec_status finish(void)
{
    return imrec_plan_finish(plan, NULL, &p.result, &p.err);
}

static inline void expect_ok(enum imrec_status st)
{
    ck_assert_msg(st == IMREC_OK, "%d: %s", (int)st, p.err.message);
}

static inline void expect_error(enum imrec_status st, enum imrec_status want, const char *words)
{
    ck_assert_msg(st == want && strstr(p.err.message, words) != NULL, "%d, without '%s': %s",
                  (int)st, words, p.err.message);
}

/* All steps in a new plan, of which the n-th call fails: whether there were fewer calls. */
static inline bool plan_ended_before(uint64_t n, enum imrec_status (*all_of_it)(void))
{
    const struct fault_script script = {.call_eio = n};
    packing_plan_again(&p);
    ck_assert_int_eq(fault_set("packing", &script, NULL), IMREC_OK);
    const bool ended = all_of_it() == IMREC_OK && packing_calls_ended(n);
    ck_assert_int_eq(fault_set("packing", &(struct fault_script){0}, NULL), IMREC_OK);
    return ended;
}
#endif
