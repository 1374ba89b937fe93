/* im2rec/tasks/plan_make.c - imrec_plan_make(): the list is read once and cut into tasks. */
#include "im2rec/tasks/plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/sized.h"
#include "formats/crc32c.h"
#include "formats/set/image_list.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/read_file.h"
#include "im2rec/list/archive_folder.h"
#include "im2rec/list/archive_names.h"
#include "im2rec/set/set_files.h"
#include "im2rec/shared_tables.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGES_A_TASK  2048u
#define TASKS_PLENTY   65536u
#define LINE_BYTES     ((size_t)64 << 20)
#define CLASSES_MAX    ((size_t)1 << 30)
#define PLAN_NAMES_MAX ((size_t)1 << 26)

/* ---- names that hold everywhere --------------------------------------------------------- */

static const char *keep_text(struct plan *p, const char *text)
{
    return string_arena_put(&p->texts, text, strlen(text) + 1);
}

/* NULL: no memory. */
static const char *keep_absolute(struct plan *p, const char *name)
{
    const struct bytes path = {(const uint8_t *)name, strlen(name)};
    if (file_is_absolute(path))
        return keep_text(p, name);
    const size_t n = strlen(p->cwd) + 1 + path.n + 1;
    char *out = string_arena_put(&p->texts, NULL, n);
    if (out != NULL)
        snprintf(out, n, "%s%s%s", p->cwd, path.n != 0 ? "/" : "", name);
    return out;
}

/* "a.tar;b.tar": each of them, unless all of it is the name of one file. NULL: no memory. */
static const char *keep_absolute_all(struct plan *p, const char *names)
{
    struct buf all = BUF_INIT(PLAN_NAMES_MAX);
    const char *kept = NULL;
    bool fine = true;
    if (strchr(names, ';') == NULL || access(names, F_OK) == 0)
        return keep_absolute(p, names);
    for (const char *at = names; fine && *at != '\0';) {
        const size_t n = strcspn(at, ";");
        char *one = imrec_joined(at, n, "");
        const char *absolute = one != NULL ? keep_absolute(p, one) : NULL;
        fine = absolute != NULL && buf_append(&all, absolute, strlen(absolute), NULL) == IMREC_OK &&
               buf_append(&all, at[n] == ';' ? ";" : "", at[n] == ';' ? 1 : 0, NULL) == IMREC_OK;
        imrec_free(one);
        at += n + (at[n] == ';');
    }
    if (fine && buf_append(&all, "", 1, NULL) == IMREC_OK)
        kept = keep_text(p, (const char *)all.p);
    buf_free(&all);
    return kept;
}

