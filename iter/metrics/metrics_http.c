/* iter/metrics/metrics_http.c - a small HTTP/1.1 server: one thread, sockets that never block.
 *
 * A client has a bounded time and a bounded request; where all places are taken, the one that
 * came first gives way: who connects and stays silent keeps nobody out. Every answer ends its
 * connection. */
#define _GNU_SOURCE /* accept4() */
#include "iter/metrics/metrics_http.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS       32
#define REQUEST_BYTES 8192u
#define DROPPED_BYTES (1u << 20) /* of a client whose answer is sent, until its connection ends */
#define CLIENT_NS     ((uint64_t)10000000000) /* from its connecting to its end */
#define PAUSE_MS      100                     /* where the system has no descriptor to give */

struct client {
    int fd;         /* -1: the place is free */
    bool answering; /* `out` is being sent; what still comes is dropped */
    bool silent;    /* the client sends nothing more */
    uint64_t until;
    size_t n, sent; /* n: bytes received, those that were dropped too */
    struct buf out;
    char in[REQUEST_BYTES + 1]; /* NUL-terminated */
};

struct metrics_server {
    struct metrics_http h;
    bool pausing; /* nothing is accepted until the next look */
    struct client clients[CLIENTS];
};

/* ---- a request ------------------------------------------------------------------------------ */

struct answer {
    const char *status; /* "200 OK" */
    bool body, metrics; /* without metrics the body is the status */
};

/* Whether the lines after the first have a Host, as HTTP/1.1 wants it. */
static bool has_host(const char *head)
{
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, "Host:", 5) == 0)
            return true;
    return false;
}

/* The target without its query is /metrics. */
static bool is_metrics(const char *target, size_t n)
{
    static const char path[] = "/metrics";
    const size_t path_bytes = sizeof(path) - 1;
    return n >= path_bytes && memcmp(target, path, path_bytes) == 0 &&
           (n == path_bytes || target[path_bytes] == '?');
}

/* METHOD SP TARGET SP HTTP/1.x: false, and nothing that would be known. */
static bool take_line(const char *head, size_t *method, const char **target, size_t *n, char *minor)
{
    *method = strspn(head, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (*method == 0 || head[*method] != ' ')
        return false;
    *target = head + *method + 1;
    *n = strcspn(*target, " \r\n");
    const char *version = *target + *n;
    if (*n == 0 || strncmp(version, " HTTP/1.", 8) != 0 || strncmp(version + 9, "\r\n", 2) != 0)
        return false;
    *minor = version[8];
    return *minor == '0' || *minor == '1';
}

static struct answer judge(const char *head)
{
    size_t method, n;
    const char *target;
    char minor;
    if (!take_line(head, &method, &target, &n, &minor) || (minor == '1' && !has_host(head)))
        return (struct answer){"400 Bad Request", true, false};
    const bool get = method == 3 && memcmp(head, "GET", 3) == 0,
               only_head = method == 4 && memcmp(head, "HEAD", 4) == 0;
    if (!get && !only_head)
        return (struct answer){"405 Method Not Allowed", true, false};
    if (!is_metrics(target, n))
        return (struct answer){"404 Not Found", get, false};
    return (struct answer){"200 OK", get, true};
}

/* The whole answer into c->out. */
static enum imrec_status
write_answer(const struct metrics_http *h, struct client *c, struct answer a)
{
    char head[300];
    struct buf body = BUF_INIT(METRICS_TEXT_BYTES);
    enum imrec_status st = a.metrics ? h->text(h->context, &body)
                                     : buf_append(&body, a.status, strlen(a.status), NULL);
    const int n = snprintf(head, sizeof(head),
                           "HTTP/1.1 %s\r\nContent-Type: text/plain%s; charset=utf-8\r\n"
                           "Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
                           a.status, a.metrics ? "; version=0.0.4" : "", body.n,
                           a.status[0] == '4' && a.status[2] == '5' ? "Allow: GET, HEAD\r\n" : "");
    c->out = BUF_INIT(METRICS_TEXT_BYTES + sizeof(head));
    if (st == IMREC_OK)
        st = buf_append(&c->out, head, (size_t)n, NULL);
    if (st == IMREC_OK && a.body)
        st = buf_append(&c->out, body.p, body.n, NULL);
    buf_free(&body);
    return st;
}

/* ---- a client ------------------------------------------------------------------------------- */

static void leave(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    buf_free(&c->out);
    c->fd = -1;
}

static void answer(struct metrics_server *s, struct client *c, struct answer a)
{
    c->answering = true;
    if (write_answer(&s->h, c, a) != IMREC_OK)
        leave(c);
}

/* What is left to send; after the last byte the client may still send: a connection that is closed
 * before all was read would take the answer back. */
static void send_more(struct client *c)
{
    while (c->sent < c->out.n) {
        const ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                leave(c);
            return;
        }
        c->sent += (size_t)n;
    }
    if (c->silent)
        leave(c);
    else
        (void)shutdown(c->fd, SHUT_WR);
}

