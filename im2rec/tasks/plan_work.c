/* im2rec/tasks/plan_work.c - imrec_plan_work(): one task, from its piece of the list, or its items,
 * to its report. */
#include "base/error.h"
#include "base/sized.h"
#include "codec/jpeg_encode.h"
#include "im2rec/item/read_file.h"
#include "im2rec/pack_run.h"
#include "im2rec/tasks/heartbeat.h"
#include "im2rec/tasks/plan_run.h"
#include "im2rec/tasks/task_files.h"
#include "im2rec/tasks/task_items.h"
#include "im2rec/tasks/task_mark.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void imrec_plan_run_init_sized(struct imrec_plan_run *r, size_t size)
{
    const struct imrec_plan_run defaults = {0};
    sized_init(r, size, &defaults, sizeof(defaults));
}

enum imrec_status plan_run_take(const struct imrec_plan_run *given, struct plan *p,
                                struct imrec_plan_run *out, struct imrec_error *err)
{
    imrec_plan_run_init(out);
    if (given != NULL)
        IMREC_TRY(sized_copy(out, sizeof(*out), given, "imrec_plan_run_init", err));
    p->o.threads = out->threads;
    if (out->memory != 0)
        p->o.memory = out->memory;
    p->task.progress = out->progress;
    p->task.user = out->user;
    return param_check(pack_params, &p->o, err);
}

/* Masks lie below the folder in which the plan was made. */
static enum imrec_status
absolute_masks(struct plan *p, struct imrec_pack_options *o, struct imrec_error *err)
{
    const struct bytes masks = {(const uint8_t *)o->masks, strlen(o->masks)};
    if (masks.n == 0 || file_is_absolute(masks))
        return IMREC_OK;
    const size_t n = strlen(p->cwd) + masks.n + 2;
    char *name = string_arena_put(&p->texts, NULL, n);
    if (name == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a plan");
    snprintf(name, n, "%s/%s", p->cwd, o->masks);
    o->masks = name;
    return IMREC_OK;
}

static enum imrec_status put(void *user, const struct pack_item *p, struct imrec_error *err)
{
    return task_files_put(user, p, err);
}

/* items: of a plan of them; NULL: the list has the images. */
static enum imrec_status pack_images(struct plan *p, const struct plan_row *row, struct job *job,
                                     struct task_items *items, struct task_files *files,
                                     struct watch *watch, struct imrec_error *err)
{
    struct file_root root;
    struct imrec_pack_options o = p->o;
    struct jpeg_tables tables;
    const uint64_t copies = (uint64_t)o.copies;
    IMREC_TRY(absolute_masks(p, &o, err));
    if (p->tables != NULL && !jpeg_tables_read(&tables, p->tables))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: its Huffman tables are none", p->uri);
    file_root_init(&root, p->folder, p->scanned, &watch->stop);
    struct pack_run r = {.o = &o,
                         .job = job,
                         .items = items != NULL ? &items->items : NULL,
                         .root = &root,
                         .watch = watch,
                         .to_store = source_is_remote(p->uri) || source_is_remote(p->task.out),
                         .first = row->first * copies,
                         .put = put,
                         .user = files,
                         .tables = p->tables != NULL ? &tables : NULL,
                         .progress = {.total = row->images * copies}};
    IMREC_TRY(pack_run(&r, err));
    if (items == NULL && files->end.images != row->images * copies)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: bytes %" PRIu64 " to %" PRIu64 " have %" PRIu64
                          " images, the plan says %" PRIu64,
                          p->list, row->begin, row->end, files->end.images / copies, row->images);
    return IMREC_OK;
}

