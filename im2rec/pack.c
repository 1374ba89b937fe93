/*
 * im2rec/pack.c - imrec_pack(): list -> workers in a bounded window -> ordered writer.
 *
 * A worker takes the next image of the list, one worker at a time, then reads, decodes and encodes
 * it into its place of the window. Places are drained into the writer in the order of the list,
 * whichever worker was faster; no thread is set aside for it. imrec_pack_items() asks its source
 * in feed, which may be slow: only workers without an image wait for it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/ahead.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/packer.h"
#include "im2rec/item/read_file.h"
#include "im2rec/items.h"
#include "im2rec/list_files.h"
#include "im2rec/set/finished.h"
#include "im2rec/set/journal.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/writer.h"
#include "im2rec/watch.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdatomic.h>

#define WINDOW_LEAST      128u /* places; an image that takes long holds up no more than these */
#define WINDOW_PER_WORKER 32u
#define AHEAD_MOST        ((uint64_t)64 << 20)

struct run {
    const struct imrec_pack_task *task;
    const struct imrec_pack_options *o;
    struct job *job;
    struct items *items; /* instead of the job's list; or NULL */
    struct ahead ahead;
    struct watch *watch;
    const struct file_root *root;
    struct writer *writer;
    struct budget budget;
    struct packer **packers;
    uint32_t workers, window;

    struct pack_item *places;   /* of the window */
    atomic_uint_least64_t next; /* images given out; written by feed alone, as the next three */
    bool exhausted;             /* the list is, or the source */
    bool cancelled;             /* the run was cancelled before that */
    enum imrec_status status;   /* the list failed */
    struct imrec_error error;
    uint64_t written; /* images; by drain alone, as: */
    struct imrec_progress progress;
};

/* ---- the window ------------------------------------------------------------------------- */

static enum imrec_status
fill(struct run *r, struct packer *k, uint64_t index, struct pack_item *p, struct imrec_error *err)
{
    if (r->items != NULL)
        return items_next(r->items, k, index, p, err);
    IMREC_TRY(ahead_next(&r->ahead, p, err));
    p->outcome.index = index;
    return IMREC_OK;
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *r = context;
    r->cancelled = stop_asked(&r->watch->stop);
    if (r->cancelled)
        return ORDERED_STOP; /* what is in flight is still written */
    const enum imrec_status st =
        fill(r, r->packers[worker], atomic_load(&r->next), &r->places[t->place], &r->error);
    if (st == IMREC_OK) {
        atomic_fetch_add(&r->next, 1);
        return ORDERED_LAST;
    }
    r->exhausted = st == IMREC_END;
    r->status = r->exhausted ? IMREC_OK : st;
    return ORDERED_STOP;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *r = context;
    struct pack_item *p = &r->places[t->place];
    if (p->outcome.reason == REASON_NONE && p->failed == IMREC_OK)
        packer_run(r->packers[worker], p);
    else
        p->record.n = 0;
    pack_item_unfetch(p);
}

static void tell(struct run *r, const struct pack_item *p)
{
    r->progress.done = r->written;
    r->progress.found = r->items != NULL ? atomic_load(&r->next) : 0;
    r->progress.skipped += p->outcome.reason != REASON_NONE;
    r->progress.bytes += p->outcome.file_bytes;
    (void)watch_tell(r->watch, &r->progress); /* feed asks whether that was a no */
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct run *r = context;
    struct pack_item *p = &r->places[place];
    const enum imrec_status st = p->failed == IMREC_OK ? writer_put(r->writer, p, err)
                                                       : imrec_fail(err, p->failed, "%s", p->why);
    if (st != IMREC_OK) {
        budget_stop(&r->budget); /* others may wait for it */
        return st;
    }
    pack_item_written(p);
    r->written++;
    budget_written(&r->budget, &p->share);
    tell(r, p);
    return IMREC_OK;
}

/* A worker that waits for a place is woken when half of the window is empty, not for every place.
 */
static enum imrec_status run_workers(struct run *r, struct imrec_error *err)
{
    const struct ordered_options o = {.context = r,
                                      .feed = feed,
                                      .work = work,
                                      .drain = drain,
                                      .tasks = 1,
                                      .places = r->window,
                                      .workers = r->workers,
                                      .wake_at = r->window / 2,
                                      .name = "threads"};
    IMREC_TRY(ordered_run(&o, err));
    if (r->status != IMREC_OK && err != NULL)
        *err = r->error;
    return r->status;
}

/* ---- a run ------------------------------------------------------------------------------ */

/* Bytes that are only passed through are bound by the system's copies: next to the one thread that
 * writes, more than two readers slow each other down. */
static uint32_t few_workers(const struct imrec_pack_options *o, uint32_t workers)
{
    const bool few = o->pass_through && o->check != IMREC_CHECK_DECODE;
    return few && workers > 2 ? 2 : workers;
}

/* One more where what is written goes to a store: a worker that waits for its answers, as at each
 * mark, leaves no CPU idle. */
static uint32_t workers_for(const struct run *r)
{
    const uint32_t workers = workers_count(r->o->threads);
    if (r->o->threads > 0)
        return workers;
    return few_workers(r->o, workers) + source_is_remote(r->task->out);
}