static enum imrec_status
keep_names(struct plan *p, const struct imrec_pack_task *t, struct imrec_error *err)
{
    char cwd[PLAN_URI_BYTES];
    if (getcwd(cwd, sizeof(cwd)) == NULL)
        return IMREC_REFUSE(err, "the current folder has no name: relative names mean nothing");
    p->task.exact_name = t->exact_name;
    p->task.some_classes = t->some_classes;
    p->cwd = keep_text(p, cwd);
    if (p->cwd == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a plan");
    p->task.root = t->list == NULL && archives_are(t->root) ? keep_absolute_all(p, t->root)
                                                            : keep_absolute(p, t->root);
    p->task.out = keep_absolute(p, t->out);
    p->task.list = t->list != NULL ? keep_absolute(p, t->list) : NULL;
    if (p->o.classes[0] != '\0')
        p->o.classes = keep_absolute(p, p->o.classes);
    if (p->o.report[0] != '\0')
        p->o.report = keep_absolute(p, p->o.report);
    if (p->task.root == NULL || p->task.out == NULL || p->o.classes == NULL ||
        p->o.report == NULL || (t->list != NULL && p->task.list == NULL))
        return IMREC_NO_MEMORY(err, "no memory for a plan");
    return IMREC_OK;
}

/* ---- the list --------------------------------------------------------------------------- */

/* The path of a line: with its place, if it has one. */
static enum imrec_status
line_path(const struct pack_item *p, struct buf *room, struct bytes *out, struct imrec_error *err)
{
    *out = p->path;
    if (p->place.archive == 0)
        return IMREC_OK;
    room->n = 0;
    IMREC_TRY(image_place_write(&p->place, room, err));
    IMREC_TRY(buf_append(room, p->path.p, p->path.n, err));
    *out = (struct bytes){room->p, room->n};
    return IMREC_OK;
}

/* Lines of archives have a column for each field. */
static enum imrec_status put_line(const struct pack_item *p, bool columns, struct buf *path,
                                  struct buf *line, struct sink *to, struct imrec_error *err)
{
    struct image_list_entry e = {.id = p->id,
                                 .labels = (const float *)(const void *)p->labels.p,
                                 .label_count = p->label_count};
    line->n = 0;
    IMREC_TRY(line_path(p, path, &e.path, err));
    IMREC_TRY(image_list_write(line, &e, err));
    if (columns) {
        line->p[line->n - 1] = '\t'; /* its end */
        IMREC_TRY(buf_append(line, p->columns.p, p->columns.n, err));
        IMREC_TRY(buf_append(line, "\n", 1, err));
    }
    return sink_append(to, line->p, line->n, err);
}

static enum imrec_status
write_folder(struct job *j, const struct stop *stop, struct sink *to, struct imrec_error *err)
{
    struct pack_item p = {0};
    struct buf line = BUF_INIT(LINE_BYTES), path = BUF_INIT(LINE_BYTES);
    enum imrec_status st = IMREC_OK;
    while (st == IMREC_OK && (st = stop_check(stop, err)) == IMREC_OK &&
           (st = job_next(j, &p, err)) == IMREC_OK)
        st = put_line(&p, j->fields != 0, &path, &line, to, err);
    pack_item_free(&p);
    buf_free(&path);
    buf_free(&line);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
write_list(struct job *j, const struct stop *stop, const char *name, struct imrec_error *err)
{
    struct sink *to;
    const uint64_t copies = j->copies;
    IMREC_TRY(sink_open(name, &to, err));
    sink_stop_with(to, stop);
    j->copies = 1; /* an image has one line */
    const enum imrec_status st =
        j->list != NULL ? list_copy(j->list, to, err) : write_folder(j, stop, to, err);
    j->copies = copies;
    if (st == IMREC_OK)
        return sink_commit(to, err);
    sink_abort(to);
    return st;
}

/* What a folder or annotations amount to is written as PLAN/list.lst; a list stays where it is. */
static enum imrec_status
make_list(struct plan *p, struct job *j, const struct stop *stop, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    const bool given = p->task.list != NULL;
    plan_name(p, "list.lst", name);
    if (!given)
        IMREC_TRY(write_list(j, stop, name, err));
    p->list = given ? p->task.list : keep_absolute(p, name);
    p->list_name = given ? p->task.list : p->o.annotations[0] != '\0' ? p->o.annotations : p->list;
    return p->list != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for a plan");
}

/* ---- tasks ------------------------------------------------------------------------------ */

static uint64_t shards_of(const struct imrec_pack_options *o)
{
    return o->shards > 1 ? (uint64_t)o->shards : 1;
}

bool plan_is_aligned(const struct plan *p, const struct plan_row *rows)
{
    const uint64_t n = shards_of(&p->o), copies = (uint64_t)p->o.copies;
    if (p->o.shard_size != 0 || p->tasks != n)
        return false;
    for (uint64_t k = 0; (rows != NULL || copies > 1) && k < n; k++) {
        const uint64_t first = rows != NULL ? rows[k].first : plan_first_image(p, k);
        if (share_begin(plan_records(p), k, n) != first * copies)
            return false;
    }
    return true;
}

enum imrec_status plan_count_tasks(struct plan *p, uint64_t wanted, struct imrec_error *err)
{
    if (wanted > IMREC_PLAN_TASKS_MOST)
        return IMREC_REFUSE(err, "tasks must be at most %u, not %" PRIu64, IMREC_PLAN_TASKS_MOST,
                            wanted);
    p->tasks = wanted;
    if (wanted == 0 && p->o.shards > 1)
        p->tasks = (uint64_t)p->o.shards;
    else if (wanted == 0)
        p->tasks = p->images / IMAGES_A_TASK + (p->images % IMAGES_A_TASK != 0);
    if (wanted == 0 && p->o.shards <= 1 && p->tasks > TASKS_PLENTY)
        p->tasks = TASKS_PLENTY;
    p->joins = !plan_is_aligned(p, NULL);
    if (p->joins && p->tasks > p->images) /* a shard may be empty, a part of one is not */
        p->tasks = p->images;
    p->tasks = p->tasks != 0 ? p->tasks : 1;
    p->joins = !plan_is_aligned(p, NULL);
    return IMREC_OK;
}

static enum imrec_status
cut(struct plan *p, struct list_reader *list, struct plan_row *rows, struct imrec_error *err)
{
    uint64_t *ends = imrec_zalloc((size_t)p->tasks, sizeof(*ends));
    struct list_piece *pieces = imrec_zalloc((size_t)p->tasks, sizeof(*pieces));
    enum imrec_status st = ends != NULL && pieces != NULL
                               ? IMREC_OK
                               : IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " tasks", p->tasks);
    for (uint64_t k = 0; st == IMREC_OK && k < p->tasks; k++)
        ends[k] = plan_first_image(p, k + 1);
    if (st == IMREC_OK)
        st = list_cut(list, ends, p->tasks, pieces, err);
    for (uint64_t k = 0; st == IMREC_OK && k < p->tasks; k++)
        rows[k] = (struct plan_row){.number = k,
                                    .first = plan_first_image(p, k),
                                    .images = plan_first_image(p, k + 1) - plan_first_image(p, k),
                                    .begin = pieces[k].begin,
                                    .end = pieces[k].end,
                                    .lines_before = pieces[k].lines_before,
                                    .crc = pieces[k].crc};
    IMREC_FREE(ends, pieces);
    return st;
}

/* `part` is the share of a list that was given; the plan's own has that share alone. */
static enum imrec_status make_rows(struct plan *p, const struct stop *stop, struct imrec_error *err)
{
    struct list_reader *list;
    uint64_t images, print = FINGERPRINT_START;
    const bool whole = p->task.list == NULL && p->o.annotations[0] == '\0';
    const struct imrec_share all = {0, 1};
    IMREC_TRY(list_open(p->list, NULL, (uint32_t)p->o.label_width, whole ? all : p->o.part, stop,
                        &list, &images, &print, err));
    struct plan_row *rows = imrec_zalloc((size_t)p->tasks, sizeof(*rows));
    enum imrec_status st =
        rows != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " tasks", p->tasks);
    if (st == IMREC_OK && images != p->images)
        st = imrec_fail(err, IMREC_ERR_CORRUPT,
                        "%s has %" PRIu64 " images, and had %" PRIu64 " a moment ago", p->list,
                        images, p->images);
    if (st == IMREC_OK)
        st = cut(p, list, rows, err);
    if (st == IMREC_OK)
        st = plan_rows_write(p, rows, err);
    imrec_free(rows);
    list_close(list);
    return st;
}

