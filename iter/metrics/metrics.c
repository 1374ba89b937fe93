/* iter/metrics/metrics.c - the thread that writes the file, or serves the socket. */
#include "iter/metrics/metrics.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http/http_server.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/threads.h"
#include "iter/metrics/metrics_target.h"
#include "storage/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_MS    5000               /* from one file to the next */
#define TEXT_BYTES ((size_t)64 << 10) /* at most */
#define LAST_NS    10000000000u
#define LAST_MS    100 /* between two looks at what is written last */

struct metrics {
    struct metrics_target target;
    struct metrics_source source;
    struct thread thread;
    /* a socket */
    int wake[2]; /* a byte in it ends the thread */
    struct http_server *server;
    /* a file */
    struct mutex lock;
    struct cond end;
    bool writes; /* it has a thread that does */
    bool ending, written;
    struct stop stop; /* of a disk that hangs */
    bool warned;
};

static enum imrec_status text(void *context, struct buf *out)
{
    struct metrics *m = context;
    struct metric all[METRICS_MOST];
    const size_t n = m->source.read(m->source.context, all);
    return metrics_write(all, n, m->source.labels, out, NULL);
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* Who reads sees the one before, or this one. */
static enum imrec_status write_file(struct metrics *m, struct imrec_error *err)
{
    struct buf body = BUF_INIT(TEXT_BYTES);
    struct sink *to = NULL;
    enum imrec_status st = text(m, &body);
    if (st != IMREC_OK)
        imrec_fail(err, st, "no memory for the text of metrics=%.200s", m->target.file);
    else
        st = sink_open(m->target.file, &to, err);
    if (st == IMREC_OK) {
        sink_stop_with(to, &m->stop);
        st = sink_append(to, body.p, body.n, err);
        if (st == IMREC_OK)
            st = sink_commit(to, err);
        else
            sink_abort(to);
    }
    buf_free(&body);
    return st;
}

/* Numbers that cannot be written stop no training: it is said once. */
static void renew(struct metrics *m)
{
    struct imrec_error err;
    if (write_file(m, &err) == IMREC_OK || m->warned)
        return;
    m->warned = true;
    imrec_log(IMREC_LOG_WARNING, "metrics=%.200s: %.300s", m->target.file, err.message);
}

static void *file_main(void *arg)
{
    struct metrics *m = arg;
    bool last = false;
    mutex_lock(&m->lock);
    while (!last) {
        if (!m->ending)
            cond_wait_for(&m->end, &m->lock, FILE_MS);
        last = m->ending;
        mutex_unlock(&m->lock);
        renew(m);
        mutex_lock(&m->lock);
    }
    mutex_unlock(&m->lock);
    cond_tell(&m->lock, &m->written, &m->end, NULL);
    return NULL;
}

/* The last numbers are worth a wait for a slow disk, but not for one that hangs. */
static void wait_for_file(struct metrics *m)
{
    const uint64_t begin = clock_ns();
    mutex_lock(&m->lock);
    while (m->writes && !m->written && clock_ns() - begin < LAST_NS)
        cond_wait_for(&m->end, &m->lock, LAST_MS);
    mutex_unlock(&m->lock);
}

/* ---- a socket -------------------------------------------------------------------------------- */

static void *server_main(void *arg)
{
    http_server_run(((struct metrics *)arg)->server);
    return NULL;
}

static enum imrec_status answer(void *context, const struct http_request *q, struct http_answer *a)
{
    if (strcmp(q->path, "/metrics") != 0) {
        a->status = "404 Not Found";
        return IMREC_OK;
    }
    a->status = "200 OK";
    a->type = "text/plain; version=0.0.4; charset=utf-8";
    return text(context, &a->body);
}

static enum imrec_status start_server(struct metrics *m, struct imrec_error *err)
{
    if (pipe(m->wake) != 0) {
        m->wake[0] = m->wake[1] = -1;
        return imrec_fail(err, IMREC_ERR_IO, "metrics=%.200s: the system refuses a pipe: %s",
                          m->target.listener.where, strerror(errno));
    }
    (void)fcntl(m->wake[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(m->wake[1], F_SETFD, FD_CLOEXEC);
    const struct http_service http = {m->target.listener.fd, m->wake[0], m, answer, TEXT_BYTES};
    IMREC_TRY(http_server_new(&http, &m->server, err));
    return thread_start(&m->thread, "imrec-metrics", server_main, m, err);
}

/* ---- life ------------------------------------------------------------------------------------ */

enum imrec_status metrics_open(const char *target, struct metrics **out, struct imrec_error *err)
{
    struct metrics *m = imrec_zalloc(1, sizeof(*m));
    *out = NULL;
    if (m == NULL)
        return IMREC_NO_MEMORY(err, "no memory for metrics");
    mutex_init(&m->lock);
    cond_init(&m->end);
    m->wake[0] = m->wake[1] = -1;
    const enum imrec_status st = metrics_target_open(target, &m->target, err);
    if (st == IMREC_OK)
        *out = m;
    else
        metrics_stop(m);
    return st;
}

enum imrec_status
metrics_start(struct metrics *m, const struct metrics_source *source, struct imrec_error *err)
{
    m->source = *source;
    if (m->target.listener.fd >= 0)
        return start_server(m, err);
    IMREC_TRY(write_file(m, err));
    IMREC_TRY(thread_start(&m->thread, "imrec-metrics", file_main, m, err));
    m->writes = true;
    return IMREC_OK;
}

const char *metrics_where(const struct metrics *m)
{
    return m != NULL ? m->target.listener.where : NULL;
}

void metrics_stop(struct metrics *m)
{
    if (m == NULL)
        return;
    cond_tell(&m->lock, &m->ending, &m->end, NULL);
    wait_for_file(m);
    stop_ask(&m->stop);
    if (m->wake[1] >= 0) {
        while (write(m->wake[1], "", 1) < 0 && errno == EINTR) {
        }
    }
    thread_join(&m->thread);
    http_server_free(m->server);
    metrics_target_close(&m->target);
    for (int i = 0; i < 2; i++)
        if (m->wake[i] >= 0)
            close(m->wake[i]);
    cond_destroy(&m->end);
    mutex_destroy(&m->lock);
    imrec_free(m);
}
