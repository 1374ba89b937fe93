/*
 * tests/support/http_proxy/exchange.c - requests to the upstream, and its answers.
 *
 * Heads are forwarded but for what concerns one connection: Connection, Keep-Alive, Expect (which
 * is answered here), Transfer-Encoding of answers. Host stays, and with it signatures.
 */
#include "tests/support/http_proxy/exchange.h"

#include "tests/support/http_proxy/sending.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUT_MAX = 256 << 10, READ = 64 << 10, HEAD_MAX = 1 << 20, PIPE_BYTES = 1 << 20 };

struct exchange {
    struct server *server;
    struct connection *client; /* NULL: idle */
    struct exchange *next;     /* of those that are idle */
    struct watch watch;
    struct fifo in, out;
    struct framing reply;
    int pipe[2]; /* -1: not made */
    size_t piped;
    bool reused;    /* it may have been closed before the request came */
    bool sent_all;  /* of the request is in `out`, or further */
    bool head_seen; /* of the final answer */
    bool wanted;    /* the client waits for more of the body */
    bool keep;
};

static void flush(struct exchange *x);
static void forward(struct connection *c, bool may_reuse);

static void listen_for(struct exchange *x)
{
    const bool reads = x->client == NULL || !x->head_seen || x->wanted;
    loop_watch(&x->server->loop, &x->watch,
               (reads ? EPOLLIN : 0) | (fifo_size(&x->out) != 0 ? EPOLLOUT : 0));
}

static void discard(struct exchange *x)
{
    for (int i = 0; i < 2; i++)
        if (x->pipe[i] >= 0)
            close(x->pipe[i]);
    loop_close(&x->server->loop, &x->watch);
    fifo_free(&x->in);
    fifo_free(&x->out);
    loop_bury(&x->server->loop, x);
}

