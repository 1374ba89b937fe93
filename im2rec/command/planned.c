/* im2rec/command/planned.c */
#include "im2rec/command/planned.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "base/system.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/show.h"
#include "formats/text.h"
#include "im2rec/command/shown_run.h"
#include "im2rec/command/skips.h"
#include "im2rec/command/summary.h"
#include "im2rec/item/pack_options.h"
#include "imrec/plan.h"

#include <inttypes.h>
#include <string.h>

#define NAME         "im2rec"
#define MISSING_MOST 1000         /* of --status --json */
#define WAIT_LEAST   50000000u    /* ns */
#define WAITS_MOST   60000000000u /* ns */
#define LOOKS_PART   20           /* of the time, at most one part goes into looking */

static int count_flags(const struct im2rec_flags *f)
{
    return (f->plan[0] != '\0') + (f->work[0] != '\0') + (f->finish[0] != '\0') +
           (f->status[0] != '\0');
}

bool planned_is(const struct im2rec_flags *f)
{
    return count_flags(f) != 0;
}

bool planned_takes_no_names(const struct im2rec_flags *f)
{
    return planned_is(f) && f->plan[0] == '\0';
}

/* ---- operands --------------------------------------------------------------------------- */

static bool read_share(const char *text, struct planned_share *out)
{
    const char *slash = strchr(text, '/');
    const size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    *out = (struct planned_share){0};
    if (!text_to_u64((struct bytes){(const uint8_t *)text, n}, &out->first))
        return false;
    if (slash == NULL)
        return true;
    return text_to_u64((struct bytes){(const uint8_t *)slash + 1, strlen(slash + 1)}, &out->step) &&
           out->first < out->step;
}

int planned_operand(const struct im2rec_flags *f, int argc, char **argv, struct planned_share *out)
{
    *out = (struct planned_share){.any = true};
    if (count_flags(f) != 1)
        return cli_refuse(stderr, NAME, "give one of --plan, --work, --finish and --status");
    if (argc > (f->work[0] != '\0'))
        return cli_refuse(stderr, NAME, "unexpected operand '%s': what is packed is in the plan",
                          argv[argc - 1]);
    if (argc == 1 && !read_share(argv[0], out))
        return cli_refuse(stderr, NAME,
                          "'%s' is no task: K, from 0, or K/N with K below N for tasks K, K + N, "
                          "...",
                          argv[0]);
    return EXIT_OK;
}

/* What a plan has already cannot be said again. */
static int refuse_options(const struct im2rec_flags *f)
{
    char here[PACK_OPTION_BYTES], preset[PACK_OPTION_BYTES];
    struct imrec_pack_options defaults;
    imrec_pack_options_init(&defaults);
    bool other = f->append || f->tasks != 0;
    for (const struct param *p = pack_params; p->name != NULL; p++) {
        pack_option_text(&f->pack, p, here, sizeof(here));
        pack_option_text(&defaults, p, preset, sizeof(preset));
        other |= strcmp(here, preset) != 0 && strcmp(p->name, "threads") != 0 &&
                 strcmp(p->name, "memory") != 0;
    }
    return other ? cli_refuse(stderr, NAME,
                              "options other than --threads, --memory, --quiet and --json belong "
                              "to --plan: the plan has them")
                 : EXIT_OK;
}

/* ---- plan ------------------------------------------------------------------------------- */

static void
plan_json(const struct im2rec_flags *f, const struct imrec_plan_status *s, bool was_there)
{
    struct json j;
    json_begin(&j, stdout);
    json_text(&j, "plan", f->plan);
    JSON_UINTS(&j, {"tasks", s->tasks}, {"done", s->done}, {"images", s->images},
               {"records", s->records});
    json_bool(&j, "join", s->joins);
    json_bool(&j, "was_there", was_there);
    json_bool(&j, "finished", s->finished);
    json_end(&j);
    json_close(&j);
}

