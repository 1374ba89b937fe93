/* storage/hdfs/hdfs_request.c - requests, the NameNodes they go to, and what their answers mean. */
#include "storage/hdfs/hdfs_request.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/wire/hosts.h"

#include <errno.h>
#include <string.h>

/* ---- one try ------------------------------------------------------------------------------ */

enum imrec_status hdfs_submit(const struct hdfs_place *p, const struct hdfs_try *t,
                              const char *query, struct buf *url, struct wire_group *group,
                              struct wire_job *job, struct imrec_error *err)
{
    url->n = 0;
    IMREC_TRY(hdfs_place_url(p, t->node, query, url, err));
    job->url = (const char *)url->p;
    job->negotiate = p->negotiate;
    job->traffic = p->traffic;
    return wire_submit(group, job, err);
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static bool has_one_of(const char *message, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(message, list[i]) != NULL)
            return true;
    return false;
}

/* What the same request may be spared a little later: a cluster that starts, and the connections
 * that broke between its servers. */
static bool is_passing(const struct hdfs_refusal *why)
{
    static const char *const exceptions[] = {
        "RetriableException",           "SafeModeException",     "RecoveryInProgressException",
        "AlreadyBeingCreatedException", "BlockMissingException", "ConnectException",
        "SocketTimeoutException",       "EOFException",          "ClosedChannelException"};
    static const char *const messages[] = {/* DataNodes come after the NameNode */
                                           "Failed to find datanode",
                                           "could only be written to 0 of",
                                           /* those that were written to ended */
                                           "All datanodes [", "Failed to replace a bad datanode",
                                           "Unable to close file because the last block"};
    return is_one_of(why->exception, exceptions, sizeof(exceptions) / sizeof(exceptions[0])) ||
           has_one_of(why->message, messages, sizeof(messages) / sizeof(messages[0]));
}

#define TRIES_OF_A_RESTART 6 /* no more are counted: the waits of 60 s are the limit */

static bool has_answered(const struct hdfs_place *p)
{
    for (uint32_t i = 0; i < p->nodes; i++)
        if (wire_host_has_answered(p->node[i]))
            return true;
    return false;
}

/* Where servers have answered before, and cannot be reached or are not ready, they start again. */
static void wait_for_restart(const struct hdfs_place *p, struct hdfs_try *t, struct wire_job *job,
                             const struct hdfs_refusal *why)
{
    if (!has_answered(p) || !(job->unreachable || is_passing(why)))
        return;
    job->unreachable = false;
    if (t->retry.tries > TRIES_OF_A_RESTART)
        t->retry.tries = TRIES_OF_A_RESTART;
}

/* Another NameNode may know better: this one is the standby, or did not answer at all. (After a
 * redirect it is the DataNode that did not.) */
static bool is_of_this_node(const struct wire_job *job, const struct hdfs_refusal *why)
{
    return (job->outcome == WIRE_BROKEN && job->status == 0) ||
           strcmp(why->exception, "StandbyException") == 0;
}

static bool is_good(const struct wire_job *job)
{
    const bool redirect = job->status >= 300 && job->status < 400 && job->redirects == 0;
    return job->outcome == WIRE_ANSWERED && ((job->status >= 200 && job->status < 300) || redirect);
}

/* As if the server were not available now. */
static bool retry_passing(struct wire_retry *r, struct wire_job *job, uint64_t *wait_ms)
{
    const int status = job->status;
    const enum wire_outcome outcome = job->outcome;
    if (outcome == WIRE_ANSWERED)
        job->status = 503;
    const bool again = wire_retry(r, job, wait_ms);
    job->status = status;
    return again;
}

enum hdfs_then hdfs_judge(struct hdfs_place *p, struct hdfs_try *t, struct wire_job *job,
                          struct hdfs_refusal *why, uint64_t *wait_ms)
{
    *why = (struct hdfs_refusal){0};
    *wait_ms = 0;
    if (is_good(job)) {
        hdfs_place_answered(p, t->node);
        return HDFS_ANSWERED;
    }
    if (job->outcome == WIRE_ANSWERED)
        hdfs_answer_refusal(job->said, why);
    const bool elsewhere = is_of_this_node(job, why);
    if (elsewhere) {
        t->node = (t->node + 1) % p->nodes;
        atomic_store(&p->active, t->node); /* for the first step, where this was the second */
        if (++t->hops < p->nodes)
            return HDFS_AGAIN;
    }
    t->hops = 0;
    wait_for_restart(p, t, job, why);
    const bool again = elsewhere || is_passing(why) ? retry_passing(&t->retry, job, wait_ms)
                                                    : wire_retry(&t->retry, job, wait_ms);
    return again ? HDFS_AGAIN : HDFS_FAILED;
}

