/* im2rec/tasks/plan_finish.c - imrec_plan_finish(): the ordered end of packing, fed by what tasks
 * have left instead of by workers. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "im2rec/set/journal.h"
#include "im2rec/set/writer.h"
#include "im2rec/tasks/part_reader.h"
#include "im2rec/tasks/plan_run.h"
#include "im2rec/tasks/task_mark.h"
#include "im2rec/tasks/task_report.h"
#include "im2rec/watch.h"
#include "storage/at_once.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECORD_MAX  ((size_t)1 << 30)
#define NAMED_TASKS 5

struct finish {
    struct plan *p;
    struct watch watch;
    struct job job;
    struct imrec_pack_options o; /* with resume where a call before was interrupted */
    struct task_end *ends;       /* of each task */
    char (*marks)[SET_WORK_MARK_BYTES];
    struct writer *writer;
    struct part_reader part;
    struct pack_item item;
    uint64_t done, at; /* images that an earlier call has put; that were passed */
    struct imrec_progress progress;
};

/* ---- what tasks have left --------------------------------------------------------------- */

/* A task that is not done has no mark. */
static enum imrec_status look(void *context, uint32_t k, struct imrec_error *err)
{
    struct finish *f = context;
    bool done;
    IMREC_TRY(stop_check(&f->watch.stop, err));
    IMREC_TRY(task_report_look(f->p, k, &done, &f->ends[k], err));
    if (!done)
        f->ends[k].mark[0] = '\0';
    else
        snprintf(f->marks[k], sizeof(f->marks[k]), "%s-%s", f->p->mark, f->ends[k].mark);
    return IMREC_OK;
}

static enum imrec_status refuse_missing(const struct finish *f, struct imrec_error *err)
{
    char named[NAMED_TASKS * 24] = "";
    uint64_t missing = 0;
    for (uint64_t k = 0; k < f->p->tasks; k++) {
        if (f->ends[k].mark[0] != '\0')
            continue;
        const size_t n = strlen(named);
        if (missing++ < NAMED_TASKS)
            snprintf(named + n, sizeof(named) - n, "%s%" PRIu64, n != 0 ? ", " : "", k);
    }
    if (missing == 0)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_DATA,
                      "%s: %" PRIu64 " of %" PRIu64 " tasks are not done: %s%s; work on them, then "
                      "finish again",
                      f->p->uri, missing, f->p->tasks, named, missing > NAMED_TASKS ? ", ..." : "");
}

static enum imrec_status
lost_file(const struct finish *f, uint32_t k, const char *name, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%.300s.part, which task %u has written, is missing or of another size: "
                      "remove %.200s/task-%07u.done, and work on the task again",
                      name, k, f->p->uri, k);
}

/* The temporary files of a shard that a task has written are there, as long as it said. */
static enum imrec_status check_shard(void *context, uint32_t k, struct imrec_error *err)
{
    struct finish *f = context;
    const struct written_shard *s = &f->ends[k].shard;
    const uint64_t bytes[SHARD_SINKS] = {s->rec_bytes, s->idx_bytes, s->crc_bytes};
    struct set_files files;
    char rec[NAME_BYTES], name[NAME_BYTES], part[NAME_BYTES + 8];
    IMREC_TRY(set_files_init(&f->p->task, &f->p->o, &files, err));
    set_marked_name(&files, k, f->marks[k], rec);
    for (int i = 0; i < (files.kind->side_files ? SHARD_SINKS : 1); i++) {
        bool there;
        struct source *source;
        if (i == 0)
            snprintf(name, sizeof(name), "%s", rec);
        else
            set_name(rec, (enum set_file)i, name);
        IMREC_TRY(set_part_exists(name, &there, err));
        if (!there)
            return lost_file(f, k, name, err);
        if (source_is_far(name)) /* what is there of it is not an object of its length yet */
            continue;
        snprintf(part, sizeof(part), "%s.part", name);
        IMREC_TRY(source_open(part, &source, err));
        there = source->size == bytes[i];
        source_close(source);
        if (!there)
            return lost_file(f, k, name, err);
    }
    return IMREC_OK;
}

