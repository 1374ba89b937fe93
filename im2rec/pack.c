/* im2rec/pack.c - imrec_pack(): what is packed is found, worked on by all workers, and finished. */
#include "im2rec/pack.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/read_file.h"
#include "im2rec/list/archive_folder.h"
#include "im2rec/list_files.h"
#include "im2rec/pack_run.h"
#include "im2rec/set/finished.h"
#include "im2rec/set/journal.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/writer.h"
#include "im2rec/shared_tables.h"
#include "storage/source.h"

#include <inttypes.h>

static enum imrec_status put(void *user, const struct pack_item *p, struct imrec_error *err)
{
    return writer_put(user, p, err);
}

/* What both ways to pack hold while they work. */
struct held {
    struct imrec_pack_task task; /* with paths instead of URIs, and archives instead of a folder */
    char *archives;              /* that are in it; or NULL */
    const char *tables;          /* of pack_with_tables() */
    struct lock *lock;
    struct watch watch;
};

/* The Huffman tables that the set's JPEGs share: those of the run that is continued, those that
 * were given, or new ones. */
static enum imrec_status share_tables(struct pack_run *r, struct writer *w, const char *given,
                                      struct jpeg_tables *tables, struct imrec_error *err)
{
    char text[JPEG_TABLES_TEXT];
    const char *have = writer_tables(w);
    if (have == NULL && given == NULL) {
        IMREC_TRY(shared_tables_sample(r, tables, err));
        jpeg_tables_text(tables, text);
        given = text;
    }
    have = have != NULL ? have : given;
    if (!jpeg_tables_read(tables, have))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the Huffman tables that the set's JPEGs share are none: '%.40s'", have);
    r->tables = tables;
    return writer_take_tables(w, have, err);
}

/* The work of a run, all in one task, and its finish. */
static enum imrec_status pack(struct pack_run *r, const struct held *h,
                              struct imrec_pack_result *out, struct imrec_error *err)
{
    const struct imrec_pack_task *task = &h->task;
    struct jpeg_tables tables;
    const struct writer_options wo = {.task = task,
                                      .pack = r->o,
                                      .job = r->job,
                                      .once = r->items != NULL,
                                      .stop = &r->watch->stop};
    struct writer *writer;
    IMREC_TRY(writer_open(&wo, &writer, &r->done, err));
    writer_result(writer, out);
    r->progress.skipped = out->skipped;
    r->progress.total = r->job->total;
    r->to_store = source_is_remote(task->out);
    r->put = put;
    r->user = writer;
    enum imrec_status st = IMREC_OK;
    if (r->o->shared_tables)
        st = share_tables(r, writer, h->tables, &tables, err);
    if (st == IMREC_OK)
        st = pack_run(r, err);
    if (st == IMREC_OK) /* what the workers kept may be what the files of the set need */
        st = writer_commit(writer, err);
    writer_leave(writer);
    writer_result(writer, out);
    writer_free(writer);
    out->resumed = r->done;
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

static enum imrec_status pack_task(struct held *h, struct imrec_pack_options *o,
                                   struct imrec_pack_result *out, struct imrec_error *err)
{
    const struct imrec_pack_task *task = &h->task;
    struct watch *watch = &h->watch;
    struct job job;
    struct file_root root;
    const struct job_options jo = {task, o, scan_goes_on, watch, &watch->stop};
    IMREC_TRY(open_job(&jo, o, &job, err));
    file_root_init(&root, job_root(&job, task), task->list == NULL && o->annotations[0] == '\0',
                   &watch->stop);
    root.packed = job.packed;
    struct pack_run r = {.o = o, .job = &job, .watch = watch, .root = &root};
    enum imrec_status st = IMREC_END;
    if (o->resume && !o->list)
        st = finished_find(task, o, &job, &watch->stop, out, err);
    if (st != IMREC_END)
        ; /* nothing is left to do, or an error says why nothing is done */
    else if (o->list)
        st = lists_write(&job, task, o, out, err);
    else if (job.total + job.scan.skip_count == 0)
        st = job_nothing(&job, task, o, err);
    else
        st = pack(&r, h, out, err);
    out->total = job_found(&job, o);
    out->other_files = job.scan.other_files;
    job_close(&job);
    return st;
}

/* The files of the task's root: of a folder of archives these. */
static enum imrec_status
hold_files(struct held *h, const struct imrec_pack_options *o, struct imrec_error *err)
{
    IMREC_TRY(archives_in_folder(&h->task, o, &h->archives, err));
    if (h->archives != NULL)
        h->task.root = h->archives;
    return IMREC_OK;
}

/* o: NULL: of items. */
static enum imrec_status hold(struct held *h, const struct imrec_pack_task *given,
                              const struct imrec_pack_options *o, struct imrec_error *err)
{
    *h = (struct held){.archives = NULL};
    IMREC_TRY(pack_task_paths(given, &h->task, err));
    if (o != NULL)
        IMREC_TRY(hold_files(h, o, err));
    const enum imrec_status st = set_lock(h->task.out, &h->lock, err);
    if (st == IMREC_OK)
        watch_begin(&h->watch, &h->task);
    else
        imrec_free(h->archives);
    return st;
}

static void let_go(struct held *h)
{
    watch_end(&h->watch);
    lock_drop(h->lock);
    imrec_free(h->archives);
}

static enum imrec_status pack_items(struct held *h, const struct imrec_pack_source *source,
                                    struct imrec_pack_options *o, struct imrec_pack_result *out,
                                    struct imrec_error *err)
{
    struct watch *watch = &h->watch;
    struct job job;
    struct items items;
    struct file_root root;
    o->pack_label = true;
    file_root_init(&root, h->task.root, false, &watch->stop);
    IMREC_TRY(items_open(source, &h->task, o, &job, &items, err));
    struct pack_run r = {.o = o, .job = &job, .items = &items, .watch = watch, .root = &root};
    const enum imrec_status st = pack(&r, h, out, err);
    out->total = pack_run_images(&r);
    items_close(&items);
    job_close(&job);
    return st;
}

/* source: NULL: the files of the task's root. */
enum imrec_status pack_with_tables(const struct imrec_pack_task *task,
                                   const struct imrec_pack_source *source,
                                   const struct imrec_pack_options *options, const char *tables,
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
    IMREC_TRY(hold(&h, task, source == NULL ? &o : NULL, err));
    h.tables = tables;
    const enum imrec_status st =
        source == NULL ? pack_task(&h, &o, out, err) : pack_items(&h, source, &o, out, err);
    let_go(&h);
    return st == IMREC_ERR_CANCELLED && source == NULL
               ? imrec_fail(err, st, "interrupted; resume continues")
               : st;
}

enum imrec_status imrec_pack(const struct imrec_pack_task *task,
                             const struct imrec_pack_options *options,
                             struct imrec_pack_result *out, struct imrec_error *err)
{
    return pack_with_tables(task, NULL, options, NULL, out, err);
}

enum imrec_status imrec_pack_items(const struct imrec_pack_task *task,
                                   const struct imrec_pack_source *source,
                                   const struct imrec_pack_options *options,
                                   struct imrec_pack_result *out, struct imrec_error *err)
{
    return pack_with_tables(task, source, options, NULL, out, err);
}
