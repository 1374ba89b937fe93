/* im2rec/tasks/plan_items.c - plans whose tasks are made of items that a caller has, not of a list.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "formats/crc32c.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/tasks/plan_run.h"
#include "im2rec/tasks/task_items.h"

#include <inttypes.h>

#define CLASSES_MAX ((size_t)1 << 30)

/* ---- counting ----------------------------------------------------------------------------- */

static enum imrec_status count_all(struct task_items *t, struct imrec_error *err)
{
    struct pack_item p = {0};
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    enum imrec_status st;
    while ((st = items_next(&t->items, NULL, t->count, &p, &why)) == IMREC_OK)
        continue;
    pack_item_free(&p);
    if (st == IMREC_END)
        return IMREC_OK;
    if (err != NULL)
        *err = why;
    return st;
}

enum imrec_status imrec_plan_count_items(const struct imrec_pack_source *source,
                                         struct imrec_plan_items *out, struct imrec_error *err)
{
    const struct imrec_pack_task nowhere = {0};
    struct imrec_pack_options o;
    struct job job;
    struct items classes;
    struct task_items t;
    *out = (struct imrec_plan_items){0};
    if (source == NULL)
        return IMREC_REFUSE(err, "there is nothing to count: give a source");
    imrec_pack_options_init(&o);
    IMREC_TRY(items_open(source, &nowhere, &o, &job, &classes, err));
    enum imrec_status st = task_items_open_any(&job, &o, source, &t, err);
    if (st == IMREC_OK)
        st = count_all(&t, err);
    job_close(&job);
    if (st != IMREC_OK)
        return st;
    *out = (struct imrec_plan_items){.count = t.count,
                                     .check = t.check,
                                     .label_count = t.items.labels.count,
                                     .boxes = t.items.labels.boxes,
                                     .labelled = t.items.labels.known};
    return IMREC_OK;
}

/* ---- a plan, before it is written --------------------------------------------------------- */

struct draft {
    struct plan p;
    struct job job;
    struct plan_row *rows;
};

static enum imrec_status
next_of_nothing(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    (void)user, (void)item, (void)err;
    return IMREC_END;
}

/* Labels are those of the first task that has any. */
static enum imrec_status
take_labels(struct plan *p, const struct imrec_plan_items *items, struct imrec_error *err)
{
    uint64_t first = UINT64_MAX;
    for (uint64_t k = 0; k < p->tasks; k++) {
        if (!items[k].labelled)
            continue;
        if (first == UINT64_MAX) {
            first = k;
            p->labels = items[k].label_count;
            p->boxes = items[k].boxes;
        }
        if (items[k].label_count != p->labels && !(items[k].boxes && p->boxes))
            return IMREC_REFUSE(err,
                                "the items of task %" PRIu64 " have %" PRIu32
                                " labels each, and those of task %" PRIu64 " have %" PRIu64
                                ": all must have the same number",
                                k, items[k].label_count, first, p->labels);
    }
    return IMREC_OK;
}

static enum imrec_status
take_counts(struct plan *p, const struct imrec_plan_items *items, struct imrec_error *err)
{
    for (uint64_t k = 0; k < p->tasks; k++) {
        if (items[k].count > UINT64_MAX - p->images)
            return imrec_fail(err, IMREC_ERR_LIMIT, "too many items");
        p->images += items[k].count;
    }
    if (p->images == 0)
        return IMREC_REFUSE(err, "there is nothing to pack: no task has an item");
    return take_labels(p, items, err);
}

static enum imrec_status make_rows(struct draft *d, const struct imrec_plan_items *items,
                                   uint64_t tasks, struct imrec_error *err)
{
    uint64_t first = 0;
    d->rows = imrec_zalloc((size_t)tasks, sizeof(*d->rows));
    if (d->rows == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " tasks", tasks);
    for (uint64_t k = 0; k < tasks; k++) {
        d->rows[k] = (struct plan_row){
            .number = k, .first = first, .images = items[k].count, .crc = items[k].check};
        first += items[k].count;
    }
    return IMREC_OK;
}

