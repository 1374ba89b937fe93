/* im2rec/tasks/plan_end.c - what stays of a plan when its set is complete, and what goes. */
#include "im2rec/tasks/plan_run.h"

#include "base/error.h"
#include "formats/set/set_names.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/set/set_files.h"
#include "storage/folder.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PACKED, SKIPPED, SHARDS, BYTES, CLASSES, NUMBERS };

/* ---- the note --------------------------------------------------------------------------- */

enum imrec_status
plan_finish_note(const struct plan *p, const struct imrec_pack_result *r, struct imrec_error *err)
{
    const uint64_t numbers[NUMBERS] = {r->packed, r->skipped, r->shards, r->bytes, r->classes};
    char name[PLAN_URI_BYTES];
    struct buf line = BUF_INIT(4096);
    plan_name(p, "finished", name);
    enum imrec_status st = checked_numbers_put(&line, 'f', numbers, NUMBERS, err);
    if (st == IMREC_OK)
        st = plan_put(name, (struct bytes){line.p, line.n}, err);
    buf_free(&line);
    return st;
}

static enum imrec_status
read_note(const char *name, uint64_t numbers[NUMBERS], struct imrec_error *err)
{
    struct checked_lines l = {0};
    struct bytes line, rest;
    char head[CHECKED_HEAD_BYTES];
    IMREC_TRY(source_open(name, &l.source, err));
    const enum imrec_status st = checked_lines_next(&l, &line, err);
    const bool good = st == IMREC_OK && checked_head_of(line, head, &rest) &&
                      checked_numbers_read(head, 'f', numbers, NUMBERS);
    source_close(l.source);
    checked_lines_free(&l);
    if (good)
        return IMREC_OK;
    return st != IMREC_OK && st != IMREC_END
               ? st
               : imrec_fail(err, IMREC_ERR_CORRUPT, "%s is damaged: remove it, and finish again",
                            name);
}

enum imrec_status plan_finished(const struct plan *p, bool *finished, struct imrec_pack_result *out,
                                struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    uint64_t v[NUMBERS];
    plan_name(p, "finished", name);
    IMREC_TRY(sink_exists(name, finished, err));
    if (!*finished)
        return IMREC_OK;
    IMREC_TRY(read_note(name, v, err));
    out->was_complete = true;
    out->packed = v[PACKED];
    out->skipped = v[SKIPPED];
    out->total = out->resumed = v[PACKED] + v[SKIPPED];
    out->shards = v[SHARDS];
    out->bytes = v[BYTES];
    out->classes = v[CLASSES];
    return IMREC_OK;
}

/* ---- what goes -------------------------------------------------------------------------- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* A file of the plan's folder that work, finish or the plan has written. */
static bool is_of_plan(const char *name)
{
    static const char *const whole[] = {"tasks",       "skips",     "list.lst",
                                        "classes.txt", "finishing", NULL};
    uint64_t k;
    int at = 0;
    for (const char *const *w = whole; *w != NULL; w++)
        if (strcmp(name, *w) == 0)
            return true;
    if (begins(name, "clock-"))
        return true;
    return sscanf(name, "task-%" SCNu64 ".%n", &k, &at) == 1 && at >= 13 &&
           (begins(name + at, "done") || begins(name + at, "records-") ||
            begins(name + at, "running-"));
}

/* "OUT-00003.PLAN-MARK.rec.part": of a call that was killed, or that another one was before. */
static bool is_of_task(const struct plan *p, const char *base, size_t base_bytes, const char *name)
{
    char mark[PLAN_MARK_BYTES + 3];
    const size_t n = strlen(name);
    snprintf(mark, sizeof(mark), ".%s-", p->mark);
    return n > 5 && strcmp(name + n - 5, ".part") == 0 && strncmp(name, base, base_bytes) == 0 &&
           strstr(name + base_bytes, mark) != NULL;
}

static enum imrec_status remove_from(const struct plan *p, const char *folder, const char *base,
                                     size_t base_bytes, struct imrec_error *err)
{
    char path[2 * NAME_BYTES];
    struct folder_entry e;
    struct folder *f;
    IMREC_TRY(source_is_remote(folder) ? folder_open(folder, &f, err)
                                       : folder_open_path(folder, &f, err));
    enum imrec_status st;
    while ((st = folder_next(f, &e, err)) == IMREC_OK) {
        if (base != NULL ? !is_of_task(p, base, base_bytes, e.name) : !is_of_plan(e.name))
            continue;
        snprintf(path, sizeof(path), "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                 e.name);
        if ((st = sink_remove(path, err)) != IMREC_OK)
            break;
    }
    folder_close(f);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status clean_beside(const struct plan *p, struct imrec_error *err)
{
    struct set_files files;
    char folder[NAME_BYTES];
    IMREC_TRY(set_files_init(&p->task, &p->o, &files, err));
    const char *base = set_base_name(files.rec);
    const size_t n = strlen(base), suffix = strlen(".rec");
    snprintf(folder, sizeof(folder), "%.*s", base == files.rec ? 1 : (int)(base - files.rec),
             base == files.rec ? "." : files.rec);
    return remove_from(p, folder, base, n > suffix ? n - suffix : n, err);
}

enum imrec_status plan_clean(const struct plan *p, struct imrec_error *err)
{
    IMREC_TRY(clean_beside(p, err));
    return remove_from(p, p->uri, NULL, 0, err);
}