/* ---- errors ------------------------------------------------------------------------------- */

static int errno_of(const struct hdfs_refusal *why)
{
    static const struct {
        const char *exception;
        int code;
    } known[] = {
        {"FileNotFoundException", ENOENT},
        {"AccessControlException", EACCES},
        {"SecurityException", EACCES},
        {"AuthorizationException", EACCES},
        {"InvalidToken", EACCES},
        {"FileAlreadyExistsException", EEXIST},
        {"ParentNotDirectoryException", ENOTDIR},
        {"NSQuotaExceededException", EDQUOT},
        {"DSQuotaExceededException", EDQUOT},
        {"AlreadyBeingCreatedException", EBUSY},
        {"RecoveryInProgressException", EBUSY},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(why->exception, known[i].exception) == 0)
            return known[i].code;
    return EIO;
}

enum imrec_status hdfs_error(const struct hdfs_place *p, const struct wire_job *job,
                             const struct hdfs_refusal *why, const struct wire_retry *retry,
                             uint64_t offset, struct imrec_error *err)
{
    if (job->outcome != WIRE_ANSWERED || why->exception[0] == '\0')
        return wire_error(job, p->shown, offset, retry, err);
    imrec_error_at(err, IMREC_ERR_IO, offset, "%s: the server answers %d (%s)%s%s", p->shown,
                   job->status, why->exception, why->message[0] != '\0' ? ": " : "", why->message);
    imrec_error_errno(err, errno_of(why));
    return IMREC_ERR_IO;
}

/* ---- a request with its tries ------------------------------------------------------------- */

static enum imrec_status ask(struct hdfs_place *p, const struct hdfs_call *call,
                             struct wire_group *group, struct hdfs_reply *r,
                             struct imrec_error *err)
{
    struct hdfs_try t = {.node = atomic_load(&p->active)};
    enum hdfs_then then;
    uint64_t wait_ms = 0;
    do {
        if (wait_ms != 0)
            clock_sleep_ms(wait_ms);
        r->body.n = 0;
        r->tries++;
        r->job.method = call->method;
        r->job.grow = &r->body;
        IMREC_TRY(hdfs_submit(p, &t, call->query, &r->url, group, &r->job, err));
        (void)wire_wait(group, WIRE_FOREVER);
        then = hdfs_judge(p, &t, &r->job, &r->why, &wait_ms);
    } while (then == HDFS_AGAIN);
    return then == HDFS_ANSWERED ? IMREC_OK
                                 : hdfs_error(p, &r->job, &r->why, &t.retry, IMREC_NO_OFFSET, err);
}

enum imrec_status hdfs_ask(struct hdfs_place *p, const struct hdfs_call *call,
                           struct hdfs_reply **out, struct imrec_error *err)
{
    const uint64_t since_ns = clock_ns();
    struct wire_group group;
    struct hdfs_reply *r = *out = imrec_zalloc(1, sizeof(*r));
    if (r == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for a request", p->shown);
    r->url = BUF_INIT(HDFS_URL_BYTES * 2);
    r->body = BUF_INIT(call->most);
    wire_group_init(&group);
    const enum imrec_status st = ask(p, call, &group, r, err);
    wire_group_destroy(&group);
    traffic_waited(p->traffic, since_ns);
    return st;
}

struct bytes hdfs_reply_body(const struct hdfs_reply *r)
{
    return (struct bytes){r->body.p, r->body.n};
}

void hdfs_reply_free(struct hdfs_reply *r)
{
    if (r == NULL)
        return;
    buf_free(&r->url);
    buf_free(&r->body);
    imrec_free(r);
}

/* ---- short ones --------------------------------------------------------------------------- */

enum imrec_status hdfs_stat(struct hdfs_place *p, struct hdfs_status *out, struct imrec_error *err)
{
    static const struct hdfs_call call = {"GET", "op=GETFILESTATUS", HDFS_ANSWER_BYTES};
    struct hdfs_reply *r;
    enum imrec_status st = hdfs_ask(p, &call, &r, err);
    if (st == IMREC_OK)
        st = hdfs_answer_status(hdfs_reply_body(r), p->shown, out, err);
    hdfs_reply_free(r);
    return st;
}

enum imrec_status hdfs_ask_bool(struct hdfs_place *p, const struct hdfs_call *call, bool *out,
                                struct imrec_error *err)
{
    struct hdfs_reply *r;
    enum imrec_status st = hdfs_ask(p, call, &r, err);
    if (st == IMREC_OK)
        st = hdfs_answer_bool(hdfs_reply_body(r), p->shown, out, err);
    hdfs_reply_free(r);
    return st;
}