/* The upstream is gone before it answered. */
static void fail(struct exchange *x)
{
    struct connection *c = x->client;
    const bool again = x->reused && fifo_size(&x->in) == 0 && c->entry.body_in == 0 && x->sent_all;
    c->exchange = NULL;
    discard(x);
    if (again) {
        forward(c, false);
        return;
    }
    answer_text(&c->answer, 502, "the upstream does not answer\n");
    connection_answer(c);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void strip(struct head *h)
{
    head_remove(h, "Connection");
    head_remove(h, "Keep-Alive");
    head_remove(h, "Proxy-Connection");
}

/* The final head of an answer is in a->head. */
static void begin_answer(struct exchange *x, struct head *h)
{
    struct connection *c = x->client;
    struct answer *a = &c->answer;
    const int status = atoi(h->start[1]);
    x->head_seen = true;
    x->keep = head_keeps_alive(h, h->start[0]);
    x->reply = framing_of(h, true);
    if (c->head_only || status == 204 || status == 304)
        x->reply = (struct framing){.done = true};
    a->head = *h;
    *h = (struct head){0};
    a->source = SOURCE_STREAM;
    a->length = x->reply.done                                     ? 0
                : x->reply.kind == FRAMED_LENGTH && !x->reply.bad ? x->reply.left
                                                                  : UINT64_MAX;
    strip(&a->head);
    head_remove(&a->head, "Transfer-Encoding");
    listen_for(x);
    connection_answer(c);
}

/* Heads of interim answers are dropped: the client has its "100 Continue" from here. */
static void read_head(struct exchange *x)
{
    for (size_t n; !x->head_seen && (n = head_size(&x->in)) != 0;) {
        struct head h = {0};
        const bool good = head_parse(&h, fifo_front(&x->in), n);
        fifo_drop(&x->in, n);
        if (!good)
            fail(x);
        else if (h.start[1][0] != '1')
            begin_answer(x, &h);
        head_free(&h);
        if (!good)
            return;
    }
}

static void read_more_of_head(struct exchange *x)
{
    const ssize_t n = recv(x->watch.fd, fifo_room(&x->in, READ), READ, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        fifo_added(&x->in, (size_t)n);
    if (n <= 0 || fifo_size(&x->in) > HEAD_MAX)
        fail(x);
    else
        read_head(x);
}

/* Straight into what is sent, where nothing is framed. */
static ssize_t read_straight(struct connection *c, size_t n)
{
    struct answer *a = &c->answer;
    struct exchange *x = c->exchange;
    char *p = fifo_room(&a->out, n);
    const ssize_t got = recv(x->watch.fd, p, n, 0);
    if (got > 0) {
        answer_spoil(a, p, (size_t)got);
        fifo_added(&a->out, (size_t)got);
        framing_skip(&x->reply, (size_t)got);
    }
    return got;
}

static ssize_t read_framed(struct exchange *x)
{
    const ssize_t got = recv(x->watch.fd, fifo_room(&x->in, READ), READ, 0);
    if (got > 0)
        fifo_added(&x->in, (size_t)got);
    return got;
}

static void pass_piece(struct connection *c, size_t n)
{
    struct answer *a = &c->answer;
    struct exchange *x = c->exchange;
    answer_chunk_head(a, n);
    char *p = fifo_room(&a->out, n);
    memcpy(p, fifo_front(&x->in), n);
    answer_spoil(a, p, n);
    fifo_added(&a->out, n);
    answer_chunk_end(a);
    framing_took(&x->reply, &x->in, n);
}

enum filled exchange_fill(struct connection *c, size_t *n)
{
    struct exchange *x = c->exchange;
    for (;;) {
        const size_t piece = framing_piece(&x->reply, &x->in);
        if (piece != 0) {
            *n = piece < *n ? piece : *n;
            pass_piece(c, *n);
            return FILLED;
        }
        if (x->reply.done || x->reply.bad)
            return x->reply.bad ? FILL_BROKEN : FILL_ENDED;
        const bool straight = !c->answer.chunked && x->reply.kind == FRAMED_LENGTH;
        const ssize_t got = straight ? read_straight(c, *n) : read_framed(x);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            x->wanted = true;
            listen_for(x);
            return FILL_WAITS;
        }
        if (got <= 0 && x->reply.kind == FRAMED_UNTIL_CLOSE)
            return FILL_ENDED;
        if (got <= 0)
            return FILL_BROKEN;
        if (straight) {
            *n = (size_t)got;
            return FILLED;
        }
    }
}

bool exchange_is_plain(const struct connection *c)
{
    const struct exchange *x = c->exchange;
    return c->answer.source == SOURCE_STREAM && x != NULL && !c->answer.chunked &&
           !answer_is_spoilt(&c->answer) && x->reply.kind == FRAMED_LENGTH &&
           fifo_size(&x->in) == 0;
}

/* Made once, and kept for the next answer. */
static bool has_pipe(struct exchange *x)
{
    if (x->pipe[0] >= 0)
        return true;
    if (pipe2(x->pipe, O_NONBLOCK | O_CLOEXEC) != 0)
        return false;
    (void)fcntl(x->pipe[0], F_SETPIPE_SZ, PIPE_BYTES); /* or as large as it is */
    return true;
}

enum filled exchange_pump(struct connection *c, size_t want, size_t *n)
{
    struct exchange *x = c->exchange;
    if (x->piped == 0) {
        if (!has_pipe(x))
            return FILL_BROKEN;
        const ssize_t got =
            splice(x->watch.fd, NULL, x->pipe[1], NULL, want, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            x->wanted = true;
            listen_for(x);
            return FILL_WAITS;
        }
        if (got <= 0)
            return FILL_BROKEN;
        x->piped = (size_t)got;
        framing_skip(&x->reply, x->piped);
    }
    *n = x->piped;
    return FILLED;
}

ssize_t exchange_drain(struct connection *c, size_t n)
{
    struct exchange *x = c->exchange;
    const ssize_t sent =
        splice(x->pipe[0], NULL, c->watch.fd, NULL, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    x->piped -= sent > 0 ? (size_t)sent : 0;
    return sent;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void flush(struct exchange *x)
{
    while (fifo_size(&x->out) != 0) {
        const ssize_t n = send(x->watch.fd, fifo_front(&x->out), fifo_size(&x->out), MSG_NOSIGNAL);
        if (n <= 0)
            break; /* not connected, full, or gone: which recv() will say */
        fifo_drop(&x->out, (size_t)n);
    }
    listen_for(x);
}

static void drop_idle(struct exchange *x)
{
    struct exchange **at = &x->server->idle;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    discard(x);
}

static void on_event(struct watch *w, uint32_t events)
{
    struct exchange *x = OWNER(w, struct exchange, watch);
    struct connection *c = x->client;
    if (c == NULL) {
        drop_idle(x);
        return;
    }
    if ((events & EPOLLOUT) != 0) {
        flush(x);
        if (fifo_size(&x->out) < OUT_MAX)
            connection_progress(c);
        if (c->exchange != x)
            return;
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    if (!x->head_seen) {
        read_more_of_head(x);
    } else if (x->wanted) {
        x->wanted = false;
        listen_for(x);
        connection_send(c);
    } else {
        loop_pause(&x->server->loop, &x->watch); /* it has ended; what it sent is still there */
    }
}

static struct exchange *connect_to(struct server *s)
{
    const int yes = 1;
    const int fd = socket(s->upstream.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    struct exchange *x = must(calloc(1, sizeof(*x)));
    x->server = s;
    x->watch = (struct watch){.fd = fd, .ready = on_event};
    x->pipe[0] = x->pipe[1] = -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    (void)!connect(fd, (const struct sockaddr *)&s->upstream, s->upstream_size);
    return x;
}

static void put_head(struct connection *c, struct fifo *out)
{
    struct head h = {0};
    head_start(&h, c->request.start[0], c->request.start[1], "HTTP/1.1");
    for (size_t i = 0; i < c->request.count; i++)
        head_add(&h, c->request.fields[i].name, c->request.fields[i].value);
    strip(&h);
    head_remove(&h, "Expect");
    head_write(&h, out);
    head_free(&h);
}

static void forward(struct connection *c, bool may_reuse)
{
    struct server *s = c->server;
    struct exchange *x = may_reuse ? s->idle : NULL;
    if (x != NULL)
        s->idle = x->next;
    const bool reused = x != NULL;
    if (x == NULL && (x = connect_to(s)) == NULL) {
        answer_text(&c->answer, 502, "no socket for the upstream\n");
        connection_answer(c);
        return;
    }
    c->exchange = x;
    x->client = c;
    x->reused = reused;
    x->sent_all = c->framing.done;
    x->head_seen = x->wanted = x->keep = false;
    put_head(c, &x->out);
    flush(x);
}

static void begin(struct connection *c)
{
    forward(c, true);
}

static size_t body(struct connection *c, const char *p, size_t n)
{
    struct exchange *x = c->exchange;
    const bool chunked = c->framing.kind == FRAMED_CHUNKED;
    if (x == NULL)
        return n;
    if (fifo_size(&x->out) >= OUT_MAX)
        return 0;
    if (chunked)
        fifo_print(&x->out, "%zx\r\n", n);
    fifo_add(&x->out, p, n);
    if (chunked)
        fifo_add(&x->out, "\r\n", 2);
    flush(x);
    return n;
}

static void end(struct connection *c)
{
    struct exchange *x = c->exchange;
    if (x == NULL || x->sent_all)
        return;
    if (c->framing.kind == FRAMED_CHUNKED)
        fifo_add(&x->out, "0\r\n\r\n", 5);
    x->sent_all = true;
    flush(x);
}

const struct handler upstream_handler = {begin, body, end};

/* ---- the pool -------------------------------------------------------------------------------- */

void exchange_release(struct connection *c)
{
    struct exchange *x = c->exchange;
    if (x == NULL)
        return;
    c->exchange = NULL;
    x->client = NULL;
    if (!x->keep || !x->reply.done || !x->sent_all || x->piped != 0 ||
        fifo_size(&x->out) + fifo_size(&x->in) != 0) {
        discard(x);
        return;
    }
    fifo_slim(&x->in);
    fifo_slim(&x->out);
    x->next = c->server->idle;
    c->server->idle = x;
    listen_for(x);
}

bool exchange_resolve(struct server *s)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char host[256];
    struct addrinfo *found;
    const char *colon = strrchr(s->set.upstream, ':');
    snprintf(host, sizeof(host), "%.*s", (int)(colon - s->set.upstream), s->set.upstream);
    const int code = getaddrinfo(host, colon + 1, &hints, &found);
    if (code != 0) {
        fprintf(stderr, "http_proxy: %s: %s\n", s->set.upstream, gai_strerror(code));
        return false;
    }
    memcpy(&s->upstream, found->ai_addr, found->ai_addrlen);
    s->upstream_size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

void exchange_close_idle(struct server *s)
{
    while (s->idle != NULL)
        drop_idle(s->idle);
}
