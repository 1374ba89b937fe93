/* im2rec/tasks/task_report.h - PLAN/task-0000017.done: what became of each image of a task, and
 * which files have its records. Its last line makes it whole. */
#ifndef IMREC_IM2REC_TASKS_TASK_REPORT_H
#define IMREC_IM2REC_TASKS_TASK_REPORT_H

#include "im2rec/set/checked_lines.h"
#include "im2rec/shard/shard_writer.h"
#include "im2rec/tasks/plan.h"

/* The last line. */
struct task_end {
    char mark[PLAN_MARK_BYTES]; /* of the call that made the files */
    uint64_t images, packed, skipped;
    uint64_t bytes;             /* of the part that finish copies */
    struct written_shard shard; /* of a task that is a whole shard */
};

/* Appends the line of an image, packed or skipped. */
IMREC_NODISCARD enum imrec_status
task_report_image(struct buf *out, const struct pack_item *p, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status task_report_end(struct buf *out, const struct plan *plan,
                                                  const struct task_end *end,
                                                  struct imrec_error *err);

/* Whether task k is done, and how it ended. */
IMREC_NODISCARD enum imrec_status task_report_look(const struct plan *plan, uint64_t k, bool *done,
                                                   struct task_end *end, struct imrec_error *err);

/* Goes through the images. */
struct task_report {
    struct checked_lines lines;
    struct buf text;
    char name[PLAN_URI_BYTES];
};
IMREC_NODISCARD enum imrec_status task_report_open(const struct plan *plan, uint64_t k,
                                                   struct task_report *r, struct imrec_error *err);
/* Fills *p, but for p->record, of which *bytes is the length. IMREC_END: there are no more. */
IMREC_NODISCARD enum imrec_status task_report_next(struct task_report *r, struct pack_item *p,
                                                   uint64_t *bytes, struct imrec_error *err);
void task_report_close(struct task_report *r); /* zeroed memory is fine */
#endif
