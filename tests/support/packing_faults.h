/* tests/support/packing_faults.h - packing.h's folder over storage that follows a script. */
#ifndef IMREC_TESTS_PACKING_FAULTS_H
#define IMREC_TESTS_PACKING_FAULTS_H

#include "base/alloc.h"
#include "imrec/dataset.h"
#include "storage/fault.h"
#include "tests/support/packing.h"

/* URI of `name` in the folder, for as long as nobody asks again. */
static inline const char *
packing_scripted(const struct packing *p, const char *name, const struct fault_script *script)
{
    static char uri[512];
    snprintf(uri, sizeof(uri), "fault://script=packing:%s", tmp_path(&p->dir, name));
    ck_assert_int_eq(fault_set("packing", script, NULL), IMREC_OK);
    return uri;
}

/* The folder and the script are gone, and no memory is left. */
static inline void packing_end(struct packing *p)
{
    fault_forget("packing");
    packing_remove(p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* An empty folder plan, and nothing of the set b that was made of it before. */
static inline void packing_plan_again(const struct packing *p)
{
    char command[512];
    snprintf(command, sizeof(command), "rm -rf %.200s/plan %.200s/b*", p->dir.path, p->dir.path);
    ck_assert_int_eq(system(command), 0);
    make_folder(&p->dir, "plan");
}

/* Of the script that fails the n-th call: whether there were fewer. */
static inline bool packing_calls_ended(uint64_t n)
{
    const struct fault_counts c = fault_counts("packing");
    return c.reads + c.writes + c.syncs + c.renames + c.folders < n;
}

/* Whether verify() finds nothing in these shards. */
static inline bool packing_verifies(struct packing *p, const char *uri)
{
    struct imrec_verify_options v;
    struct imrec_verify_result result;
    imrec_verify_options_init(&v);
    v.threads = 1;
    return imrec_dataset_verify(uri, &v, &result, &p->err) == IMREC_OK && result.findings == 0;
}
#endif
