/* im2rec/mpi/mpi_run.c - rank 0 hands out the tasks of a plan as ranks get free, and works too.
 *
 * On each rank one thread works and the main thread alone calls MPI, which therefore needs
 * MPI_THREAD_FUNNELED. Nobody waits inside MPI: a rank that died must not hold up rank 0. */
#include "im2rec/command/mpi_run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/threads.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/report.h"
#include "im2rec/command/shown_run.h"
#include "im2rec/command/skips.h"
#include "im2rec/command/summary.h"
#include "im2rec/mpi/launcher.h"
#include "imrec/plan.h"
#include "parallel/workers.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME       "im2rec"
#define POLL_MS    2u
#define TRIES_MOST 3u
#define GOODBYE_NS 30000000000u
#define NONE       UINT64_MAX
#define STOP       (UINT64_MAX - 1)

enum { TAG_ASK = 1, TAG_GIVE, TAG_CANCEL };

/* What a rank says when it asks for a task: what became of the one before. */
struct answer {
    uint64_t task; /* NONE: there was none */
    uint64_t packed, skipped, ns;
    int32_t status;
    char message[512];
};

/* The thread of a rank that works. */
struct hand {
    const char *plan;
    struct imrec_plan_run run;
    struct thread thread;
    atomic_bool ended, cancelled;
    bool busy;
    struct answer answer;
};

/* ---- working ------------------------------------------------------------------------------ */

static bool go_on(void *user, const struct imrec_progress *p)
{
    const struct hand *h = user;
    (void)p;
    return !atomic_load(&h->cancelled) && !shown_run_interrupted();
}

static void *work(void *arg)
{
    struct hand *h = arg;
    struct imrec_pack_result r;
    struct imrec_error err;
    const uint64_t begin = clock_ns();
    const enum imrec_status st = imrec_plan_work(h->plan, h->answer.task, &h->run, &r, &err);
    h->answer.status = (int32_t)st;
    h->answer.packed = r.packed;
    h->answer.skipped = r.skipped;
    h->answer.ns = clock_ns() - begin;
    if (st != IMREC_OK)
        snprintf(h->answer.message, sizeof(h->answer.message), "%s", err.message);
    atomic_store(&h->ended, true);
    return NULL;
}

static void hand_begin(struct hand *h, uint64_t task)
{
    h->answer = (struct answer){.task = task};
    atomic_store(&h->ended, false);
    atomic_store(&h->cancelled, false);
    h->busy = true;
    if (thread_start(&h->thread, "imrec-task", work, h, NULL) != IMREC_OK)
        (void)work(h); /* without a thread of its own: MPI waits */
}

/* Whether the task has ended; then its answer is there. */
static bool hand_ended(struct hand *h)
{
    if (!h->busy || !atomic_load(&h->ended))
        return false;
    thread_join(&h->thread);
    h->busy = false;
    return true;
}

