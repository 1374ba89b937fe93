/*
 * im2rec/pack.c - imrec_pack(): list -> workers behind a bounded window -> ordered writer.
 *
 * A worker takes the next image of the list, one worker at a time, reads, decodes and encodes it
 * into its place of the window, and marks the place as done. Whoever finds the oldest place done,
 * and nobody writing, writes it and those that follow, while the others go on. So records are
 * written in the order of the list, whichever worker was faster, and no thread is set aside for it.
 * Who takes holds `feed` alone: imrec_pack_items() asks its source there, which may be slow.
 */
#include "base/alloc.h"
#include "base/error.h"
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

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define WINDOW_LEAST      128u /* places; an image that takes long holds up no more than these */
#define WINDOW_PER_WORKER 32u

struct run {
    const struct imrec_pack_task *task;
    const struct imrec_pack_options *o;
    struct job *job;
    struct items *items; /* instead of the job's list; or NULL */
    struct watch *watch;
    const struct file_root *root;
    struct writer *writer;
    struct budget budget;
    struct packer **packers;
    uint32_t workers, window;

    struct mutex feed; /* held by whoever takes an image; taken before `lock` */
    struct mutex lock; /* guards all below */
    struct cond moved;
    struct parcel *places;  /* image n at n % window */
    uint64_t next, written; /* images given out, and written */
    uint32_t waiting;       /* workers, for a place or for the end */
    bool writing;           /* somebody is */
    bool ended;             /* the list is, or we were told to stop */
    bool exhausted;         /* the list is */
    bool cancelled;
    enum imrec_status status; /* the first failure */
    struct imrec_error error;
    struct imrec_pack_progress progress;
};

/* ---- under the lock --------------------------------------------------------------------- */

static void fail(struct run *r, enum imrec_status st, const struct imrec_error *err)
{
    if (r->status == IMREC_OK) {
        r->status = st;
        r->error = *err;
    }
    r->ended = true;
    budget_stop(&r->budget);
    cond_wake_all(&r->moved);
}

/* The place of the next image, or NULL: there is to be none. Waits while the window is full. */
static struct parcel *next_place(struct run *r)
{
    while (!r->ended && r->next >= r->written + r->window) {
        r->waiting++;
        cond_wait(&r->moved, &r->lock);
        r->waiting--;
    }
    if (stop_asked(&r->watch->stop))
        r->ended = r->cancelled = true;
    return r->ended ? NULL : &r->places[r->next % r->window];
}

static enum imrec_status
fill(struct run *r, struct packer *k, uint64_t index, struct parcel *p, struct imrec_error *err)
{
    if (r->items != NULL)
        return items_next(r->items, k, index, p, err);
    IMREC_TRY(job_next(r->job, p, err));
    p->outcome.index = index;
    return IMREC_OK;
}

/* The next image of the list in its place, or NULL. The lock is given back meanwhile. */
static struct parcel *take(struct run *r, struct packer *k)
{
    struct imrec_error err;
    struct parcel *p = next_place(r);
    if (p == NULL)
        return NULL;
    const uint64_t index = r->next; /* changes under `feed` only */
    mutex_unlock(&r->lock);
    const enum imrec_status st = fill(r, k, index, p, &err);
    mutex_lock(&r->lock);
    if (st == IMREC_OK) {
        r->next++;
        return p;
    }
    r->exhausted = st == IMREC_END;
    if (st == IMREC_END)
        r->ended = true;
    else
        fail(r, st, &err);
    cond_wake_all(&r->moved);
    return NULL;
}

static bool told_to_stop(struct run *r, const struct parcel *p)
{
    r->progress.done = r->written;
    r->progress.found = r->items != NULL ? r->next : 0;
    r->progress.skipped += p->outcome.reason != REASON_NONE;
    r->progress.bytes_read += p->outcome.file_bytes;
    return !watch_tell(r->watch, &r->progress);
}

/* Who waits is woken for half a window at once, not for every place. */
static void wake(struct run *r, bool last)
{
    if (r->waiting > 0 && (last || r->next - r->written <= r->window / 2))
        cond_wake_all(&r->moved);
}

