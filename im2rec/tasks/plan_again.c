/* im2rec/tasks/plan_again.c - a plan is used again by the same command; one that a command has made
 * for itself is gone with its end. */
#include "base/error.h"
#include "formats/set/manifest.h"
#include "im2rec/set/set_files.h"
#include "im2rec/tasks/plan_run.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <string.h>
#include <unistd.h>

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The first option that differs, but for those that a run may choose; NULL: there is none. */
static const char *
other_option(const struct imrec_pack_options *a, const struct imrec_pack_options *b)
{
    char left[PACK_OPTION_BYTES], right[PACK_OPTION_BYTES];
    for (const struct param *row = pack_params; row->name != NULL; row++) {
        if (strcmp(row->name, "threads") == 0 || strcmp(row->name, "memory") == 0)
            continue;
        pack_option_text(a, row, left, sizeof(left));
        pack_option_text(b, row, right, sizeof(right));
        if (strcmp(left, right) != 0)
            return row->name;
    }
    return NULL;
}

enum imrec_status
plan_refuse_other(const struct plan *have, const char *what, struct imrec_error *err)
{
    return IMREC_REFUSE(err,
                        "%s is the plan of another command: its %s differs; finish it, remove it, "
                        "or name another plan",
                        have->uri, what);
}

enum imrec_status plan_compare(const struct plan *have, const struct plan *wanted, uint64_t tasks,
                               struct imrec_error *err)
{
    const char *what = other_option(&have->o, &wanted->o);
    if (have->items != wanted->items)
        what = "source";
    else if (!same_text(have->task.root, wanted->task.root))
        what = "folder";
    else if (!same_text(have->task.out, wanted->task.out))
        what = "output";
    else if (!same_text(have->task.list, wanted->task.list))
        what = "list";
    else if (what == NULL && tasks != 0 && tasks != have->tasks)
        what = "number of tasks";
    return what == NULL ? IMREC_OK : plan_refuse_other(have, what, err);
}

/* A note of a set that somebody has removed since would pass for the set. */
static enum imrec_status check_set(const struct plan *have, struct imrec_error *err)
{
    struct imrec_pack_result ignored;
    struct set_files files;
    struct manifest m;
    bool finished;
    IMREC_TRY(plan_finished(have, &finished, &ignored, err));
    if (!finished)
        return IMREC_OK;
    IMREC_TRY(set_files_init(&have->task, &have->o, &files, err));
    IMREC_TRY(set_load_manifest(&files, &m, err));
    const bool there = m.shard_count != 0;
    manifest_free(&m);
    return there ? IMREC_OK
                 : IMREC_REFUSE(err,
                                "%s has finished %s, whose manifest is missing now: remove %s to "
                                "pack it again",
                                have->uri, files.rec, have->uri);
}

static enum imrec_status compare_with(const char *plan, const struct imrec_pack_task *task,
                                      const struct imrec_pack_options *options, uint64_t tasks,
                                      struct imrec_error *err)
{
    struct plan have, wanted = {0};
    IMREC_TRY(plan_load(plan, &have, err));
    enum imrec_status st = plan_of_command(&wanted, task, options, err);
    wanted.images = have.images;
    if (st == IMREC_OK && tasks != 0)
        st = plan_count_tasks(&wanted, tasks, err);
    if (st == IMREC_OK)
        st = plan_compare(&have, &wanted, tasks != 0 ? wanted.tasks : 0, err);
    if (st == IMREC_OK)
        st = check_set(&have, err);
    plan_free(&wanted);
    plan_free(&have);
    return st;
}

enum imrec_status imrec_plan_continue(const char *plan, const struct imrec_pack_task *task,
                                      const struct imrec_pack_options *options, uint64_t tasks,
                                      struct imrec_error *err)
{
    struct plan p = {0};
    bool there;
    IMREC_TRY(plan_name_set(&p, plan, err));
    IMREC_TRY(plan_exists(&p, &there, err));
    return there ? compare_with(plan, task, options, tasks, err)
                 : imrec_plan_make(plan, task, options, tasks, NULL, err);
}

enum imrec_status imrec_plan_forget(const char *plan, struct imrec_error *err)
{
    static const char *const kept[] = {"finished", "plan"};
    char name[PLAN_URI_BYTES];
    struct plan p = {0};
    IMREC_TRY(plan_name_set(&p, plan, err));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        plan_name(&p, kept[i], name);
        IMREC_TRY(sink_remove(name, err));
    }
    if (!source_is_remote(p.uri))
        (void)rmdir(p.uri); /* fails where somebody has put a file there */
    return IMREC_OK;
}