/* The class list as PLAN/classes.txt has it. */
static enum imrec_status check_classes(struct plan *p, const struct job *j, struct imrec_error *err)
{
    struct buf text = BUF_INIT(CLASSES_MAX);
    const struct class_list *classes = job_classes(j);
    p->has_classes = classes != NULL;
    if (classes == NULL)
        return IMREC_OK;
    const enum imrec_status st = class_list_write(classes, &text, err);
    p->classes_crc = crc32c(0, text.p, text.n);
    buf_free(&text);
    return st;
}

/* Everything that the records are made of. */
static uint64_t print_of(const struct draft *d)
{
    const struct plan *p = &d->p;
    const uint64_t numbers[] = {p->images,         p->numbered,      p->boxes,
                                p->labels,         p->has_classes,   p->classes_crc,
                                p->pixel_encoding, p->pixel_quality, p->pixel_channels};
    const uint64_t print = fingerprint(d->job.fingerprint, numbers, sizeof(numbers));
    return fingerprint(print, d->rows, (size_t)p->tasks * sizeof(*d->rows));
}

static enum imrec_status
take_source(struct draft *d, const struct imrec_pack_source *given, struct imrec_error *err)
{
    struct plan *p = &d->p;
    struct imrec_pack_source source;
    struct items items;
    imrec_pack_source_init(&source);
    IMREC_TRY(sized_copy(&source, sizeof(source), given, "imrec_pack_source_init", err));
    source.next = next_of_nothing; /* that of the makers of the plan is not asked */
    source.total = p->images;
    IMREC_TRY(items_open(&source, &p->task, &p->o, &d->job, &items, err));
    p->numbered = source.numbered;
    p->pixel_encoding = (uint64_t)source.encoding;
    p->pixel_quality = (uint64_t)source.quality;
    p->pixel_channels = source.color < 0 ? 0 : source.color == 0 ? 1 : 3;
    return check_classes(p, &d->job, err);
}

/* Boxes have any number of labels: the width of those in a CBF file is that of the first image that
 * is packed, which only finish knows. */
static bool joins(const struct draft *d)
{
    const bool late = d->p.boxes && d->p.o.format == IMREC_PACK_CBF;
    return late || !plan_is_aligned(&d->p, d->rows);
}

static enum imrec_status
draft(struct draft *d, const char *plan, const struct imrec_pack_task *task,
      const struct imrec_pack_source *source, const struct imrec_pack_options *options,
      const struct imrec_plan_items *items, uint64_t tasks, struct imrec_error *err)
{
    struct plan *p = &d->p;
    *d = (struct draft){.rows = NULL};
    IMREC_TRY(plan_name_set(p, plan, err));
    if (task == NULL || source == NULL || items == NULL)
        return IMREC_REFUSE(err, "a plan of items needs a task, a source, and what was counted");
    if (tasks == 0 || tasks > IMREC_PLAN_TASKS_MOST)
        return IMREC_REFUSE(err, "tasks must be 1 to %u, not %" PRIu64, IMREC_PLAN_TASKS_MOST,
                            tasks);
    struct imrec_pack_task named = *task;
    named.root = task->root != NULL ? task->root : "";
    IMREC_TRY(plan_of_command(p, &named, options, err));
    if (p->o.shared_tables)
        return IMREC_REFUSE(err, "shared_tables are made of a sample of all images, and where a "
                                 "plan of items is made, there are none");
    p->items = p->o.pack_label = true;
    p->tasks = tasks;
    IMREC_TRY(take_counts(p, items, err));
    IMREC_TRY(take_source(d, source, err));
    IMREC_TRY(make_rows(d, items, tasks, err));
    p->fingerprint = print_of(d);
    p->joins = joins(d);
    return IMREC_OK;
}

static void draft_free(struct draft *d)
{
    job_close(&d->job);
    imrec_free(d->rows);
    plan_free(&d->p);
}

static enum imrec_status write_draft(struct draft *d, struct imrec_error *err)
{
    IMREC_TRY(plan_check_free(&d->p, err));
    IMREC_TRY(plan_make_folder(&d->p, err));
    IMREC_TRY(plan_write_classes(&d->p, &d->job, err));
    IMREC_TRY(plan_rows_write(&d->p, d->rows, err));
    d->p.folder = d->p.task.root;
    return plan_write(&d->p, err);
}