static void plan_line(const char *plan, const struct imrec_plan_status *s, bool was_there)
{
    char images[HUMAN_THINGS], tasks[HUMAN_THINGS], done[HUMAN_BYTES];
    if (s->finished)
        printf("%s: finished before, nothing is read again; to pack again, remove it\n",
               cli_show(plan));
    else if (was_there)
        printf("%s: continued, nothing is read again: %s of %s done\n", cli_show(plan),
               human_count(s->done, done), human_things(s->tasks, "task", tasks));
    else
        printf("%s: %s in %s, %s\n", cli_show(plan), human_things(s->images, "image", images),
               human_things(s->tasks, "task", tasks),
               s->joins ? "which are joined at the end: all bytes are copied once"
                        : "each a whole shard");
}

/* A script that is started again says the same again: a plan of this command is continued. */
static int make(struct im2rec_flags *f, struct imrec_pack_task *task)
{
    struct imrec_plan_status s;
    struct imrec_error err;
    struct shown_run watch = {.out = f->quiet ? NULL : stderr};
    const struct imrec_pack_result none = {0};
    if (f->append)
        return cli_refuse(stderr, NAME, "--append cannot go with --plan");
    task->progress = shown_run_progress;
    task->user = &watch;
    const bool was_there = imrec_plan_status(f->plan, &s, NULL) == IMREC_OK;
    enum imrec_status st = imrec_plan_continue(f->plan, task, &f->pack, (uint64_t)f->tasks, &err);
    shown_run_end(&watch, &none);
    if (st == IMREC_OK)
        st = imrec_plan_status(f->plan, &s, &err);
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    if (f->json)
        plan_json(f, &s, was_there);
    else if (!f->quiet)
        plan_line(f->plan, &s, was_there);
    return EXIT_OK;
}

/* ---- work ------------------------------------------------------------------------------- */

static void tell_task(const struct im2rec_flags *f, uint64_t k, const struct imrec_pack_result *r,
                      double seconds)
{
    struct json j;
    char packed[HUMAN_THINGS];
    if (f->json) {
        json_begin_line(&j, stdout);
        JSON_UINTS(&j, {"task", k}, {"packed", r->packed}, {"skipped", r->skipped});
        json_rounded(&j, "seconds", seconds);
        json_bool(&j, "was_complete", r->was_complete);
        json_end(&j);
        json_close(&j);
        fflush(stdout);
    } else if (!f->quiet) {
        if (r->was_complete)
            printf("task %" PRIu64 ": done before\n", k);
        else
            printf("task %" PRIu64 ": %s packed, %" PRIu64 " skipped, %.1f s\n", k,
                   human_things(r->packed, "image", packed), r->skipped, seconds);
    }
}

/* ours: false: others work on these tasks too, and say themselves what they have done. */
static int work_on(const struct im2rec_flags *f, uint64_t k, bool ours)
{
    struct imrec_pack_result r;
    struct imrec_error err;
    struct shown_run watch = {.out = f->quiet || !cli_is_terminal(stderr) ? NULL : stderr};
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.threads = f->pack.threads;
    run.memory = f->pack.memory;
    run.progress = shown_run_progress;
    run.user = &watch;
    const uint64_t begin = clock_ns();
    const enum imrec_status st = imrec_plan_work(f->work, k, &run, &r, &err);
    shown_run_end(&watch, &r);
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    if (ours || !r.was_complete)
        tell_task(f, k, &r, (double)(clock_ns() - begin) / 1e9);
    return EXIT_OK;
}

static int
work_share(const struct im2rec_flags *f, const struct planned_share *share, uint64_t tasks)
{
    if (share->step == 0)
        return work_on(f, share->first, true);
    int worst = EXIT_OK;
    for (uint64_t k = share->first; k < tasks && !shown_run_interrupted(); k += share->step)
        if (work_on(f, k, true) != EXIT_OK)
            worst = EXIT_FAILED;
    return shown_run_interrupted() ? EXIT_FAILED : worst;
}