/* Of images in stores; in addition to what is in work. */
static uint64_t ahead_bytes(const struct imrec_pack_options *o)
{
    const uint64_t share = (uint64_t)o->memory / 16;
    return share < AHEAD_MOST ? share : AHEAD_MOST;
}

static enum imrec_status prepare(struct run *r, struct imrec_error *err)
{
    r->workers = workers_for(r);
    r->window = WINDOW_PER_WORKER * r->workers;
    if (r->window < WINDOW_LEAST)
        r->window = WINDOW_LEAST;
    r->places = imrec_zalloc(r->window, sizeof(*r->places));
    r->packers = imrec_zalloc(r->workers, sizeof(struct packer *));
    r->ahead = (struct ahead){.job = r->job, .root = r->root, .limit = ahead_bytes(r->o)};
    if (r->places == NULL || r->packers == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u workers", r->workers);
    const struct packer_options po = {.all = r->o,
                                      .of_pixels = r->items != NULL ? &r->items->of_pixels : NULL,
                                      .root = r->root,
                                      .budget = &r->budget};
    for (uint32_t i = 0; i < r->workers; i++)
        IMREC_TRY(packer_new(&po, &r->packers[i], err));
    return IMREC_OK;
}

static void release(struct run *r)
{
    for (uint32_t i = 0; r->places != NULL && i < r->window; i++)
        pack_item_free(&r->places[i]);
    for (uint32_t i = 0; r->packers != NULL && i < r->workers; i++)
        packer_free(r->packers[i]);
    ahead_end(&r->ahead);
    IMREC_FREE(r->places, r->packers);
    r->places = NULL;
    r->packers = NULL;
}

/* Passes over what earlier runs have done. */
static enum imrec_status pass_over(struct run *r, uint64_t done, struct imrec_error *err)
{
    struct pack_item p = {0};
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < done && st == IMREC_OK; i++)
        if ((st = stop_check(&r->watch->stop, err)) == IMREC_OK)
            st = job_next(r->job, &p, err);
    pack_item_free(&p);
    atomic_store(&r->next, done);
    r->written = r->progress.done = r->progress.resumed = done;
    r->budget.oldest = done;
    return st;
}

static enum imrec_status run_all(struct run *r, uint64_t done, struct imrec_error *err)
{
    IMREC_TRY(prepare(r, err));
    IMREC_TRY(pass_over(r, done, err));
    IMREC_TRY(run_workers(r, err));
    if (r->cancelled && (r->items != NULL ? !r->exhausted : r->written < r->job->total))
        return stop_error(err);
    release(r); /* what they keep may be what the files of the set need */
    return writer_commit(r->writer, err);
}

static enum imrec_status pack(struct run *r, struct imrec_pack_result *out, struct imrec_error *err)
{
    const struct writer_options wo = {r->task, r->o, r->job, r->items != NULL, &r->watch->stop};
    uint64_t done;
    IMREC_TRY(writer_open(&wo, &r->writer, &done, err));
    writer_result(r->writer, out);
    r->progress.skipped = out->skipped;
    budget_init(&r->budget, (uint64_t)r->o->memory);
    r->progress.total = r->job->total;
    const enum imrec_status st = run_all(r, done, err);
    release(r);
    budget_destroy(&r->budget);
    writer_leave(r->writer);
    writer_result(r->writer, out);
    writer_free(r->writer);
    out->resumed = done;
    return st;
}

/* ---- public ----------------------------------------------------------------------------- */

static bool scan_goes_on(void *user, uint64_t found)
{
    return watch_tell(user, &(struct imrec_progress){.found = found});
}

static enum imrec_status check_task(const struct imrec_pack_task *t,
                                    const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (t == NULL || t->root == NULL || t->out == NULL || t->out[0] == '\0')
        return IMREC_REFUSE(err, "a task needs root and out");
    if (t->list != NULL && o->annotations[0] != '\0')
        return IMREC_REFUSE(err, "annotations are a list: %s cannot go with them", t->list);
    if (t->list != NULL && o->list)
        return IMREC_REFUSE(err, "list makes lists out of a folder, not out of the list %s",
                            t->list);
    return IMREC_OK;
}

static enum imrec_status no_images(const struct imrec_pack_task *task,
                                   const struct imrec_pack_options *o, struct imrec_error *err)
{
    const char *what = task->list != NULL ? task->list : task->root;
    if (o->part.count == 1)
        return imrec_fail(err, IMREC_ERR_DATA, "%s names no images", what);
    return imrec_fail(err, IMREC_ERR_DATA, "share %" PRId64 " of %" PRId64 " of %s holds no images",
                      o->part.index, o->part.count, what);
}

/* A run that is resumed keeps its choice of images without an object: its journal says of which
 * list it is, with them or without. */
