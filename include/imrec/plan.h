/* imrec/plan.h - packs one set on many machines: a plan, its tasks, and a finish.
 *
 *     imrec_plan_make("train.plan", &task, &options, 0, &status, &err)    once
 *     imrec_plan_work("train.plan", k, NULL, &result, &err)               for each k, anywhere
 *     imrec_plan_finish("train.plan", NULL, &result, &err)                once
 *
 * The set's bytes are those of imrec_pack() with the same task and options, whatever did the tasks,
 * in which order, and how often. A plan is a folder, a path or the URI of a store that every
 * machine reaches under the same name; docs/guide/distributed.md describes it. Any thread may call
 * any of these functions at any time. */
#ifndef IMREC_PLAN_H
#define IMREC_PLAN_H

#include "imrec/pack_items.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMREC_PLAN_TASKS_MOST (1u << 20)

/* The state of a plan. */
struct imrec_plan_status {
    uint64_t tasks, done, running, missing; /* missing: neither done nor running */
    uint64_t images, images_done;           /* to be packed; of tasks that are done */
    uint64_t records;                       /* images times copies */
    double seconds_left; /* at the rate since the plan was made; negative: nobody knows */
    bool joins;          /* a task is a part of a shard: finish copies all bytes once. false: each
                            task is a whole shard, and finish renames */
    bool finished;       /* the set is complete */
    bool items;          /* the tasks are made of a caller's items, not of files */
};

enum imrec_task_state { IMREC_TASK_MISSING, IMREC_TASK_RUNNING, IMREC_TASK_DONE };

/* What work and finish may do as they like: fill with imrec_plan_run_init(), then change fields. */
struct imrec_plan_run {
    size_t struct_size;
    int64_t threads; /* as imrec_pack_options.threads; 0: every CPU this process may use */
    int64_t memory;  /* as imrec_pack_options.memory; 0: as the plan says */
    /* Called as that of imrec_pack_task: false ends the call within two seconds. */
    imrec_progress_fn *progress;
    void *user;
};

IMREC_API void imrec_plan_run_init_sized(struct imrec_plan_run *r, size_t size);
static inline void imrec_plan_run_init(struct imrec_plan_run *r)
{
    imrec_plan_run_init_sized(r, sizeof(*r));
}

/* Reads the folder or list of *task once and writes the plan into the folder `plan`, which is made
 * if it is missing. tasks: how many, at most IMREC_PLAN_TASKS_MOST and one an image; 0: one for
 * each shard where options.shards gives their number, else one for about 2048 images.
 * options.resume and options.list are refused; task->progress is called with what is found. *out
 * may be NULL. Nothing was changed after
 *   IMREC_ERR_ARGUMENT   the folder has a plan, or an output exists and options.force is not set
 *   IMREC_ERR_IO         with sys_errno EBUSY: another call plans or writes the set */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_make(const char *plan, const struct imrec_pack_task *task,
                const struct imrec_pack_options *options, uint64_t tasks,
                struct imrec_plan_status *out, struct imrec_error *err);

/* imrec_plan_make(), or nothing where the folder has a plan of the same task, options (but threads
 * and memory) and number of tasks (0: any): for a command that is given again after it was
 * interrupted.
 *   IMREC_ERR_ARGUMENT   the plan is of another command: the message names what differs; or it is
 *                        finished, and the manifest of its set is missing */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_continue(const char *plan, const struct imrec_pack_task *task,
                    const struct imrec_pack_options *options, uint64_t tasks,
                    struct imrec_error *err);

/* Removes what imrec_plan_finish() keeps, and the folder if it is empty then. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_forget(const char *plan, struct imrec_error *err);

/* Packs task k, from 0. A task that is done is left alone: out->was_complete. Two calls for one
 * task, here or elsewhere, do not disturb each other: one wins, and their bytes are equal. A call
 * that fails or is killed leaves the task as it was. out->skipped images are not packed.
 *   IMREC_ERR_DATA   options.on_error is stop, and an image cannot be packed
 *   IMREC_ERR_CORRUPT   the list has changed since the plan was made */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_work(const char *plan, uint64_t k, const struct imrec_plan_run *run,
                struct imrec_pack_result *out, struct imrec_error *err);