static void take_request(struct metrics_server *s, struct client *c)
{
    const bool complete = strstr(c->in, "\r\n\r\n") != NULL;
    size_t method, n;
    const char *target;
    char minor;
    if (complete)
        answer(s, c, judge(c->in));
    else if (strlen(c->in) != c->n || /* a NUL is in no request */
             (strchr(c->in, '\n') != NULL && !take_line(c->in, &method, &target, &n, &minor)))
        answer(s, c, (struct answer){"400 Bad Request", true, false});
    else if (c->n == REQUEST_BYTES)
        answer(s, c, (struct answer){"431 Request Header Fields Too Large", true, false});
    else
        return;
    if (c->fd >= 0)
        send_more(c);
}

static void drop(struct client *c)
{
    char dropped[4096];
    const ssize_t n = recv(c->fd, dropped, sizeof(dropped), 0);
    if (n > 0)
        c->n += (size_t)n;
    c->silent = n == 0;
    if ((n == 0 && c->sent == c->out.n) || c->n > DROPPED_BYTES ||
        (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        leave(c);
}

static void receive(struct metrics_server *s, struct client *c)
{
    const ssize_t n = recv(c->fd, c->in + c->n, REQUEST_BYTES - c->n, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n <= 0) {
        leave(c);
        return;
    }
    c->n += (size_t)n;
    c->in[c->n] = '\0';
    take_request(s, c);
}

/* What poll() has seen of it. */
static void serve(struct metrics_server *s, struct client *c, short seen)
{
    if ((seen & POLLERR) || ((seen & POLLHUP) && c->silent)) {
        leave(c);
        return;
    }
    if (seen & POLLOUT)
        send_more(c);
    if (c->fd < 0 || !(seen & (POLLIN | POLLHUP)))
        return;
    if (c->answering)
        drop(c);
    else
        receive(s, c);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* A free place; else that of the client that came first. */
static struct client *place_for(struct metrics_server *s)
{
    struct client *first = &s->clients[0];
    for (size_t i = 0; i < CLIENTS; i++) {
        if (s->clients[i].fd < 0)
            return &s->clients[i];
        if (s->clients[i].until < first->until)
            first = &s->clients[i];
    }
    leave(first);
    return first;
}

static void accept_one(struct metrics_server *s)
{
    const int fd = accept4(s->h.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* too many descriptors: not again at once */
        s->pausing = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return;
    }
    struct client *c = place_for(s);
    memset(c, 0, sizeof(*c));
    c->fd = fd;
    c->until = clock_ns() + CLIENT_NS;
}

/* What the next client is waited for, ms; those whose time is over leave. */
static int look_at_times(struct metrics_server *s)
{
    const uint64_t now = clock_ns();
    uint64_t first = s->pausing ? now + (uint64_t)PAUSE_MS * 1000000 : UINT64_MAX;
    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *c = &s->clients[i];
        if (c->fd >= 0 && c->until <= now)
            leave(c);
        if (c->fd >= 0 && c->until < first)
            first = c->until;
    }
    return first == UINT64_MAX ? -1 : (int)((first - now) / 1000000 + 1);
}

/* False: the end. */
static bool step(struct metrics_server *s)
{
    struct pollfd p[2 + CLIENTS];
    const int timeout = look_at_times(s);
    p[0] = (struct pollfd){s->h.wake, POLLIN, 0};
    p[1] = (struct pollfd){s->pausing ? -1 : s->h.listener, POLLIN, 0};
    for (size_t i = 0; i < CLIENTS; i++) {
        const struct client *c = &s->clients[i];
        const bool sends = c->answering && c->sent < c->out.n;
        p[2 + i] =
            (struct pollfd){c->fd, (short)((c->silent ? 0 : POLLIN) | (sends ? POLLOUT : 0)), 0};
    }
    s->pausing = false;
    if (poll(p, 2 + CLIENTS, timeout) < 0)
        return errno == EINTR || errno == EAGAIN || errno == ENOMEM;
    if (p[0].revents != 0)
        return false;
    for (size_t i = 0; i < CLIENTS; i++)
        serve(s, &s->clients[i], p[2 + i].revents);
    if (p[1].revents != 0)
        accept_one(s);
    return true;
}

enum imrec_status metrics_server_new(const struct metrics_http *h, struct metrics_server **out,
                                     struct imrec_error *err)
{
    struct metrics_server *s = imrec_zalloc(1, sizeof(*s));
    *out = s;
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the clients of metrics");
    s->h = *h;
    for (size_t i = 0; i < CLIENTS; i++)
        s->clients[i].fd = -1;
    return IMREC_OK;
}

void metrics_server_run(struct metrics_server *s)
{
    while (step(s)) {
    }
}

void metrics_server_free(struct metrics_server *s)
{
    for (size_t i = 0; s != NULL && i < CLIENTS; i++)
        leave(&s->clients[i]);
    imrec_free(s);
}