/* Writes the oldest places as far as they are done; gives the lock back while it writes. */
static void write_done(struct run *r)
{
    struct imrec_error err;
    struct parcel *p;
    if (r->writing)
        return; /* whoever writes looks again before it ends */
    r->writing = true;
    while (r->status == IMREC_OK && (p = &r->places[r->written % r->window])->done) {
        enum imrec_status st = p->failed;
        mutex_unlock(&r->lock);
        if (st == IMREC_OK)
            st = writer_put(r->writer, p, &err);
        else
            (void)imrec_error_at(&err, st, IMREC_NO_OFFSET, "%s", p->why);
        mutex_lock(&r->lock);
        if (st != IMREC_OK) {
            fail(r, st, &err);
            break;
        }
        parcel_written(p);
        r->written++;
        budget_written(&r->budget, &p->share);
        if (told_to_stop(r, p))
            r->ended = r->cancelled = true; /* what is in flight is still written */
        wake(r, r->ended);
    }
    r->writing = false;
    wake(r, true);
}

/* ---- workers ---------------------------------------------------------------------------- */

/* OpenMP's own waiting at the end of the region spins, on cores that the last writes need. */
static void wait_for_the_last(struct run *r)
{
    r->waiting++;
    while (r->status == IMREC_OK && r->written < r->next)
        cond_wait(&r->moved, &r->lock);
    r->waiting--;
}

static struct parcel *next_image(struct run *r, struct packer *k)
{
    mutex_lock(&r->feed);
    mutex_lock(&r->lock);
    struct parcel *p = take(r, k);
    mutex_unlock(&r->feed);
    return p;
}

static void work(struct run *r, struct packer *k)
{
    struct parcel *p;
    while ((p = next_image(r, k)) != NULL) {
        mutex_unlock(&r->lock);
        if (p->outcome.reason == REASON_NONE && p->failed == IMREC_OK)
            packer_run(k, p);
        else
            p->record.n = 0;
        mutex_lock(&r->lock);
        p->done = true;
        write_done(r);
        mutex_unlock(&r->lock);
    }
    wait_for_the_last(r);
    mutex_unlock(&r->lock);
}

static void run_workers(struct run *r)
{
#pragma omp parallel num_threads((int)r->workers) default(none) shared(r)
    work(r, r->packers[omp_get_thread_num()]);
}

/* ---- a run ------------------------------------------------------------------------------ */

/* Bytes that are only passed through are bound by what the system copies: beside the one thread
 * that writes, more than two that read get in each other's way. */
static uint32_t workers_for(const struct imrec_pack_options *o)
{
    const uint32_t cpus = (uint32_t)omp_get_num_procs();
    if (o->threads > 0)
        return (uint32_t)o->threads;
    return o->pass_through && o->check != IMREC_CHECK_DECODE && cpus > 2 ? 2 : cpus;
}

static enum imrec_status prepare(struct run *r, struct imrec_error *err)
{
    r->workers = workers_for(r->o);
    r->window = WINDOW_PER_WORKER * r->workers;
    if (r->window < WINDOW_LEAST)
        r->window = WINDOW_LEAST;
    r->places = imrec_zalloc(r->window, sizeof(*r->places));
    r->packers = imrec_zalloc(r->workers, sizeof(struct packer *));
    if (r->places == NULL || r->packers == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for %u workers",
                              r->workers);
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
        parcel_free(&r->places[i]);
    for (uint32_t i = 0; r->packers != NULL && i < r->workers; i++)
        packer_free(r->packers[i]);
    imrec_free(r->places);
    imrec_free(r->packers);
    r->places = NULL;
    r->packers = NULL;
}

/* Passes over what earlier runs have done. */
static enum imrec_status pass_over(struct run *r, uint64_t done, struct imrec_error *err)
{
    struct parcel p = {0};
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < done && st == IMREC_OK; i++)
        if ((st = stop_check(&r->watch->stop, err)) == IMREC_OK)
            st = job_next(r->job, &p, err);
    parcel_free(&p);
    r->next = r->written = r->progress.done = r->progress.resumed = done;
    r->budget.oldest = done;
    return st;
}

