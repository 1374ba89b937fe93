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