enum imrec_status plan_write_classes(struct plan *p, const struct job *j, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    uint8_t *text;
    size_t n;
    p->has_classes = job_classes(j) != NULL;
    if (!p->has_classes)
        return IMREC_OK;
    plan_name(p, "classes.txt", name);
    IMREC_TRY(set_write_classes(name, j, true, err));
    IMREC_TRY(source_load(name, CLASSES_MAX, &text, &n, err));
    p->classes_crc = crc32c(0, text, n);
    imrec_free(text);
    return IMREC_OK;
}

/* ---- the plan --------------------------------------------------------------------------- */

/* The Huffman tables that the JPEGs of all tasks share. */
static enum imrec_status
make_tables(struct plan *p, struct job *j, struct watch *watch, struct imrec_error *err)
{
    char text[JPEG_TABLES_TEXT];
    struct jpeg_tables tables;
    struct file_root root;
    if (!p->o.shared_tables)
        return IMREC_OK;
    file_root_init(&root, p->folder, p->scanned, &watch->stop);
    const struct pack_run run = {
        .o = &p->o, .job = j, .root = &root, .watch = watch, .progress = {.total = j->total}};
    IMREC_TRY(shared_tables_sample(&run, &tables, err));
    jpeg_tables_text(&tables, text);
    p->tables = keep_text(p, text);
    return p->tables != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for a plan");
}

