/*
 * storage/wire/engine.c - the thread that all requests of a process go through.
 *
 * It is the only one that touches libcurl's multi handle. Others put jobs into a queue and wake it;
 * a job that is done goes to its group, and wakes the thread that waits for it.
 */
#include "storage/wire/exchange.h"

#include "base/clock.h"
#include "base/error.h"
#include "storage/wire/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ACTIVE_MOST WIRE_AT_ONCE        /* requests under way; more wait in the queue */
#define HOST_MOST   ((long)ACTIVE_MOST) /* connections to one host */
#define IDLE_MOST   ACTIVE_MOST         /* easy handles kept */

static struct {
    struct mutex lock;
    struct thread thread;
    pid_t process; /* that the thread is in; 0: none runs */
    bool stopping, knows_curl;
    CURLM *multi;
    struct wire_job *queue, **last;
    struct wire_exchange *active;
    uint32_t active_count;
    uint64_t active_bytes; /* that ranges under way ask for */
    struct flow flow;
    CURL *idle[IDLE_MOST];
    uint32_t idle_count;
    struct wire_totals totals;
} g = {.lock = MUTEX_INIT};

/* ---- jobs to and from the thread; the lock is held --------------------------------------- */

static void hand_over(struct wire_job *job)
{
    struct wire_group *group = job->group;
    g.totals.requests++;
    g.totals.bytes += job->got;
    traffic_request(job->traffic, job->grow == NULL ? job->got : 0);
    mutex_lock(&group->lock);
    job->next = NULL;
    *group->last = job;
    group->last = &job->next;
    cond_wake_all(&group->done);
    mutex_unlock(&group->lock);
}

static void end_without_answer(struct wire_job *job, enum wire_outcome outcome, const char *why)
{
    job->outcome = outcome;
    job->ended_ns = clock_ns();
    (void)snprintf(job->reason, sizeof(job->reason), "%s", why);
    hand_over(job);
}

static CURL *take_easy(void)
{
    return g.idle_count > 0 ? g.idle[--g.idle_count] : curl_easy_init();
}

static void keep_easy(CURL *easy)
{
    if (easy != NULL && g.idle_count < IDLE_MOST)
        g.idle[g.idle_count++] = easy;
    else
        curl_easy_cleanup(easy);
}

static uint64_t bytes_asked(const struct wire_job *job)
{
    return job->end > job->begin ? job->end - job->begin : 0;
}

/* Whether what is first in the queue leaves it now. */
static bool may_begin(void)
{
    const struct wire_job *job = g.queue;
    if (job == NULL || job->cancelled)
        return job != NULL;
    const uint64_t bytes = bytes_asked(job);
    return g.active_count < ACTIVE_MOST &&
           (bytes == 0 || g.active_bytes == 0 || g.active_bytes + bytes <= flow_bytes(&g.flow));
}

static void begin_job(struct wire_job *job)
{
    CURL *easy = take_easy();
    struct wire_exchange *x = easy != NULL ? exchange_begin(job, easy) : NULL;
    job->begun_ns = clock_ns();
    job->before = g.flow.delivered;
    if (x == NULL || curl_multi_add_handle(g.multi, easy) != CURLM_OK) {
        if (x != NULL)
            exchange_end(x, CURLE_OUT_OF_MEMORY);
        keep_easy(easy);
        end_without_answer(job, WIRE_REFUSED, "no memory for a request");
        return;
    }
    x->next = g.active;
    g.active = x;
    g.active_count++;
    g.active_bytes += bytes_asked(job);
}

static void begin_jobs(void)
{
    while (may_begin()) {
        struct wire_job *job = g.queue;
        g.queue = job->next;
        if (g.queue == NULL)
            g.last = &g.queue;
        if (job->cancelled)
            end_without_answer(job, WIRE_CANCELLED, "it was cancelled");
        else
            begin_job(job);
    }
}

static void end_job(struct wire_exchange *x, CURLcode code)
{
    struct wire_job *job = x->job;
    CURL *easy = x->easy;
    struct wire_exchange **at = &g.active;
    long made = 0;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    g.active_count--;
    g.active_bytes -= bytes_asked(job);
    if (curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &made) == CURLE_OK)
        g.totals.connections += (uint64_t)made;
    curl_multi_remove_handle(g.multi, easy);
    exchange_end(x, code);
    keep_easy(easy);
    if (job->outcome == WIRE_ANSWERED && bytes_asked(job) != 0 && job->got != 0)
        flow_learn(&g.flow, &(struct flow_sample){job->got, job->before, job->begun_ns,
                                                  job->first_ns, job->ended_ns});
    hand_over(job);
}

static void end_cancelled(void)
{
    for (struct wire_exchange *x = g.active, *next; x != NULL; x = next) {
        next = x->next;
        if (x->job->cancelled || g.stopping)
            end_job(x, CURLE_ABORTED_BY_CALLBACK);
    }
}

static void end_answered(void)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(g.multi, &left)) != NULL;) {
        void *x = NULL;
        if (m->msg == CURLMSG_DONE &&
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x) == CURLE_OK)
            end_job(x, m->data.result);
    }
}

/* ---- the thread -------------------------------------------------------------------------- */