static bool has_message(int from, int tag, int *rank)
{
    MPI_Status status;
    int there = 0;
    if (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
        return false;
    if (rank != NULL)
        *rank = status.MPI_SOURCE;
    return true;
}

/* A rank other than 0. */
static void serve(struct hand *h)
{
    uint64_t task = NONE;
    int cancel;
    h->answer = (struct answer){.task = NONE};
    while (task != STOP) {
        MPI_Send(&h->answer, (int)sizeof(h->answer), MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD);
        while (!has_message(0, TAG_GIVE, NULL))
            clock_sleep_ms(POLL_MS);
        MPI_Recv(&task, 1, MPI_UINT64_T, 0, TAG_GIVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task == STOP)
            return;
        hand_begin(h, task);
        while (!hand_ended(h)) {
            if (has_message(0, TAG_CANCEL, NULL)) {
                MPI_Recv(&cancel, 1, MPI_INT, 0, TAG_CANCEL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                atomic_store(&h->cancelled, true);
            }
            clock_sleep_ms(POLL_MS);
        }
    }
}

/* ---- rank 0 ------------------------------------------------------------------------------- */

struct given { /* a task */
    enum imrec_task_state state;
    uint32_t tries, copies; /* that failed; that are in work */
    uint64_t since_ns;
};

struct leader {
    const struct im2rec_flags *f;
    struct hand *hand;
    int ranks;
    uint64_t *of_rank; /* the task that it has; NONE: it is idle; STOP: it was sent home */
    bool *asked;       /* the rank has asked at least once */
    struct given *tasks;
    uint64_t count, done, next; /* tasks; done; those before `next` were given out */
    uint64_t ended, ended_ns;   /* tasks that ended here, and their time */
    struct imrec_plan_status status;
    struct shown_run shown;
    bool forget; /* the plan is this job's own */
    bool failed;
    struct answer first_failure;
};

static void take(struct leader *l, int rank, const struct answer *a)
{
    l->asked[rank] = true;
    l->of_rank[rank] = NONE;
    if (a->task >= l->count)
        return;
    struct given *t = &l->tasks[a->task];
    t->copies -= t->copies != 0;
    if (a->status == IMREC_OK) {
        l->done += t->state != IMREC_TASK_DONE;
        t->state = IMREC_TASK_DONE;
        l->ended++;
        l->ended_ns += a->ns;
        return;
    }
    if (t->state == IMREC_TASK_DONE || a->status == IMREC_ERR_CANCELLED)
        return;
    t->state = t->copies != 0 ? IMREC_TASK_RUNNING : IMREC_TASK_MISSING;
    l->next = 0;
    if (++t->tries >= TRIES_MOST && !l->failed) {
        l->failed = true;
        l->first_failure = *a;
    }
}

static void hear(struct leader *l)
{
    struct answer a;
    int rank;
    while (has_message(MPI_ANY_SOURCE, TAG_ASK, &rank)) {
        MPI_Recv(&a, (int)sizeof(a), MPI_BYTE, rank, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        take(l, rank, &a);
    }
    if (hand_ended(l->hand))
        take(l, 0, &l->hand->answer);
}

/* A task that takes three times as long as others did is given out again: its rank may be slow, or
 * dead. */
static uint64_t slowest(const struct leader *l)
{
    uint64_t found = NONE;
    const uint64_t now = clock_ns();
    for (uint64_t k = 0; l->ended != 0 && k < l->count; k++) {
        const struct given *t = &l->tasks[k];
        if (t->state != IMREC_TASK_RUNNING || t->copies > 1 ||
            now - t->since_ns < 3 * (l->ended_ns / l->ended) + 1000000000u)
            continue;
        if (found == NONE || t->since_ns < l->tasks[found].since_ns)
            found = k;
    }
    return found;
}

static uint64_t choose(struct leader *l)
{
    while (l->next < l->count && l->tasks[l->next].state != IMREC_TASK_MISSING)
        l->next++;
    return l->next < l->count ? l->next : slowest(l);
}

static void give(struct leader *l, int rank, uint64_t task)
{
    l->of_rank[rank] = task;
    if (task != STOP) {
        struct given *t = &l->tasks[task];
        t->state = IMREC_TASK_RUNNING;
        t->since_ns = clock_ns();
        t->copies++;
    }
    if (rank == 0 && task != STOP)
        hand_begin(l->hand, task);
    else if (rank != 0)
        MPI_Send(&task, 1, MPI_UINT64_T, rank, TAG_GIVE, MPI_COMM_WORLD);
}

static void show(struct leader *l)
{
    const double share = l->count != 0 ? (double)l->done / (double)l->count : 1;
    const struct imrec_progress p = {.total = l->status.images,
                                     .done = (uint64_t)(share * (double)l->status.images)};
    if (l->shown.out != NULL)
        (void)shown_run_progress(&l->shown, &p);
}

static void hand_out(struct leader *l)
{
    while (l->done < l->count && !l->failed && !shown_run_interrupted()) {
        hear(l);
        for (int r = 0; r < l->ranks; r++) {
            if (!l->asked[r] || l->of_rank[r] != NONE)
                continue;
            const uint64_t k = choose(l);
            if (k == NONE)
                break;
            give(l, r, k);
        }
        show(l);
        clock_sleep_ms(POLL_MS);
    }
}

/* Whether all ranks have been sent home. */
static bool send_home(struct leader *l)
{
    const uint64_t begin = clock_ns();
    const int cancel = 1;
    atomic_store(&l->hand->cancelled, true);
    for (int r = 1; r < l->ranks; r++)
        if (l->of_rank[r] != NONE && l->asked[r])
            MPI_Send(&cancel, 1, MPI_INT, r, TAG_CANCEL, MPI_COMM_WORLD);
    for (;;) {
        int here = 0;
        hear(l);
        for (int r = 0; r < l->ranks; r++) {
            if (l->asked[r] && l->of_rank[r] == NONE)
                give(l, r, STOP);
            here += l->of_rank[r] != STOP;
        }
        if (here == 0 || clock_ns() - begin > GOODBYE_NS)
            return here == 0;
        clock_sleep_ms(POLL_MS);
    }
}

static int finish(struct leader *l)
{
    struct imrec_pack_result r;
    struct imrec_error err;
    const uint64_t begin = clock_ns();
    if (shown_run_interrupted() || l->failed) {
        fprintf(stderr, NAME ": %s; the same command continues\n",
                l->failed ? l->first_failure.message : "interrupted");
        return EXIT_FAILED;
    }
    const enum imrec_status st = imrec_plan_finish(l->f->plan, NULL, &r, &err);
    shown_run_end(&l->shown, &r);
    if (!l->f->quiet && !r.was_complete)
        skips_print(stderr, NAME, &r, "");
    if (st != IMREC_OK)
        return cli_fail(NAME, &err);
    const double seconds = (double)(clock_ns() - begin) / 1e9;
    if (l->f->json)
        summary_json(stdout, &r, seconds);
    else if (!l->f->quiet)
        summary_card(stdout, l->f->plan, &r, seconds);
    if (l->forget && imrec_plan_forget(l->f->plan, &err) != IMREC_OK)
        return cli_fail(NAME, &err);
    return EXIT_OK; /* also if images were skipped: mpirun takes any other for a crash */
}

static int begin(struct leader *l, struct imrec_error *err)
{
    enum imrec_task_state *states = NULL;
    if (imrec_plan_status(l->f->plan, &l->status, err) != IMREC_OK)
        return cli_fail(NAME, err);
    l->count = l->status.tasks;
    states = imrec_zalloc((size_t)l->count, sizeof(*states));
    l->tasks = imrec_zalloc((size_t)l->count, sizeof(*l->tasks));
    l->of_rank = imrec_zalloc((size_t)l->ranks, sizeof(*l->of_rank));
    l->asked = imrec_zalloc((size_t)l->ranks, sizeof(*l->asked));
    int status = EXIT_OK;
    if (states == NULL || l->tasks == NULL || l->of_rank == NULL || l->asked == NULL)
        status = cli_refuse(stderr, NAME, "no memory for %" PRIu64 " tasks", l->count);
    else if (imrec_plan_tasks(l->f->plan, l->count, states, err) != IMREC_OK)
        status = cli_fail(NAME, err);
    for (uint64_t k = 0; status == EXIT_OK && k < l->count;
         k++) { /* what runs is of a job before */
        l->tasks[k].state = states[k] == IMREC_TASK_DONE ? IMREC_TASK_DONE : IMREC_TASK_MISSING;
        l->done += states[k] == IMREC_TASK_DONE;
    }
    for (int r = 0; status == EXIT_OK && r < l->ranks; r++)
        l->of_rank[r] = NONE;
    imrec_free(states);
    return status;
}

/* *all: the other ranks have ended. */
static int lead(const struct im2rec_flags *f, struct hand *h, int ranks, bool own, bool *all)
{
    struct imrec_error err;
    struct leader l = {.f = f,
                       .hand = h,
                       .ranks = ranks,
                       .forget = own,
                       .shown = {.out = f->quiet ? NULL : stderr}};
    int status = begin(&l, &err);
    *all = false;
    if (status == EXIT_OK) {
        l.asked[0] = true;
        hand_out(&l);
        *all = send_home(&l);
        status = finish(&l);
    }
    IMREC_FREE(l.tasks, l.of_rank, l.asked);
    return status;
}

/* ---- the job ------------------------------------------------------------------------------ */

/* The plan of the job before, which was interrupted, or a new one. */
static int make_plan(struct im2rec_flags *f, struct imrec_pack_task *task)
{
    struct imrec_error err;
    return imrec_plan_continue(f->plan, task, &f->pack, (uint64_t)f->tasks, &err) == IMREC_OK
               ? EXIT_OK
               : cli_fail(NAME, &err);
}

/* CPUs of this rank: mpirun may have bound it to some; else the ranks of a machine share all. */
static int64_t threads_of_rank(void)
{
    MPI_Comm local;
    int mine = (int)workers_count(0), sum = mine;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, local);
    MPI_Comm_free(&local);
    const int64_t share = sum > online ? (int64_t)mine * online / sum : mine;
    return share > 0 ? share : 1;
}

/* Without --plan it is OUT.plan. */
static int name_plan(struct im2rec_flags *f, const struct imrec_pack_task *task, char room[4096])
{
    if (f->plan[0] != '\0')
        return EXIT_OK;
    const int n = snprintf(room, 4000, "%s.plan", task->out);
    f->plan = room;
    return n < 4000 ? EXIT_OK : cli_refuse(stderr, NAME, "the name of the output is too long");
}

static int take_part(struct im2rec_flags *f, struct imrec_pack_task *task, int rank, int ranks)
{
    static char room[4096]; /* as long as the flags */
    const bool own = f->plan[0] == '\0';
    if (name_plan(f, task, room) != EXIT_OK)
        return EXIT_USAGE;
    int status = rank == 0 ? make_plan(f, task) : EXIT_OK;
    struct hand h = {.plan = f->plan};
    bool all = true;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status != EXIT_OK)
        return status;
    imrec_plan_run_init(&h.run);
    const int64_t threads = threads_of_rank();
    h.run.threads = f->pack.threads != 0 ? f->pack.threads : threads;
    h.run.progress = go_on;
    h.run.user = &h;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        status = lead(f, &h, ranks, own, &all);
    else
        serve(&h);
    if (!all) /* ranks that do not answer would hold up MPI_Finalize() for ever */
        MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

int mpi_run(struct im2rec_flags *f, struct imrec_pack_task *task)
{
    int rank = 0, ranks = 1, provided = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int status = EXIT_FAILED;
    if (provided < MPI_THREAD_FUNNELED)
        status = cli_refuse(stderr, NAME, "this MPI does not allow threads");
    else if ((status = launcher_check(ranks)) == EXIT_OK)
        status = take_part(f, task, rank, ranks);
    MPI_Finalize();
    return status;
}