static enum imrec_status
write_files(struct plan *p, struct job *j, struct watch *watch, struct imrec_error *err)
{
    const struct stop *stop = &watch->stop;
    p->archives = j->archives != NULL;
    p->folder = keep_absolute(p, job_root(j, &p->task));
    if (p->folder == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a plan");
    p->scanned = p->task.list == NULL && p->o.annotations[0] == '\0';
    p->skips = j->scan.skip_count;
    p->other_files = j->scan.other_files;
    p->fingerprint = j->fingerprint;
    p->images = j->images;
    p->widest = j->widest;
    IMREC_TRY(make_tables(p, j, watch, err));
    IMREC_TRY(plan_write_classes(p, j, err));
    if (p->skips != 0)
        IMREC_TRY(plan_skips_write(p, &j->scan, err));
    IMREC_TRY(make_list(p, j, stop, err));
    IMREC_TRY(make_rows(p, stop, err));
    return plan_write(p, err);
}

enum imrec_status plan_check_free(const struct plan *p, struct imrec_error *err)
{
    struct set_files files;
    char name[PLAN_URI_BYTES];
    bool there;
    IMREC_TRY(set_files_init(&p->task, &p->o, &files, err));
    IMREC_TRY(set_check_format(&files, err));
    IMREC_TRY(set_is_unfinished(&files, &there, err));
    if (there && !p->o.force)
        return IMREC_REFUSE(err,
                            "%s.part exists: a run was interrupted; end it, or plan with force",
                            files.journal);
    if (!p->o.force)
        IMREC_TRY(set_check_free(&files, err));
    IMREC_TRY(plan_exists(p, &there, err));
    plan_name(p, "plan", name);
    return there ? IMREC_REFUSE(err,
                                "%s is there already: a plan is made once; choose another "
                                "folder",
                                name)
                 : IMREC_OK;
}

enum imrec_status plan_make_folder(const struct plan *p, struct imrec_error *err)
{
    if (source_is_remote(p->uri))
        return IMREC_OK;
    if (mkdir(p->uri, 0777) == 0 || errno == EEXIST)
        return sink_sync_names(p->uri, err);
    const int failed = errno;
    imrec_fail(err, IMREC_ERR_IO, "%s: the folder cannot be made: %s", p->uri, strerror(failed));
    imrec_error_errno(err, failed);
    return IMREC_ERR_IO;
}

static bool scan_goes_on(void *user, uint64_t found)
{
    return watch_tell(user, &(struct imrec_progress){.found = found});
}

static enum imrec_status
make(struct plan *p, uint64_t tasks, struct watch *watch, struct imrec_error *err)
{
    struct job job;
    const struct job_options jo = {&p->task, &p->o, scan_goes_on, watch, &watch->stop};
    IMREC_TRY(plan_check_free(p, err));
    IMREC_TRY(job_open(&jo, &job, err));
    job_warn(&job, &jo);
    enum imrec_status st = job.total + job.scan.skip_count != 0
                               ? plan_make_folder(p, err)
                               : job_nothing(&job, &p->task, &p->o, err);
    p->images = job.images;
    if (st == IMREC_OK)
        st = plan_count_tasks(p, tasks, err);
    if (st == IMREC_OK)
        st = write_files(p, &job, watch, err);
    job_close(&job);
    return st;
}

static enum imrec_status check_task(const struct imrec_pack_task *t,
                                    const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (t == NULL || t->root == NULL || t->out == NULL || t->out[0] == '\0')
        return IMREC_REFUSE(err, "a plan needs root and out");
    if (t->list != NULL && o->annotations[0] != '\0')
        return IMREC_REFUSE(err, "annotations are a list: %s cannot go with them", t->list);
    if (o->list || o->resume)
        return IMREC_REFUSE(err, "%s cannot go with a plan: %s", o->list ? "list" : "resume",
                            o->list ? "it packs images" : "finish continues by itself");
    return IMREC_OK;
}

static enum imrec_status check_packed(const struct imrec_pack_task *t, struct imrec_error *err)
{
    return t->list == NULL && archives_are(t->root) && archives_are_packed(t->root)
               ? IMREC_REFUSE(err,
                              "%.300s: tasks read pieces of .tar archives that are not packed: "
                              "unpack it with gunzip, or pack it without a plan",
                              t->root)
               : IMREC_OK;
}

enum imrec_status plan_of_command(struct plan *p, const struct imrec_pack_task *task,
                                  const struct imrec_pack_options *options, struct imrec_error *err)
{
    struct imrec_pack_task paths;
    char *archives;
    IMREC_TRY(pack_options_check(options, &p->o, err));
    IMREC_TRY(check_task(task, &p->o, err));
    IMREC_TRY(pack_task_paths(task, &paths, err));
    IMREC_TRY(archives_in_folder(&paths, &p->o, &archives, err));
    if (archives != NULL)
        paths.root = archives;
    enum imrec_status st = check_packed(&paths, err);
    if (st == IMREC_OK)
        st = keep_names(p, &paths, err);
    imrec_free(archives);
    return st;
}

struct imrec_plan_status plan_begun(const struct plan *p)
{
    return (struct imrec_plan_status){.tasks = p->tasks,
                                      .missing = p->tasks,
                                      .images = p->images,
                                      .records = plan_records(p),
                                      .seconds_left = -1,
                                      .joins = p->joins,
                                      .items = p->items};
}

enum imrec_status imrec_plan_make(const char *plan, const struct imrec_pack_task *task,
                                  const struct imrec_pack_options *options, uint64_t tasks,
                                  struct imrec_plan_status *out, struct imrec_error *err)
{
    struct plan p = {0};
    struct watch watch;
    struct lock *lock = NULL;
    IMREC_TRY(plan_name_set(&p, plan, err));
    enum imrec_status st = plan_of_command(&p, task, options, err);
    if (st == IMREC_OK) /* of a script that was killed, this step may run still */
        st = set_lock(p.task.out, &lock, err);
    watch_begin(&watch, task != NULL ? task : &p.task);
    if (st == IMREC_OK)
        st = make(&p, tasks, &watch, err);
    watch_end(&watch);
    lock_drop(lock);
    if (out != NULL)
        *out = plan_begun(&p);
    plan_free(&p);
    return st;
}