/* ---- items -----------------------------------------------------------------------------------
 *
 * A plan of images that a caller has, as imrec_pack_items() packs them: the rows of partitions that
 * lie on many machines, for example. Each task is a partition, of any number of items, which the
 * caller that works on it hands over again:
 *
 *     imrec_plan_count_items(&source, &items[k], &err)                      for each k, anywhere
 *     imrec_plan_make_items("p", &task, &source, &options, items, n, &status, &err)     once
 *     imrec_plan_work_items("p", k, &source, NULL, &result, &err)           for each k, anywhere
 *     imrec_plan_finish("p", NULL, &result, &err)                           once
 *
 * The set's bytes are those of imrec_pack_items() over the items of task 0, then of task 1, ... */

/* What a task is made of. Numbers only: they may be sent from machine to machine. */
struct imrec_plan_items {
    uint64_t count;
    uint32_t check;       /* CRC-32C over the items in their order, all that a source fills in */
    uint32_t label_count; /* of the first item that is not refused ... */
    bool boxes;           /* ... and whether its labels are boxes */
    bool labelled;        /* there is such an item */
};

/* Goes through the items of a task, and packs none: IMREC_ERR_ARGUMENT where one has labels that
 * cannot be packed, as imrec_pack_items() says it. Of *source next, user and the number of classes
 * are used. Paths are not opened. A source without items is fine. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_count_items(const struct imrec_pack_source *source, struct imrec_plan_items *out,
                       struct imrec_error *err);

/* Writes a plan of `tasks` tasks, task k of items[k]. Of *source all but next, user and total is
 * used, and holds for all tasks. Where it is numbered, the ids are 0, 1, ... over all tasks,
 * whatever the items say. options and task: as for imrec_pack_items(); progress() is not called.
 *   IMREC_ERR_ARGUMENT   as imrec_plan_make(); or there is no item; or the tasks' items have other
 *                        numbers of labels */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_make_items(const char *plan, const struct imrec_pack_task *task,
                      const struct imrec_pack_source *source,
                      const struct imrec_pack_options *options,
                      const struct imrec_plan_items *items, uint64_t tasks,
                      struct imrec_plan_status *out, struct imrec_error *err);

/* imrec_plan_make_items(), or nothing where the folder has a plan of the same items, task and
 * options (but threads and memory). Other ones are IMREC_ERR_ARGUMENT, which names what differs. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_continue_items(const char *plan, const struct imrec_pack_task *task,
                          const struct imrec_pack_source *source,
                          const struct imrec_pack_options *options,
                          const struct imrec_plan_items *items, uint64_t tasks,
                          struct imrec_error *err);

/* imrec_plan_work() of a plan of items, which the source hands over as it did when they were
 * counted. Of *source next and user are used.
 *   IMREC_ERR_CORRUPT   they are more, fewer or others than then, or in another order; the task
 *                       stays as it was
 *   other errors        also those of imrec_pack_items() and of the source */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_work_items(const char *plan, uint64_t k, const struct imrec_pack_source *source,
                      const struct imrec_plan_run *run, struct imrec_pack_result *out,
                      struct imrec_error *err);

/* ---- the set ---------------------------------------------------------------------------------
 */

/* Makes the set of what the tasks left, the manifest last, and removes what it does not need any
 * more. *out is that of imrec_pack(). Memory: about 160 bytes a task, 64 a shard, and one image. A
 * call that is interrupted continues when it is made again; of a finished plan it is
 * out->was_complete.
 *   IMREC_ERR_DATA   tasks are missing: the message names the first; or as imrec_pack()
 *   IMREC_ERR_IO     with sys_errno EBUSY: another call finishes it */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_finish(const char *plan, const struct imrec_plan_run *run, struct imrec_pack_result *out,
                  struct imrec_error *err);

/* A task is running as long as its worker has said so within the last minute, by the clock of the
 * store. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_plan_status(const char *plan, struct imrec_plan_status *out, struct imrec_error *err);
/* The state of tasks 0 to count - 1 into states[]. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_plan_tasks(const char *plan, uint64_t count,
                                                             enum imrec_task_state *states,
                                                             struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
