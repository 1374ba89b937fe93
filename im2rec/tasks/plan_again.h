/* im2rec/tasks/plan_again.h - a plan that a program makes for itself: used again by the same
 * command, gone with the set. */
#ifndef IMREC_IM2REC_TASKS_PLAN_AGAIN_H
#define IMREC_IM2REC_TASKS_PLAN_AGAIN_H

#include "imrec/plan.h"

/* imrec_plan_make(), or nothing where the folder has a plan of the same task, options and number
 * of tasks (0: any). One of another is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
plan_make_again(const char *plan, const struct imrec_pack_task *task,
                const struct imrec_pack_options *options, uint64_t tasks, struct imrec_error *err);
/* Removes what imrec_plan_finish() keeps, and the folder if it is empty then. */
IMREC_NODISCARD enum imrec_status plan_forget(const char *plan, struct imrec_error *err);
#endif