/* A task in state `wanted`, from place `from` on and around; `tasks`: there is none. */
static uint64_t find_task(const enum imrec_task_state *states, uint64_t tasks, uint64_t from,
                          enum imrec_task_state wanted)
{
    for (uint64_t i = 0; i < tasks; i++)
        if (states[(from + i) % tasks] == wanted)
            return (from + i) % tasks;
    return tasks;
}

/* What a worker without a share knows of the tasks. */
struct search {
    const struct im2rec_flags *f;
    enum imrec_task_state *states;
    uint64_t tasks, looked_ns, look_took_ns;
};

/* To list a large plan in a store takes a while: not for each task. */
static enum imrec_status look_again(struct search *s, bool now, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    if (!now && s->looked_ns != 0 && begin - s->looked_ns < LOOKS_PART * s->look_took_ns)
        return IMREC_OK;
    const enum imrec_status st = imrec_plan_tasks(s->f->work, s->tasks, s->states, err);
    s->looked_ns = clock_ns();
    s->look_took_ns = s->looked_ns - begin;
    return st;
}

/* Each worker has an order of its own. In one order for all, those that know too little would
 * follow one another from task to task. */
static uint64_t any_place(const struct search *s)
{
    uint64_t v;
    if (!system_random(&v, sizeof(v)))
        v = clock_ns() / 1000;
    return v % s->tasks;
}

/* *k: the next task; `tasks`: all are done. When only tasks that others work on are left, one of
 * them is done again after a minute: the first to end wins. */
static enum imrec_status next_task(struct search *s, uint64_t *k, struct imrec_error *err)
{
    const uint64_t from = any_place(s), begin = clock_ns();
    IMREC_TRY(look_again(s, false, err));
    while (!shown_run_interrupted()) {
        *k = find_task(s->states, s->tasks, from, IMREC_TASK_MISSING);
        if (*k != s->tasks)
            break;
        IMREC_TRY(look_again(s, true, err));
        *k = find_task(s->states, s->tasks, from, IMREC_TASK_MISSING);
        if (*k != s->tasks)
            break;
        *k = find_task(s->states, s->tasks, from, IMREC_TASK_RUNNING);
        if (*k == s->tasks || clock_ns() - begin >= WAITS_MOST)
            break;
        clock_sleep_ms(max_u64(WAIT_LEAST, LOOKS_PART * s->look_took_ns) / 1000000);
    }
    return IMREC_OK;
}

/* Few begin the same task; where they do, nothing is harmed. */
static int work_until_done(struct search *s)
{
    struct imrec_error err;
    uint64_t failed = 0, k = 0;
    while (failed <= s->tasks) {
        if (next_task(s, &k, &err) != IMREC_OK)
            return cli_fail(NAME, &err);
        if (shown_run_interrupted())
            return EXIT_FAILED;
        if (k == s->tasks)
            return EXIT_OK;
        if (work_on(s->f, k, false) == EXIT_OK)
            s->states[k] = IMREC_TASK_DONE;
        else
            failed++;
    }
    return EXIT_FAILED;
}

static int work_any(const struct im2rec_flags *f, uint64_t tasks)
{
    struct search s = {
        .f = f, .states = imrec_zalloc((size_t)tasks, sizeof(*s.states)), .tasks = tasks};
    if (s.states == NULL)
        return cli_refuse(stderr, NAME, "no memory for %" PRIu64 " tasks", tasks);
    const int status = work_until_done(&s);
    imrec_free(s.states);
    return status;
}

static int work(const struct im2rec_flags *f, const struct planned_share *share)
{
    struct imrec_plan_status s;
    struct imrec_error err;
    if (imrec_plan_status(f->work, &s, &err) != IMREC_OK)
        return cli_fail(NAME, &err);
    if (s.items) /* the library says why not: once, not for each task */
        return work_on(f, share->first, true);
    return share->any ? work_any(f, s.tasks) : work_share(f, share, s.tasks);
}

/* ---- finish ----------------------------------------------------------------------------- */