/* ---- a plan that is there already --------------------------------------------------------- */

struct comparison {
    const struct plan *have;
    const struct plan_row *rows; /* wanted */
};

#define OTHER_ITEMS "%s is the plan of other items: task %" PRIu64
#define OTHER_HINT  "; finish it, remove it, or name another plan"

static enum imrec_status compare_row(void *user, const struct plan_row *r, struct imrec_error *err)
{
    const struct comparison *c = user;
    const struct plan_row *wanted = &c->rows[r->number];
    if (r->images != wanted->images)
        return IMREC_REFUSE(
            err, OTHER_ITEMS " had %" PRIu64 " when it was made, and has %" PRIu64 OTHER_HINT,
            c->have->uri, r->number, r->images, wanted->images);
    if (r->crc != wanted->crc)
        return IMREC_REFUSE(err,
                            OTHER_ITEMS " had %" PRIu64
                                        " others, or in another order, when it was made" OTHER_HINT,
                            c->have->uri, r->number, r->images);
    return IMREC_OK;
}

/* Of a finished plan the rows are gone; its fingerprint has them. */
static enum imrec_status
compare_items(const struct plan *have, const struct draft *d, struct imrec_error *err)
{
    const struct plan *p = &d->p;
    struct imrec_pack_result ignored = {0};
    struct comparison c = {have, d->rows};
    bool finished;
    IMREC_TRY(plan_compare(have, p, p->tasks, err));
    if (have->numbered != p->numbered)
        return plan_refuse_other(have, "numbering of ids", err);
    if (have->has_classes != p->has_classes || have->classes_crc != p->classes_crc)
        return plan_refuse_other(have, "class list", err);
    if (have->pixel_encoding != p->pixel_encoding || have->pixel_quality != p->pixel_quality ||
        have->pixel_channels != p->pixel_channels)
        return plan_refuse_other(have, "encoding of pixels", err);
    IMREC_TRY(plan_finished(have, &finished, &ignored, err));
    if (!finished)
        IMREC_TRY(plan_rows_visit(have, compare_row, &c, err));
    return have->fingerprint == p->fingerprint ? IMREC_OK
                                               : plan_refuse_other(have, "list of items", err);
}

/* ---- public ------------------------------------------------------------------------------- */

enum imrec_status imrec_plan_make_items(const char *plan, const struct imrec_pack_task *task,
                                        const struct imrec_pack_source *source,
                                        const struct imrec_pack_options *options,
                                        const struct imrec_plan_items *items, uint64_t tasks,
                                        struct imrec_plan_status *out, struct imrec_error *err)
{
    struct draft d;
    enum imrec_status st = draft(&d, plan, task, source, options, items, tasks, err);
    if (st == IMREC_OK)
        st = write_draft(&d, err);
    if (out != NULL)
        *out = plan_begun(&d.p);
    draft_free(&d);
    return st;
}

enum imrec_status imrec_plan_continue_items(const char *plan, const struct imrec_pack_task *task,
                                            const struct imrec_pack_source *source,
                                            const struct imrec_pack_options *options,
                                            const struct imrec_plan_items *items, uint64_t tasks,
                                            struct imrec_error *err)
{
    struct draft d;
    struct plan have = {0};
    bool there = false;
    enum imrec_status st = draft(&d, plan, task, source, options, items, tasks, err);
    if (st == IMREC_OK)
        st = plan_exists(&d.p, &there, err);
    if (st == IMREC_OK && !there)
        st = write_draft(&d, err);
    else if (st == IMREC_OK && (st = plan_load(plan, &have, err)) == IMREC_OK)
        st = compare_items(&have, &d, err);
    plan_free(&have);
    draft_free(&d);
    return st;
}

enum imrec_status imrec_plan_work_items(const char *plan, uint64_t k,
                                        const struct imrec_pack_source *source,
                                        const struct imrec_plan_run *run,
                                        struct imrec_pack_result *out, struct imrec_error *err)
{
    if (source == NULL)
        return IMREC_REFUSE(err, "the items of a task need a source");
    return plan_work(plan, k, source, run, out, err);
}
