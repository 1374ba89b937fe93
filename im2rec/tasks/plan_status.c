/* im2rec/tasks/plan_status.c - the state of a plan, by the names in its folder. */
#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/tasks/heartbeat.h"
#include "im2rec/tasks/plan_run.h"
#include "im2rec/tasks/task_mark.h"
#include "storage/folder.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct looking {
    const struct plan *p;
    uint64_t count; /* of states */
    enum imrec_task_state *states;
    uint64_t now; /* by the clock of the store; 0: not asked yet */
};

static enum imrec_status read_clock(struct looking *l, struct imrec_error *err)
{
    char mark[PLAN_MARK_BYTES];
    if (l->now != 0)
        return IMREC_OK;
    IMREC_TRY(task_mark_make(mark, err));
    l->now = heartbeat_now(l->p, mark);
    if (l->now == 0) /* a folder that is only read */
        l->now = (uint64_t)time(NULL) * 1000000000u;
    return IMREC_OK;
}

/* "task-0000017.done", "task-0000017.running-MARK" */
static enum imrec_status take(struct looking *l, const char *base, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    uint64_t k;
    int at = 0;
    if (sscanf(base, "task-%" SCNu64 ".%n", &k, &at) != 1 || at == 0 || k >= l->count)
        return IMREC_OK;
    const char *what = base + at;
    if (strcmp(what, "done") == 0)
        l->states[k] = IMREC_TASK_DONE;
    if (strncmp(what, "running-", 8) != 0 || strlen(what) != 8 + PLAN_MARK_BYTES - 1 ||
        l->states[k] != IMREC_TASK_MISSING)
        return IMREC_OK;
    IMREC_TRY(read_clock(l, err));
    plan_name(l->p, base, name);
    const uint64_t beat = heartbeat_of(name);
    if (beat != 0 && beat + HEARTBEAT_DEAD_NS >= l->now)
        l->states[k] = IMREC_TASK_RUNNING;
    return IMREC_OK;
}

static enum imrec_status look(struct looking *l, struct imrec_error *err)
{
    struct folder *f;
    struct folder_entry e;
    enum imrec_status st;
    IMREC_TRY(source_is_remote(l->p->uri) ? folder_open(l->p->uri, &f, err)
                                          : folder_open_path(l->p->uri, &f, err));
    while ((st = folder_next(f, &e, err)) == IMREC_OK)
        if ((st = take(l, e.name, err)) != IMREC_OK)
            break;
    folder_close(f);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status states_of(struct looking *l, bool *finished, struct imrec_error *err)
{
    struct imrec_pack_result ignored;
    IMREC_TRY(plan_finished(l->p, finished, &ignored, err));
    for (uint64_t k = 0; k < l->count; k++)
        l->states[k] = *finished ? IMREC_TASK_DONE : IMREC_TASK_MISSING;
    return *finished ? IMREC_OK : look(l, err);
}

static void estimate(struct looking *l, struct imrec_plan_status *out)
{
    char name[PLAN_URI_BYTES];
    out->seconds_left = out->images_done == out->images ? 0 : -1;
    if (out->images_done == 0 || out->seconds_left == 0 || read_clock(l, NULL) != IMREC_OK)
        return;
    plan_name(l->p, "plan", name);
    const uint64_t begin = heartbeat_of(name);
    if (begin != 0 && begin < l->now)
        out->seconds_left = (double)(l->now - begin) / 1e9 *
                            (double)(out->images - out->images_done) / (double)out->images_done;
}

static void
count_done(const struct looking *l, uint64_t k, uint64_t images, struct imrec_plan_status *out)
{
    if (l->states[k] == IMREC_TASK_DONE)
        out->images_done += images;
}

struct counting {
    const struct looking *l;
    struct imrec_plan_status *out;
};

static enum imrec_status count_row(void *user, const struct plan_row *r, struct imrec_error *err)
{
    const struct counting *c = user;
    (void)err;
    count_done(c->l, r->number, r->images, c->out);
    return IMREC_OK;
}

/* Images of the tasks that are done. */
static enum imrec_status
count_images(struct looking *l, struct imrec_plan_status *out, struct imrec_error *err)
{
    const struct plan *p = l->p;
    struct counting c = {l, out};
    if (p->items && !out->finished) {
        const enum imrec_status st = plan_rows_visit(p, count_row, &c, err);
        if (st == IMREC_OK)
            return st;
        IMREC_TRY(states_of(l, &out->finished, err)); /* the rows go when it is */
        if (!out->finished)
            return st;
    }
    if (out->finished) {
        out->images_done = p->images;
        return IMREC_OK;
    }
    for (uint64_t k = 0; k < p->tasks; k++)
        count_done(l, k, plan_first_image(p, k + 1) - plan_first_image(p, k), out);
    return IMREC_OK;
}

static enum imrec_status
fill(const struct plan *p, struct imrec_plan_status *out, struct imrec_error *err)
{
    struct looking l = {.p = p, .count = p->tasks};
    l.states = imrec_zalloc((size_t)p->tasks, sizeof(*l.states));
    if (l.states == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " tasks", p->tasks);
    *out = (struct imrec_plan_status){.tasks = p->tasks,
                                      .images = p->images,
                                      .records = plan_records(p),
                                      .joins = p->joins,
                                      .items = p->items};
    enum imrec_status st = states_of(&l, &out->finished, err);
    if (st == IMREC_OK)
        st = count_images(&l, out, err);
    for (uint64_t k = 0; st == IMREC_OK && k < p->tasks; k++) {
        out->done += l.states[k] == IMREC_TASK_DONE;
        out->running += l.states[k] == IMREC_TASK_RUNNING;
        out->missing += l.states[k] == IMREC_TASK_MISSING;
    }
    if (st == IMREC_OK)
        estimate(&l, out);
    imrec_free(l.states);
    return st;
}

enum imrec_status
imrec_plan_status(const char *plan, struct imrec_plan_status *out, struct imrec_error *err)
{
    struct plan p;
    *out = (struct imrec_plan_status){.seconds_left = -1};
    IMREC_TRY(plan_load(plan, &p, err));
    const enum imrec_status st = fill(&p, out, err);
    plan_free(&p);
    return st;
}

enum imrec_status imrec_plan_tasks(const char *plan, uint64_t count, enum imrec_task_state *states,
                                   struct imrec_error *err)
{
    struct plan p;
    bool finished;
    IMREC_TRY(plan_load(plan, &p, err));
    struct looking l = {.p = &p, .count = count, .states = states};
    const enum imrec_status st =
        count <= p.tasks
            ? states_of(&l, &finished, err)
            : IMREC_REFUSE(err, "%s has %" PRIu64 " tasks, not %" PRIu64, p.uri, p.tasks, count);
    plan_free(&p);
    return st;
}