static void *engine_main(void *unused)
{
    (void)unused;
    mutex_lock(&g.lock);
    while (!g.stopping) {
        int running;
        end_cancelled();
        begin_jobs();
        mutex_unlock(&g.lock);
        (void)curl_multi_perform(g.multi, &running);
        mutex_lock(&g.lock);
        end_answered();
        if (may_begin())
            continue;
        mutex_unlock(&g.lock);
        (void)curl_multi_poll(g.multi, NULL, 0, 1000, NULL);
        mutex_lock(&g.lock);
    }
    end_cancelled();
    mutex_unlock(&g.lock);
    return NULL;
}

static void before_fork(void)
{
    mutex_lock(&g.lock);
}

static void after_fork(void)
{
    mutex_unlock(&g.lock);
}

static enum imrec_status no_engine(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the thread of network requests");
}

static void limit_connections(void)
{
    curl_multi_setopt(g.multi, CURLMOPT_MAX_HOST_CONNECTIONS, HOST_MOST);
    curl_multi_setopt(g.multi, CURLMOPT_MAXCONNECTS, 2 * HOST_MOST);
    curl_multi_setopt(g.multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
}

/* Neither to outlive the library, nor what curl speaks TLS by, which ends itself by atexit(). */
__attribute__((destructor)) static void stop_engine(void)
{
    if (g.process != getpid())
        return;
    mutex_lock(&g.lock);
    g.stopping = true;
    (void)curl_multi_wakeup(g.multi);
    mutex_unlock(&g.lock);
    thread_join(&g.thread);
    while (g.idle_count > 0)
        curl_easy_cleanup(g.idle[--g.idle_count]);
    (void)curl_multi_cleanup(g.multi);
    g.process = 0;
}

/* Of a process: once. */
static bool know_curl(void)
{
    if (g.knows_curl)
        return true;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || atexit(stop_engine) != 0)
        return false;
    (void)pthread_atfork(before_fork, after_fork, after_fork);
    return g.knows_curl = true;
}

/* A forked process has the state but not the thread: what the parent had under way is not its. */
static enum imrec_status need_engine(struct imrec_error *err)
{
    if (g.process == getpid())
        return IMREC_OK;
    if (!know_curl())
        return no_engine(err);
    g.queue = NULL;
    g.last = &g.queue;
    g.active = NULL;
    g.active_count = g.idle_count = 0;
    g.active_bytes = 0;
    g.flow = (struct flow){0};
    g.stopping = false;
    g.multi = curl_multi_init();
    if (g.multi == NULL)
        return no_engine(err);
    limit_connections();
    const enum imrec_status st = thread_start(&g.thread, "imrec-wire", engine_main, NULL, err);
    if (st == IMREC_OK)
        g.process = getpid();
    else
        (void)curl_multi_cleanup(g.multi);
    return st;
}

/* ---- for everybody ----------------------------------------------------------------------- */

void wire_group_init(struct wire_group *group)
{
    *group = (struct wire_group){.last = &group->finished};
    mutex_init(&group->lock);
    cond_init(&group->done);
}

void wire_group_destroy(struct wire_group *group)
{
    cond_destroy(&group->done);
    mutex_destroy(&group->lock);
}

static void clear_answer(struct wire_job *job)
{
    job->outcome = WIRE_PENDING;
    job->status = 0;
    job->got = 0;
    job->length = UINT64_MAX;
    job->range = (struct wire_range){0};
    job->etag[0] = job->modified[0] = job->encoding[0] = job->location[0] = job->region[0] = '\0';
    job->said[0] = job->reason[0] = '\0';
    job->retry_after = 0;
    job->begun_ns = job->first_ns = job->ended_ns = 0;
    job->cancelled = job->unreachable = job->known = false;
    job->next = NULL;
}

enum imrec_status
wire_submit(struct wire_group *group, struct wire_job *job, struct imrec_error *err)
{
    clear_answer(job);
    job->group = group;
    if (job->traffic == NULL)
        job->traffic = store_scope_traffic();
    mutex_lock(&g.lock);
    const enum imrec_status st = need_engine(err);
    if (st == IMREC_OK) {
        mutex_lock(&group->lock);
        group->pending++;
        mutex_unlock(&group->lock);
        *g.last = job;
        g.last = &job->next;
        (void)curl_multi_wakeup(g.multi);
    }
    mutex_unlock(&g.lock);
    return st;
}

struct wire_job *wire_wait(struct wire_group *group, uint32_t milliseconds)
{
    const uint64_t until = clock_ns() + (uint64_t)milliseconds * 1000000u;
    mutex_lock(&group->lock);
    while (group->finished == NULL && group->pending != 0) {
        const uint64_t now = clock_ns();
        if (milliseconds == WIRE_FOREVER)
            cond_wait(&group->done, &group->lock);
        else if (now < until)
            cond_wait_for(&group->done, &group->lock, (uint32_t)((until - now) / 1000000u) + 1);
        else
            break;
    }
    struct wire_job *job = group->finished;
    if (job != NULL) {
        group->finished = job->next;
        if (group->finished == NULL)
            group->last = &group->finished;
        group->pending--;
    }
    mutex_unlock(&group->lock);
    return job;
}

void wire_cancel(struct wire_job *job)
{
    mutex_lock(&g.lock);
    job->cancelled = true;
    (void)curl_multi_wakeup(g.multi);
    mutex_unlock(&g.lock);
}

void wire_totals(struct wire_totals *out)
{
    mutex_lock(&g.lock);
    *out = g.totals;
    mutex_unlock(&g.lock);
}
