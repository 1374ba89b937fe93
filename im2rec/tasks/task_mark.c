/* im2rec/tasks/task_mark.c */
#include "im2rec/tasks/task_mark.h"

#include "base/error.h"
#include "base/system.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum imrec_status task_mark_make(char mark[PLAN_MARK_BYTES], struct imrec_error *err)
{
    uint64_t v;
    if (!system_random(&v, sizeof(v)))
        return imrec_fail(err, IMREC_ERR_IO, "the system has no random numbers: %s",
                          strerror(errno));
    snprintf(mark, PLAN_MARK_BYTES, "%016" PRIx64, v);
    return IMREC_OK;
}

void task_shard_name(const struct plan *p, const struct set_files *s, uint64_t k, const char *mark,
                     char out[NAME_BYTES])
{
    char both[SET_WORK_MARK_BYTES];
    snprintf(both, sizeof(both), "%s-%s", p->mark, mark);
    set_marked_name(s, k, both, out);
}
