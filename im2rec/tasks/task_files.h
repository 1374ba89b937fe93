/* im2rec/tasks/task_files.h - what a call writes for its task: records, and the report of them. */
#ifndef IMREC_IM2REC_TASKS_TASK_FILES_H
#define IMREC_IM2REC_TASKS_TASK_FILES_H

#include "im2rec/item/tally.h"
#include "im2rec/set/set_files.h"
#include "im2rec/tasks/task_report.h"

struct task_files {
    const struct plan *plan;
    const struct job *job;
    const struct stop *stop;
    uint64_t k;
    struct set_files files;
    struct shard_shape shape;
    struct shard_writer shard; /* of a task that is a shard */
    struct sink *data;         /* records, of one that is a part of a shard */
    struct sink *report;
    struct buf text;
    struct task_end end;
    struct tally tally;
    bool done;
};

IMREC_NODISCARD enum imrec_status
task_files_open(const struct plan *plan, uint64_t k, const struct job *job, const char *mark,
                const struct stop *stop, struct task_files *t, struct imrec_error *err);
/* An image, packed or skipped; with on_error=stop a skipped one is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
task_files_put(struct task_files *t, const struct pack_item *p, struct imrec_error *err);
/* The task is done. */
IMREC_NODISCARD enum imrec_status task_files_finish(struct task_files *t, struct imrec_error *err);
/* Removes what was written, unless the task is done. Zeroed memory is fine. */
void task_files_close(struct task_files *t);
#endif