/* A finish that was interrupted has renamed some of the shards. */
static enum imrec_status look_at_tasks(struct finish *f, bool begun, struct imrec_error *err)
{
    const uint32_t n = (uint32_t)f->p->tasks;
    f->ends = imrec_zalloc(n, sizeof(*f->ends));
    f->marks = imrec_zalloc(n, sizeof(*f->marks));
    if (f->ends == NULL || f->marks == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u tasks", n);
    IMREC_TRY(at_once(n, source_is_far(f->p->uri), look, f, err));
    IMREC_TRY(refuse_missing(f, err));
    return begun || f->p->joins ? IMREC_OK
                                : at_once(n, source_is_far(f->p->task.out), check_shard, f, err);
}

/* ---- joining ---------------------------------------------------------------------------- */

static enum imrec_status
put_image(struct finish *f, const struct task_end *end, uint64_t bytes, struct imrec_error *err)
{
    struct pack_item *p = &f->item;
    const bool packed = p->outcome.reason == REASON_NONE;
    const bool again = f->at++ < f->done;
    if (p->outcome.index != f->at - 1)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: the report of call %s has image %" PRIu64 ", expected is %" PRIu64,
                          f->p->uri, end->mark, p->outcome.index, f->at - 1);
    p->record.n = 0;
    if (packed && f->p->joins && again)
        part_reader_skip(&f->part, bytes);
    else if (packed && f->p->joins)
        IMREC_TRY(part_reader_next(&f->part, bytes, p->crc, &p->record, err));
    if (again)
        return IMREC_OK;
    IMREC_TRY(writer_put(f->writer, p, err));
    f->progress.done = f->at;
    f->progress.skipped += !packed;
    f->progress.bytes += p->outcome.file_bytes;
    (void)watch_tell(&f->watch, &f->progress);
    return stop_check(&f->watch.stop, err);
}

static enum imrec_status
put_images(struct finish *f, struct task_report *r, uint64_t k, struct imrec_error *err)
{
    const struct task_end *end = &f->ends[k];
    const uint64_t begin = f->at;
    enum imrec_status st;
    uint64_t bytes;
    while ((st = task_report_next(r, &f->item, &bytes, err)) == IMREC_OK)
        IMREC_TRY(put_image(f, end, bytes, err));
    if (st != IMREC_END)
        return st;
    if (f->at - begin == end->images)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s has %" PRIu64 " images, its last line says %" PRIu64
                      ": remove it, and work on its task again",
                      r->name, f->at - begin, end->images);
}

static enum imrec_status read_task(struct finish *f, uint64_t k, struct imrec_error *err)
{
    struct task_report r;
    const struct task_end *end = &f->ends[k];
    enum imrec_status st = task_report_open(f->p, k, &r, err);
    if (st == IMREC_OK && f->p->joins)
        st = part_reader_open(&f->part, f->p, k, end->mark, end->bytes, err);
    if (st == IMREC_OK)
        st = put_images(f, &r, k, err);
    part_reader_close(&f->part);
    task_report_close(&r);
    return st;
}

static enum imrec_status join_all(struct finish *f, struct imrec_error *err)
{
    for (uint64_t k = 0; k < f->p->tasks; k++) {
        const struct task_end *end = &f->ends[k];
        if (end->images != 0 && f->done - f->at >= end->images && f->done > f->at)
            f->at += end->images; /* an earlier call has put all of it */
        else
            IMREC_TRY(read_task(f, k, err));
        if (!f->p->joins && writer_shards(f->writer) <= k)
            IMREC_TRY(writer_end_made(f->writer, &end->shard, err));
    }
    if (f->at == f->job.total)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s: its tasks have packed %" PRIu64 " images, the plan has %" PRIu64
                      ": make it again",
                      f->p->uri, f->at, f->job.total);
}

/* ---- the set ---------------------------------------------------------------------------- */

static enum imrec_status note_finishing(const struct plan *p, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    plan_name(p, "finishing", name);
    return plan_put(name, (struct bytes){(const uint8_t *)"", 0}, err);
}

/* An earlier call came to the end of the set, and not to that of the plan. */
static enum imrec_status was_published(const struct finish *f, const struct set_files *files,
                                       bool *was, struct imrec_pack_result *out,
                                       struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct manifest m;
    plan_name(f->p, "finishing", name);
    IMREC_TRY(sink_exists(name, was, err));
    if (!*was)
        return IMREC_OK;
    IMREC_TRY(set_load_manifest(files, &m, err));
    *was = m.shard_count != 0 && m.records + m.skipped == job_found(&f->job, &f->o);
    if (*was) {
        out->packed = m.records;
        out->skipped = m.skipped;
        out->resumed = m.records + m.skipped;
        out->shards = m.shard_count;
        out->bytes = m.bytes;
        out->classes = m.class_count;
        out->was_complete = true;
    }
    manifest_free(&m);
    return IMREC_OK;
}