static enum imrec_status work(struct plan *p, const struct plan_row *row,
                              const struct imrec_pack_source *source, struct watch *watch,
                              struct imrec_pack_result *out, struct imrec_error *err)
{
    char mark[PLAN_MARK_BYTES];
    struct job job;
    struct heartbeat beat;
    struct task_files files = {.plan = NULL};
    struct task_items items;
    IMREC_TRY(task_mark_make(mark, err));
    IMREC_TRY(plan_job_of_task(p, row, &watch->stop, &job, err));
    heartbeat_begin(&beat, p, row->number, mark);
    enum imrec_status st =
        source != NULL ? task_items_open(p, row, &job, source, &items, err) : IMREC_OK;
    if (st == IMREC_OK)
        st = task_files_open(p, row->number, &job, mark, &watch->stop, &files, err);
    if (st == IMREC_OK) {
        st = pack_images(p, row, &job, source != NULL ? &items : NULL, &files, watch, err);
        if (st == IMREC_OK)
            st = task_files_finish(&files, err);
        tally_result(&files.tally, out);
        out->bytes = p->joins ? files.end.bytes : files.end.shard.rec_bytes;
    }
    task_files_close(&files);
    heartbeat_end(&beat);
    job_close(&job);
    return st;
}

static void was_complete(const struct task_end *end, struct imrec_pack_result *out)
{
    out->was_complete = true;
    out->packed = end->packed;
    out->skipped = end->skipped;
    out->resumed = end->images;
    out->bytes = end->bytes != 0 ? end->bytes : end->shard.rec_bytes;
}

static enum imrec_status
check_source(const struct plan *p, const struct imrec_pack_source *source, struct imrec_error *err)
{
    if (p->items == (source != NULL))
        return IMREC_OK;
    return p->items ? IMREC_REFUSE(err,
                                   "the tasks of %s are made of items, which the program that made "
                                   "it has: imrec_plan_work_items(), imrec.distributed.pack()",
                                   p->uri)
                    : IMREC_REFUSE(err, "the tasks of %s are made of files, not of items", p->uri);
}

static enum imrec_status work_unless_done(struct plan *p, uint64_t k,
                                          const struct imrec_pack_source *source,
                                          struct imrec_pack_result *out, struct imrec_error *err)
{
    struct plan_row row;
    struct task_end end = {0};
    struct watch watch;
    bool done, finished;
    if (k >= p->tasks)
        return IMREC_REFUSE(err, "%s has tasks 0 to %" PRIu64 ", not %" PRIu64, p->uri,
                            p->tasks - 1, k);
    IMREC_TRY(check_source(p, source, err));
    IMREC_TRY(plan_finished(p, &finished, out, err));
    if (finished)
        return IMREC_OK;
    IMREC_TRY(plan_row_read(p, k, &row, err));
    out->total = row.images * (uint64_t)p->o.copies;
    IMREC_TRY(task_report_look(p, k, &done, &end, err));
    if (done) {
        was_complete(&end, out);
        return IMREC_OK;
    }
    watch_begin(&watch, &p->task);
    const enum imrec_status st = work(p, &row, source, &watch, out, err);
    watch_end(&watch);
    return st == IMREC_ERR_CANCELLED ? imrec_fail(err, st, "interrupted; the task is as it was")
                                     : st;
}

enum imrec_status plan_work(const char *plan, uint64_t k, const struct imrec_pack_source *source,
                            const struct imrec_plan_run *run, struct imrec_pack_result *out,
                            struct imrec_error *err)
{
    struct plan p;
    struct imrec_plan_run r;
    struct imrec_pack_result ignored;
    out = out != NULL ? out : &ignored;
    *out = (struct imrec_pack_result){0};
    IMREC_TRY(plan_load(plan, &p, err));
    enum imrec_status st = plan_run_take(run, &p, &r, err);
    if (st == IMREC_OK)
        st = work_unless_done(&p, k, source, out, err);
    plan_free(&p);
    return st;
}

enum imrec_status imrec_plan_work(const char *plan, uint64_t k, const struct imrec_plan_run *run,
                                  struct imrec_pack_result *out, struct imrec_error *err)
{
    return plan_work(plan, k, NULL, run, out, err);
}