static enum imrec_status keep_choice(const struct job_options *jo, struct imrec_pack_options *o,
                                     struct job *job, struct imrec_error *err)
{
    struct set_files files;
    struct job other;
    IMREC_TRY(set_files_init(jo->task, o, &files, err));
    if (journal_is_of(files.journal, job->fingerprint, job->total))
        return IMREC_OK;
    o->drop_empty = !o->drop_empty;
    IMREC_TRY(job_open(jo, &other, err));
    const bool is = journal_is_of(files.journal, other.fingerprint, other.total);
    job_close(is ? job : &other);
    if (is)
        *job = other;
    else
        o->drop_empty = !o->drop_empty;
    return IMREC_OK;
}

/* `o` is what jo->pack points to. */
static enum imrec_status open_job(const struct job_options *jo, struct imrec_pack_options *o,
                                  struct job *job, struct imrec_error *err)
{
    IMREC_TRY(job_open(jo, job, err));
    const enum imrec_status st =
        o->resume && o->annotations[0] != '\0' ? keep_choice(jo, o, job, err) : IMREC_OK;
    if (st != IMREC_OK)
        job_close(job);
    else
        job_warn(job, jo);
    return st;
}

static enum imrec_status pack_task(const struct imrec_pack_task *task, struct imrec_pack_options *o,
                                   struct watch *watch, struct imrec_pack_result *out,
                                   struct imrec_error *err)
{
    struct job job;
    struct file_root root;
    const struct job_options jo = {task, o, scan_goes_on, watch, &watch->stop};
    file_root_init(&root, task->root, task->list == NULL && o->annotations[0] == '\0',
                   &watch->stop);
    IMREC_TRY(open_job(&jo, o, &job, err));
    struct run r = {.task = task, .o = o, .job = &job, .watch = watch, .root = &root};
    enum imrec_status st = IMREC_END;
    if (o->resume && !o->list)
        st = finished_find(task, o, &job, &watch->stop, out, err);
    if (st != IMREC_END)
        ; /* nothing is left to do, or an error says why nothing is done */
    else if (o->list)
        st = lists_write(&job, task, o, out, err);
    else if (job.total + job.scan.skip_count == 0)
        st = no_images(task, o, err);
    else
        st = pack(&r, out, err);
    out->total = job_found(&job, o);
    out->other_files = job.scan.other_files;
    job_close(&job);
    return st;
}

/* What both ways to pack hold while they work. */
struct held {
    struct imrec_pack_task task; /* with paths instead of URIs */
    struct lock *lock;
    struct watch watch;
};

static enum imrec_status
hold(struct held *h, const struct imrec_pack_task *given, struct imrec_error *err)
{
    IMREC_TRY(pack_task_paths(given, &h->task, err));
    IMREC_TRY(set_lock(h->task.out, &h->lock, err));
    watch_begin(&h->watch, &h->task);
    return IMREC_OK;
}

static void let_go(struct held *h)
{
    watch_end(&h->watch);
    lock_drop(h->lock);
}

static enum imrec_status pack_items(const struct imrec_pack_task *task,
                                    const struct imrec_pack_source *source,
                                    struct imrec_pack_options *o, struct watch *watch,
                                    struct imrec_pack_result *out, struct imrec_error *err)
{
    struct job job;
    struct items items;
    struct file_root root;
    o->pack_label = true;
    file_root_init(&root, task->root, false, &watch->stop);
    IMREC_TRY(items_open(source, task, o, &job, &items, err));
    struct run r = {
        .task = task, .o = o, .job = &job, .items = &items, .watch = watch, .root = &root};
    const enum imrec_status st = pack(&r, out, err);
    out->total = atomic_load(&r.next);
    job_close(&job);
    return st;
}

/* source: NULL: the files of the task's root. */
static enum imrec_status pack_any(const struct imrec_pack_task *task,
                                  const struct imrec_pack_source *source,
                                  const struct imrec_pack_options *options,
                                  struct imrec_pack_result *out, struct imrec_error *err)
{
    struct imrec_pack_options o;
    struct imrec_pack_result ignored;
    struct held h;
    out = out != NULL ? out : &ignored;
    *out = (struct imrec_pack_result){0};
    IMREC_TRY(pack_options_check(options, &o, err));
    if (source == NULL)
        IMREC_TRY(check_task(task, &o, err));
    else if (task == NULL || task->out == NULL || task->out[0] == '\0')
        return IMREC_REFUSE(err, "a task needs out");
    IMREC_TRY(hold(&h, task, err));
    const enum imrec_status st = source == NULL
                                     ? pack_task(&h.task, &o, &h.watch, out, err)
                                     : pack_items(&h.task, source, &o, &h.watch, out, err);
    let_go(&h);
    return st == IMREC_ERR_CANCELLED && source == NULL
               ? imrec_fail(err, st, "interrupted; resume continues")
               : st;
}

enum imrec_status imrec_pack(const struct imrec_pack_task *task,
                             const struct imrec_pack_options *options,
                             struct imrec_pack_result *out, struct imrec_error *err)
{
    return pack_any(task, NULL, options, out, err);
}

enum imrec_status imrec_pack_items(const struct imrec_pack_task *task,
                                   const struct imrec_pack_source *source,
                                   const struct imrec_pack_options *options,
                                   struct imrec_pack_result *out, struct imrec_error *err)
{
    return pack_any(task, source, options, out, err);
}