static enum imrec_status
write_set(struct finish *f, struct imrec_pack_result *out, struct imrec_error *err)
{
    const struct writer_options wo = {.task = &f->p->task,
                                      .pack = &f->o,
                                      .job = &f->job,
                                      .planned = true,
                                      .stop = &f->watch.stop,
                                      .marks = f->p->joins ? NULL : f->marks};
    IMREC_TRY(writer_open(&wo, &f->writer, &f->done, err));
    writer_result(f->writer, out);
    f->progress.total = f->job.total;
    f->progress.done = f->progress.resumed = f->done;
    f->progress.skipped = out->skipped;
    enum imrec_status st = IMREC_OK;
    if (f->p->tables != NULL)
        st = writer_take_tables(f->writer, f->p->tables, err);
    if (st == IMREC_OK)
        st = join_all(f, err);
    if (st == IMREC_OK)
        st = note_finishing(f->p, err);
    if (st == IMREC_OK)
        st = writer_commit(f->writer, err);
    writer_leave(f->writer);
    writer_result(f->writer, out);
    writer_free(f->writer);
    out->resumed = f->done;
    return st;
}

static void clean(const struct plan *p)
{
    struct imrec_error why;
    if (plan_clean(p, &why) != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "the set is complete; what its tasks left stays: %s",
                  why.message);
}

static enum imrec_status
finish(struct finish *f, struct imrec_pack_result *out, struct imrec_error *err)
{
    struct set_files files;
    bool begun, published = false;
    IMREC_TRY(plan_job_of_set(f->p, &f->job, err));
    IMREC_TRY(set_files_init(&f->p->task, &f->p->o, &files, err));
    IMREC_TRY(set_is_unfinished(&files, &begun, err));
    const bool ours = begun && journal_is_of(files.journal, f->job.fingerprint, f->job.total);
    if (ours || (begun && !f->o.force)) { /* else a torn journal, or another run's */
        f->o.resume = true;
        f->o.force = false;
    }
    if (!begun)
        IMREC_TRY(was_published(f, &files, &published, out, err));
    if (!published) {
        IMREC_TRY(look_at_tasks(f, ours, err));
        IMREC_TRY(write_set(f, out, err));
    }
    out->total = job_found(&f->job, &f->o);
    out->other_files = f->job.scan.other_files;
    IMREC_TRY(sink_sync_names(files.journal, err)); /* nobody looks for a journal after the note */
    IMREC_TRY(plan_finish_note(f->p, out, err));
    clean(f->p);
    return IMREC_OK;
}

static enum imrec_status
finish_locked(struct plan *p, struct imrec_pack_result *out, struct imrec_error *err)
{
    bool finished;
    struct lock *lock;
    struct finish f = {.p = p, .o = p->o, .item.record = BUF_INIT(RECORD_MAX)};
    IMREC_TRY(plan_finished(p, &finished, out, err));
    if (finished) { /* the call that came so far may have been killed since, with its lock */
        if (set_lock(p->task.out, &lock, NULL) == IMREC_OK)
            clean(p);
        lock_drop(lock);
        return IMREC_OK;
    }
    IMREC_TRY(set_lock(p->task.out, &lock, err));
    watch_begin(&f.watch, &p->task);
    const enum imrec_status st = finish(&f, out, err);
    watch_end(&f.watch);
    lock_drop(lock);
    part_reader_free(&f.part);
    pack_item_free(&f.item);
    job_close(&f.job);
    IMREC_FREE(f.ends, f.marks);
    return st == IMREC_ERR_CANCELLED ? imrec_fail(err, st, "interrupted; finish continues") : st;
}

enum imrec_status imrec_plan_finish(const char *plan, const struct imrec_plan_run *run,
                                    struct imrec_pack_result *out, struct imrec_error *err)
{
    struct plan p;
    struct imrec_plan_run r;
    struct imrec_pack_result ignored;
    out = out != NULL ? out : &ignored;
    *out = (struct imrec_pack_result){0};
    IMREC_TRY(plan_load(plan, &p, err));
    enum imrec_status st = plan_run_take(run, &p, &r, err);
    if (st == IMREC_OK)
        st = finish_locked(&p, out, err);
    plan_free(&p);
    return st;
}
