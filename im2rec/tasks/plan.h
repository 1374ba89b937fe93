/* im2rec/tasks/plan.h - a plan: what is packed by which task, with which options, into which set.
 *
 * docs/formats/plan.md describes its files. A plan is written once and never changed. */
#ifndef IMREC_IM2REC_TASKS_PLAN_H
#define IMREC_IM2REC_TASKS_PLAN_H

#include "base/string_arena.h"
#include "im2rec/list/job.h"
#include "imrec/plan.h"

#define PLAN_URI_BYTES  4096
#define PLAN_MARK_BYTES 17 /* of the plan's, and of one call's: 16 hexadecimal digits */

/* One task. Numbers only, in the order of its line. */
struct plan_row {
    uint64_t number;
    uint64_t first, images; /* of the list, all shares' lines that are not this one's excepted */
    uint64_t begin, end, lines_before, crc; /* struct list_piece; of items 0, and their check */
};

struct plan {
    char uri[PLAN_URI_BYTES]; /* of its folder, without a '/' at the end */
    char mark[PLAN_MARK_BYTES];
    struct imrec_pack_task task;  /* names that hold on every machine: absolute */
    struct imrec_pack_options o;  /* as they were given */
    const char *folder;           /* of the images' paths: task.root, or what archives are in */
    const char *cwd;              /* where their relative names begin */
    const char *list, *list_name; /* the text that rows are pieces of; its name in messages */
    const char *tables;           /* that JPEGs share, as text; NULL: there are none */
    bool items;                   /* there is none: the caller that works on a task has its items */
    bool numbered, boxes;         /* of items: their ids are their numbers; struct item_labels */
    uint64_t labels;              /* of each */
    uint64_t pixel_encoding, pixel_quality, pixel_channels; /* ..., 0: as they are, else 1 or 3 */
    bool scanned;     /* a folder was looked through, or archives */
    bool archives;    /* paths of the list begin with places */
    bool has_classes; /* PLAN/classes.txt */
    bool joins;
    uint64_t tasks, images, fingerprint, widest, skips, other_files, classes_crc;
    struct string_arena texts;
};

/* PLAN/base */
void plan_name(const struct plan *p, const char *base, char out[PLAN_URI_BYTES]);
/* PLAN/task-0000017.WHAT, then -MARK unless it is NULL. */
void plan_task_name(const struct plan *p, uint64_t k, const char *what, const char *mark,
                    char out[PLAN_URI_BYTES]);
uint64_t plan_records(const struct plan *p); /* images times copies */
/* Writes a small object, all or nothing. */
IMREC_NODISCARD enum imrec_status
plan_put(const char *name, struct bytes text, struct imrec_error *err);

/* Checks and keeps the folder's name. */
IMREC_NODISCARD enum imrec_status
plan_name_set(struct plan *p, const char *uri, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
plan_exists(const struct plan *p, bool *there, struct imrec_error *err);
/* Writes PLAN/plan, which makes the plan a plan, and sets p->mark. */
IMREC_NODISCARD enum imrec_status plan_write(struct plan *p, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
plan_load(const char *uri, struct plan *out, struct imrec_error *err);
void plan_free(struct plan *p); /* zeroed memory is fine */

/* ---- plan_make.c -------------------------------------------------------------------------- */
/* Task and options of a zeroed plan, checked, its names absolute. */
IMREC_NODISCARD enum imrec_status
plan_of_command(struct plan *p, const struct imrec_pack_task *task,
                const struct imrec_pack_options *options, struct imrec_error *err);
/* Neither a plan nor a set is in the way. */
IMREC_NODISCARD enum imrec_status plan_check_free(const struct plan *p, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status plan_make_folder(const struct plan *p, struct imrec_error *err);
/* PLAN/classes.txt, where there are classes. */
IMREC_NODISCARD enum imrec_status
plan_write_classes(struct plan *p, const struct job *j, struct imrec_error *err);
/* Whether shards begin where tasks do. rows: NULL: where plan_first_image() says. */
bool plan_is_aligned(const struct plan *p, const struct plan_row *rows);
/* The state of a plan that was made a moment ago. */
struct imrec_plan_status plan_begun(const struct plan *p);
/* plan_make.c: p->tasks and p->joins, from its options and number of images. `wanted`: as of
 * imrec_plan_make(). */
IMREC_NODISCARD enum imrec_status
plan_count_tasks(struct plan *p, uint64_t wanted, struct imrec_error *err);

/* ---- plan_rows.c -------------------------------------------------------------------------- */
IMREC_NODISCARD enum imrec_status
plan_rows_write(const struct plan *p, const struct plan_row *rows, struct imrec_error *err);
/* k < p->tasks */
IMREC_NODISCARD enum imrec_status
plan_row_read(const struct plan *p, uint64_t k, struct plan_row *out, struct imrec_error *err);
/* Calls visit() for all of them in their order; ends with a status of it that is not IMREC_OK. */
typedef enum imrec_status
plan_row_fn(void *user, const struct plan_row *row, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
plan_rows_visit(const struct plan *p, plan_row_fn *visit, void *user, struct imrec_error *err);
/* The image with which task k of p->tasks begins, unless they are made of items. */
uint64_t plan_first_image(const struct plan *p, uint64_t k);

/* ---- plan_again.c ------------------------------------------------------------------------- */
/* Refuses `have` where it is not what a plan of this command would be; tasks: 0: any number. */
IMREC_NODISCARD enum imrec_status plan_compare(const struct plan *have, const struct plan *wanted,
                                               uint64_t tasks, struct imrec_error *err);
/* "PLAN is the plan of another command: its WHAT differs" */
IMREC_NODISCARD enum imrec_status
plan_refuse_other(const struct plan *have, const char *what, struct imrec_error *err);

/* ---- plan_job.c --------------------------------------------------------------------------- */
/* What the workers of a task pack. */
IMREC_NODISCARD enum imrec_status plan_job_of_task(const struct plan *p, const struct plan_row *row,
                                                   const struct stop *stop, struct job *out,
                                                   struct imrec_error *err);
/* What the writer of the set needs to know; it has no images. */
IMREC_NODISCARD enum imrec_status
plan_job_of_set(const struct plan *p, struct job *out, struct imrec_error *err);
/* The skips of the scan, kept until then. */
IMREC_NODISCARD enum imrec_status
plan_skips_write(const struct plan *p, const struct scan *s, struct imrec_error *err);
#endif
