/* im2rec/tasks/task_mark.h - names that no other call uses. */
#ifndef IMREC_IM2REC_TASKS_TASK_MARK_H
#define IMREC_IM2REC_TASKS_TASK_MARK_H

#include "im2rec/set/set_files.h"
#include "im2rec/tasks/plan.h"

/* 64 bits of the system's randomness, as text: no output depends on them. */
IMREC_NODISCARD enum imrec_status
task_mark_make(char mark[PLAN_MARK_BYTES], struct imrec_error *err);
/* "OUT-00003.PLAN-MARK.rec": where a call writes shard k. */
void task_shard_name(const struct plan *p, const struct set_files *s, uint64_t k, const char *mark,
                     char out[NAME_BYTES]);
#endif
