/* im2rec/tasks/plan_run.h - what work, finish and status share. */
#ifndef IMREC_IM2REC_TASKS_PLAN_RUN_H
#define IMREC_IM2REC_TASKS_PLAN_RUN_H

#include "im2rec/item/pack_options.h"
#include "im2rec/tasks/plan.h"

/* *given, or its defaults; p->o and p->task are of this call from here on. */
IMREC_NODISCARD enum imrec_status plan_run_take(const struct imrec_plan_run *given, struct plan *p,
                                                struct imrec_plan_run *out,
                                                struct imrec_error *err);

/* plan_work.c: imrec_plan_work(), or, with a source, imrec_plan_work_items(). */
struct imrec_pack_source;
IMREC_NODISCARD enum imrec_status
plan_work(const char *plan, uint64_t k, const struct imrec_pack_source *source,
          const struct imrec_plan_run *run, struct imrec_pack_result *out, struct imrec_error *err);

/* ---- plan_end.c --------------------------------------------------------------------------- */
/* Whether the set is complete; then *out is what is known of it. */
IMREC_NODISCARD enum imrec_status plan_finished(const struct plan *p, bool *finished,
                                                struct imrec_pack_result *out,
                                                struct imrec_error *err);
/* Notes that it is. */
IMREC_NODISCARD enum imrec_status
plan_finish_note(const struct plan *p, const struct imrec_pack_result *r, struct imrec_error *err);
/* Removes what the tasks and the plan leave, but for the plan and the note. */
IMREC_NODISCARD enum imrec_status plan_clean(const struct plan *p, struct imrec_error *err);
#endif
