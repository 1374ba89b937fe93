/* im2rec/tasks/task_items.h - the items of one task: counted, and compared with what the plan says.
 */
#ifndef IMREC_IM2REC_TASKS_TASK_ITEMS_H
#define IMREC_IM2REC_TASKS_TASK_ITEMS_H

#include "im2rec/items.h"
#include "im2rec/tasks/plan.h"

struct task_items {
    const struct plan *plan; /* NULL: there is none yet, and any number of items is right */
    const struct plan_row *row;
    struct imrec_pack_source given;
    uint64_t count;
    uint32_t check;     /* of the items so far */
    struct items items; /* what pack_run() takes */
};

/* job: that of the task. `t` stays where it is. */
IMREC_NODISCARD enum imrec_status task_items_open(const struct plan *p, const struct plan_row *row,
                                                  const struct job *job,
                                                  const struct imrec_pack_source *source,
                                                  struct task_items *t, struct imrec_error *err);
/* The same before there is a plan. */
IMREC_NODISCARD enum imrec_status
task_items_open_any(const struct job *job, const struct imrec_pack_options *o,
                    const struct imrec_pack_source *source, struct task_items *t,
                    struct imrec_error *err);
#endif