static enum imrec_status run_all(struct run *r, uint64_t done, struct imrec_error *err)
{
    IMREC_TRY(prepare(r, err));
    IMREC_TRY(pass_over(r, done, err));
    IMREC_TRY(threads_probe(r->workers - 1, err)); /* this one works too */
    run_workers(r);
    if (r->status != IMREC_OK) {
        if (err != NULL)
            *err = r->error;
        return r->status;
    }
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
    mutex_init(&r->feed);
    mutex_init(&r->lock);
    cond_init(&r->moved);
    budget_init(&r->budget, (uint64_t)r->o->memory);
    r->progress.total = r->job->total;
    const enum imrec_status st = run_all(r, done, err);
    release(r);
    budget_destroy(&r->budget);
    cond_destroy(&r->moved);
    mutex_destroy(&r->lock);
    mutex_destroy(&r->feed);
    writer_leave(r->writer);
    writer_result(r->writer, out);
    writer_free(r->writer);
    out->resumed = done;
    return st;
}

/* ---- public ----------------------------------------------------------------------------- */

static bool scan_goes_on(void *user, uint64_t found)
{
    return watch_tell(user, &(struct imrec_pack_progress){.found = found});
}

static enum imrec_status check_task(const struct imrec_pack_task *t,
                                    const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (t == NULL || t->root == NULL || t->out == NULL || t->out[0] == '\0')
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "a task needs root and out");
    if (o->append)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "imrec_append() appends; imrec_pack() makes a new set");
    if (t->list != NULL && o->annotations[0] != '\0')
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "annotations are a list: %s cannot go with them", t->list);
    if (t->list != NULL && o->list)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "list makes lists out of a folder, not out of the list %s", t->list);
    return IMREC_OK;
}

static enum imrec_status no_images(const struct imrec_pack_task *task,
                                   const struct imrec_pack_options *o, struct imrec_error *err)
{
    const char *what = task->list != NULL ? task->list : task->root;
    if (o->part.count == 1)
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET, "%s names no images", what);
    return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                          "share %" PRId64 " of %" PRId64 " of %s holds no images", o->part.index,
                          o->part.count, what);
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

enum imrec_status imrec_pack(const struct imrec_pack_task *task,
                             const struct imrec_pack_options *options,
                             struct imrec_pack_result *out, struct imrec_error *err)
{
    struct imrec_pack_options o;
    struct imrec_pack_result ignored;
    struct held h;
    if (out == NULL)
        out = &ignored;
    *out = (struct imrec_pack_result){0};
    IMREC_TRY(pack_options_check(options, &o, err));
    IMREC_TRY(check_task(task, &o, err));
    IMREC_TRY(hold(&h, task, err));
    const enum imrec_status st = pack_task(&h.task, &o, &h.watch, out, err);
    let_go(&h);
    if (st == IMREC_ERR_CANCELLED)
        return imrec_error_at(err, st, IMREC_NO_OFFSET, "interrupted; resume goes on");
    return st;
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
    out->total = r.next;
    job_close(&job);
    return st;
}

enum imrec_status imrec_pack_items(const struct imrec_pack_task *task,
                                   const struct imrec_pack_source *source,
                                   const struct imrec_pack_options *options,
                                   struct imrec_pack_result *out, struct imrec_error *err)
{
    struct imrec_pack_options o;
    struct imrec_pack_result ignored;
    struct held h;
    if (out == NULL)
        out = &ignored;
    *out = (struct imrec_pack_result){0};
    IMREC_TRY(pack_options_check(options, &o, err));
    if (task == NULL || task->out == NULL || task->out[0] == '\0')
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET, "a task needs out");
    IMREC_TRY(hold(&h, task, err));
    const enum imrec_status st = pack_items(&h.task, source, &o, &h.watch, out, err);
    let_go(&h);
    return st;
}
