/* base/http/http_server.c - a small HTTP/1.1 server: one thread, sockets that never block.
 *
 * A client has a bounded time and a bounded request; where all places are taken, the one that
 * came first gives way: who connects and stays silent keeps nobody out. Every answer ends its
 * connection. */
#include "base/http/http_server.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/system.h"

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

struct http_server {
    struct http_service h;
    bool pausing; /* nothing is accepted until the next look */
    struct client clients[CLIENTS];
};

/* ---- a request ------------------------------------------------------------------------------ */

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

/* The value of Host in the lines after the first, cut out of the head; "" where there is none.
 * False: there are two. */
static bool take_host(char *head, const char **host)
{
    *host = "";
    bool found = false;
    for (char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, "Host:", 5) != 0)
            continue;
        if (found)
            return false;
        found = true;
        *host = line + 7 + strspn(line + 7, " \t");
    }
    if (!found)
        return true;
    char *end = (char *)*host + strcspn(*host, "\r");
    while (end > *host && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return true;
}

/* The request in the text, which is cut into pieces; or what is wrong with it. */
static const char *read_request(char *head, struct http_request *q)
{
    size_t method, n;
    const char *target;
    char minor;
    *q = (struct http_request){.query = ""};
    if (!take_line(head, &method, &target, &n, &minor))
        return "400 Bad Request";
    const bool get = method == 3 && memcmp(head, "GET", 3) == 0;
    q->head = method == 4 && memcmp(head, "HEAD", 4) == 0;
    if (!take_host(head, &q->host) || (minor == '1' && q->host[0] == '\0'))
        return "400 Bad Request";
    if (!get && !q->head)
        return "405 Method Not Allowed";
    char *path = head + (target - head);
    path[n] = '\0';
    q->path = path;
    char *query = strchr(path, '?');
    if (query != NULL) {
        *query = '\0';
        q->query = query + 1;
    }
    return NULL;
}

/* The whole answer into c->out. */
static enum imrec_status
write_answer(const struct http_service *h, struct client *c, const char *wrong, char *request)
{
    char head[HTTP_HEADERS_BYTES + 300];
    struct http_request q = {.query = ""};
    struct http_answer a = {.type = "text/plain; charset=utf-8", .body = BUF_INIT(h->body_bytes)};
    enum imrec_status st = IMREC_OK;
    a.status = wrong != NULL ? wrong : read_request(request, &q);
    const bool refused = a.status != NULL;
    if (!refused)
        st = h->answer(h->context, &q, &a);
    if (st == IMREC_OK && (refused || a.status[0] == '4') && a.body.n == 0)
        st = buf_append(&a.body, a.status, strlen(a.status), NULL);
    const int n = snprintf(head, sizeof(head),
                           "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s"
                           "Connection: close\r\n\r\n",
                           a.status, a.type, a.body.n, a.headers,
                           strncmp(a.status, "405", 3) == 0 ? "Allow: GET, HEAD\r\n" : "");
    c->out = BUF_INIT(h->body_bytes + sizeof(head));
    if (st == IMREC_OK && (size_t)n < sizeof(head))
        st = buf_append(&c->out, head, (size_t)n, NULL);
    if (st == IMREC_OK && !q.head)
        st = buf_append(&c->out, a.body.p, a.body.n, NULL);
    buf_free(&a.body);
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

/* `wrong`: the status of what is no request; NULL: what has come is one. */
static void answer(struct http_server *s, struct client *c, const char *wrong)
{
    c->answering = true;
    if (write_answer(&s->h, c, wrong, c->in) != IMREC_OK)
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

static void take_request(struct http_server *s, struct client *c)
{
    const bool complete = strstr(c->in, "\r\n\r\n") != NULL;
    size_t method, n;
    const char *target;
    char minor;
    if (complete)
        answer(s, c, NULL);
    else if (strlen(c->in) != c->n || /* a NUL is in no request */
             (strchr(c->in, '\n') != NULL && !take_line(c->in, &method, &target, &n, &minor)))
        answer(s, c, "400 Bad Request");
    else if (c->n == REQUEST_BYTES)
        answer(s, c, "431 Request Header Fields Too Large");
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

static void receive(struct http_server *s, struct client *c)
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
static void serve(struct http_server *s, struct client *c, short seen)
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
static struct client *place_for(struct http_server *s)
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

static void accept_one(struct http_server *s)
{
    const int fd = system_accept(s->h.listener);
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
static int look_at_times(struct http_server *s)
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
static bool step(struct http_server *s)
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

enum imrec_status
http_server_new(const struct http_service *h, struct http_server **out, struct imrec_error *err)
{
    struct http_server *s = imrec_zalloc(1, sizeof(*s));
    *out = s;
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the clients of a server");
    s->h = *h;
    for (size_t i = 0; i < CLIENTS; i++)
        s->clients[i].fd = -1;
    return IMREC_OK;
}

void http_server_run(struct http_server *s)
{
    while (step(s)) {
    }
}

void http_server_free(struct http_server *s)
{
    for (size_t i = 0; s != NULL && i < CLIENTS; i++)
        leave(&s->clients[i]);
    imrec_free(s);
}