static int finish(const struct im2rec_flags *f)
{
    struct imrec_pack_result r;
    struct imrec_error err;
    struct shown_run watch = {.out = f->quiet ? NULL : stderr};
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.progress = shown_run_progress;
    run.user = &watch;
    const uint64_t begin = clock_ns();
    const enum imrec_status st = imrec_plan_finish(f->finish, &run, &r, &err);
    const double seconds = (double)(clock_ns() - begin) / 1e9;
    shown_run_end(&watch, &r);
    if (!f->quiet && !r.was_complete)
        skips_print(stderr, NAME, &r, "");
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    if (f->json)
        summary_json(stdout, &r, seconds);
    else if (!f->quiet)
        summary_card(stdout, f->finish, &r, seconds);
    return r.skipped != 0 && !r.was_complete ? EXIT_PARTIAL : EXIT_OK;
}

/* ---- status ----------------------------------------------------------------------------- */

static void status_json(const struct imrec_plan_status *s, const enum imrec_task_state *states)
{
    struct json j;
    uint64_t named = 0;
    json_begin(&j, stdout);
    JSON_UINTS(&j, {"tasks", s->tasks}, {"done", s->done}, {"running", s->running},
               {"missing", s->missing}, {"images", s->images}, {"images_done", s->images_done});
    if (s->seconds_left >= 0)
        json_rounded(&j, "seconds_left", s->seconds_left);
    else
        json_raw(&j, "seconds_left", "null");
    json_bool(&j, "join", s->joins);
    json_bool(&j, "finished", s->finished);
    json_array(&j, "missing_tasks");
    for (uint64_t k = 0; k < s->tasks && named < MISSING_MOST; k++)
        if (states[k] == IMREC_TASK_MISSING && ++named != 0)
            json_uint(&j, NULL, k);
    json_end(&j);
    json_end(&j);
    json_close(&j);
}

static void status_card(const char *plan, const struct imrec_plan_status *s)
{
    char a[HUMAN_BYTES], b[HUMAN_BYTES], c[HUMAN_BYTES], d[HUMAN_BYTES];
    printf("%s\n", cli_show(plan));
    if (s->finished) {
        printf("finished   %10s  images\n", human_count(s->images, a));
        return;
    }
    printf("tasks      %10s  done %s, running %s, missing %s\n", human_count(s->tasks, a),
           human_count(s->done, b), human_count(s->running, c), human_count(s->missing, d));
    printf("images     %10s  done %s\n", human_count(s->images, a), human_count(s->images_done, b));
    if (s->done == s->tasks)
        printf("next       im2rec --finish %s\n", cli_show(plan));
    else if (s->seconds_left >= 0)
        printf("left       %10s\n", human_seconds(s->seconds_left, a));
}

static int status(const struct im2rec_flags *f)
{
    struct imrec_plan_status s;
    struct imrec_error err;
    if (imrec_plan_status(f->status, &s, &err) != IMREC_OK)
        return cli_fail(NAME, &err);
    if (!f->json) {
        status_card(f->status, &s);
        return EXIT_OK;
    }
    enum imrec_task_state *states = imrec_zalloc((size_t)s.tasks, sizeof(*states));
    if (states == NULL)
        return cli_refuse(stderr, NAME, "no memory for %" PRIu64 " tasks", s.tasks);
    const enum imrec_status st = imrec_plan_tasks(f->status, s.tasks, states, &err);
    if (st == IMREC_OK)
        status_json(&s, states);
    imrec_free(states);
    return st == IMREC_OK ? EXIT_OK : cli_fail(NAME, &err);
}

int planned_run(struct im2rec_flags *f, struct imrec_pack_task *task,
                const struct planned_share *share)
{
    if (count_flags(f) != 1)
        return cli_refuse(stderr, NAME, "give one of --plan, --work, --finish and --status");
    if (f->plan[0] != '\0')
        return make(f, task);
    const int refused = refuse_options(f);
    if (refused != EXIT_OK)
        return refused;
    return f->work[0] != '\0' ? work(f, share) : f->finish[0] != '\0' ? finish(f) : status(f);
}
