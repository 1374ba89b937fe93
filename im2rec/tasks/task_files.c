/* im2rec/tasks/task_files.c - every file has a name of this call; the report, published last under
 * the name of the task, says which one. */
#include "im2rec/tasks/task_files.h"

#include "base/error.h"
#include "im2rec/item/read_file.h"
#include "im2rec/set/run_ends.h"
#include "im2rec/tasks/task_mark.h"
#include "storage/sink.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)256 << 20)

/* ---- opening ---------------------------------------------------------------------------- */

static enum imrec_status
open_one(struct task_files *t, const char *what, struct sink **out, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    plan_task_name(t->plan, t->k, what, t->end.mark, name);
    IMREC_TRY(sink_open(name, out, err));
    sink_stop_with(*out, t->stop);
    return IMREC_OK;
}

enum imrec_status task_files_open(const struct plan *plan, uint64_t k, const struct job *job,
                                  const char *mark, const struct stop *stop, struct task_files *t,
                                  struct imrec_error *err)
{
    const struct class_list *classes = job_classes(job);
    *t = (struct task_files){
        .plan = plan, .job = job, .stop = stop, .k = k, .text = BUF_INIT(TEXT_MAX)};
    memcpy(t->end.mark, mark, PLAN_MARK_BYTES);
    t->end.shard.number = k;
    t->shape = set_shape_of(&plan->o, job);
    IMREC_TRY(set_files_init(&plan->task, &plan->o, &t->files, err));
    IMREC_TRY(tally_init(&t->tally, classes != NULL ? classes->count : 0, err));
    IMREC_TRY(open_one(t, "done", &t->report, err));
    return plan->joins ? open_one(t, "records", &t->data, err) : IMREC_OK;
}

/* ---- images ----------------------------------------------------------------------------- */

static enum imrec_status open_shard(struct task_files *t, struct imrec_error *err)
{
    char name[NAME_BYTES];
    const struct written_shard nothing = {0};
    task_shard_name(t->plan, &t->files, t->k, t->end.mark, name);
    IMREC_TRY(shard_writer_open(&t->shard, t->files.kind, name, &t->shape, &nothing, err));
    shard_writer_stop_with(&t->shard, t->stop);
    return IMREC_OK;
}

static enum imrec_status
put_in_shard(struct task_files *t, const struct pack_item *p, struct imrec_error *err)
{
    const struct shard_record r = {.id = p->id,
                                   .labels = (const float *)(const void *)p->labels.p,
                                   .label_count = p->label_count,
                                   .path = p->path,
                                   .bytes = {p->record.p, p->record.n},
                                   .crc = p->crc};
    if (t->shape.label_count == 0)
        t->shape.label_count = p->label_count;
    if (!shard_writer_is_open(&t->shard))
        IMREC_TRY(open_shard(t, err));
    if (t->shard.kind->room != NULL)
        IMREC_TRY(t->shard.kind->room(&t->shard, &r, err));
    return shard_writer_put(&t->shard, &r, err);
}

static enum imrec_status
put_record(struct task_files *t, const struct pack_item *p, struct imrec_error *err)
{
    if (t->data == NULL)
        return put_in_shard(t, p, err);
    t->end.bytes += p->record.n;
    return sink_append(t->data, p->record.p, p->record.n, err);
}

enum imrec_status
task_files_put(struct task_files *t, const struct pack_item *p, struct imrec_error *err)
{
    const bool skipped = p->outcome.reason != REASON_NONE;
    t->text.n = 0;
    if (!skipped)
        IMREC_TRY(put_record(t, p, err));
    IMREC_TRY(task_report_image(&t->text, p, err));
    IMREC_TRY(sink_append(t->report, t->text.p, t->text.n, err));
    tally_add(&t->tally, &p->outcome);
    t->end.images++;
    t->end.packed += !skipped;
    t->end.skipped += skipped;
    if (!skipped || t->plan->o.on_error != IMREC_ON_ERROR_STOP)
        return IMREC_OK;
    const struct report_line l = {p->path, p->why, p->outcome.reason, p->line, 0};
    return end_stopped_at(&l, err);
}

/* ---- the end ---------------------------------------------------------------------------- */

static enum imrec_status publish(struct task_files *t, const char *what, const char *as_mark,
                                 struct sink **sink, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES], as[PLAN_URI_BYTES];
    struct sink *gone = *sink;
    *sink = NULL;
    plan_task_name(t->plan, t->k, what, t->end.mark, name);
    plan_task_name(t->plan, t->k, what, as_mark, as);
    IMREC_TRY(sink_finish(gone, err));
    return sink_publish_as(name, as, err);
}

enum imrec_status task_files_finish(struct task_files *t, struct imrec_error *err)
{
    if (t->data != NULL) {
        IMREC_TRY(publish(t, "records", t->end.mark, &t->data, err));
    } else {
        if (!shard_writer_is_open(&t->shard)) /* no record at all: an empty shard all the same */
            IMREC_TRY(open_shard(t, err));
        IMREC_TRY(shard_writer_finish(&t->shard, &t->end.shard, err));
    }
    t->text.n = 0;
    IMREC_TRY(task_report_end(&t->text, t->plan, &t->end, err));
    IMREC_TRY(sink_append(t->report, t->text.p, t->text.n, err));
    IMREC_TRY(publish(t, "done", NULL, &t->report, err));
    t->done = true;
    return IMREC_OK;
}

static void discard(const struct task_files *t)
{
    static const char *const whats[] = {"records", "done"};
    char name[PLAN_URI_BYTES], part[PLAN_URI_BYTES + 8];
    for (size_t i = 0; i < 2; i++) {
        plan_task_name(t->plan, t->k, whats[i], t->end.mark, name);
        snprintf(part, sizeof(part), "%s.part", name);
        if (sink_remove(name, NULL) != IMREC_OK || sink_remove(part, NULL) != IMREC_OK)
            continue; /* finish removes it */
    }
    if (t->plan->joins)
        return;
    char shard[NAME_BYTES];
    task_shard_name(t->plan, &t->files, t->k, t->end.mark, shard);
    set_discard_shard(&t->files, shard);
}

void task_files_close(struct task_files *t)
{
    if (t->plan == NULL)
        return;
    shard_writer_leave(&t->shard);
    sink_abort(t->data);
    sink_abort(t->report);
    if (!t->done)
        discard(t);
    tally_free(&t->tally);
    buf_free(&t->text);
    *t = (struct task_files){0};
}
