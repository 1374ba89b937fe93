/* tests/support/http_proxy/connection.c - the stages of a client's connection. */
#include "tests/support/http_proxy/connection.h"

#include "tests/support/http_proxy/exchange.h"
#include "tests/support/http_proxy/scripted.h"
#include "tests/support/http_proxy/sending.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_MAX = 256 << 10,
    IN_MAX = 512 << 10, /* read, and not yet taken */
    READ_HEAD = 8 << 10,
    READ_BODY = 256 << 10,
    END_MS = 2000, /* the client has to close */
    MS = 1000000,
};

/* ---- leaving --------------------------------------------------------------------------------- */

static void drop_upload(struct upload *u)
{
    if (u->fd >= 0) {
        close(u->fd);
        unlink(u->part);
    }
    free(u->part);
    free(u->path);
    *u = (struct upload){.fd = -1};
}

/* What one exchange held; its connection remains. */
static void end_exchange(struct connection *c)
{
    if (c->counted)
        stats_end(&c->server->stats, &c->entry);
    c->counted = false;
    exchange_release(c);
    answer_free(&c->answer);
    head_free(&c->request);
    fifo_free(&c->kept);
    drop_upload(&c->upload);
}

static void leave(struct connection *c)
{
    struct server *s = c->server;
    c->stage = STAGE_GONE;
    end_exchange(c);
    loop_clear(&s->loop, &c->timer);
    throttle_leave(&s->throttle, &c->turn);
    loop_close(&s->loop, &c->watch);
    fifo_free(&c->in);
    if (c->before != NULL)
        c->before->next = c->next;
    else
        s->connections = c->next;
    if (c->next != NULL)
        c->next->before = c->before;
    s->stats.open--;
    loop_bury(&s->loop, c);
}

static void send_reset(struct connection *c)
{
    const struct linger now = {.l_onoff = 1};
    setsockopt(c->watch.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    leave(c);
}

/* What was sent before must arrive first, where the client reads it: else a test would see any
 * number of bytes. */
void connection_reset(struct connection *c)
{
    int unsent = 0;
    const bool known = ioctl(c->watch.fd, SIOCOUTQ, &unsent) == 0;
    if (c->stage != STAGE_ENDING) {
        c->stage = STAGE_ENDING;
        c->reset_at_ns = clock_ns() + (int64_t)END_MS * MS;
    }
    if (!known || unsent == 0 || clock_ns() >= c->reset_at_ns)
        send_reset(c);
    else
        loop_at(&c->server->loop, &c->timer, MS);
}

void connection_end(struct connection *c)
{
    shutdown(c->watch.fd, SHUT_WR);
    c->stage = STAGE_ENDING;
    end_exchange(c);
    fifo_free(&c->in);
    loop_at(&c->server->loop, &c->timer, (int64_t)END_MS * MS);
}

void connection_leave_all(struct server *s)
{
    while (s->connections != NULL)
        leave(s->connections);
}

/* ---- answering ------------------------------------------------------------------------------- */

void connection_answer(struct connection *c)
{
    struct answer *a = &c->answer;
    int64_t delay_ms = 0;
    c->close_after = c->close_after || !c->framing.done;
    a->bare = c->head_only;
    if (c->counted) {
        scripted_answer(c);
        delay_ms = c->server->set.delay_ms + (c->act.delay_ms > 0 ? c->act.delay_ms : 0);
    }
    if (!a->raw) {
        c->entry.status = atoi(a->head.start[1]);
        a->bare = a->bare || c->entry.status == 204 || c->entry.status == 304;
        if (c->close_after)
            head_set(&a->head, "Connection", "close");
        head_write(&a->head, &a->out);
    }
    if (!a->bare && a->length == 0)
        answer_last_chunk(a);
    c->stage = delay_ms > 0 ? STAGE_WAITING : STAGE_SENDING;
    if (delay_ms > 0)
        loop_at(&c->server->loop, &c->timer, delay_ms * MS);
    else
        connection_send(c);
}

void connection_done(struct connection *c)
{
    end_exchange(c);
    if (c->close_after) {
        connection_end(c);
        return;
    }
    c->stage = STAGE_HEAD;
    connection_progress(c);
}

static void refuse(struct connection *c, int status, const char *why)
{
    c->close_after = true;
    answer_text(&c->answer, status, "%s\n", why);
    connection_answer(c);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void count_request(struct connection *c)
{
    const char *range = head_get(&c->request, "Range");
    c->entry = (struct entry){.method = must_copy(c->request.start[0]),
                              .path = must_copy(c->request.start[1]),
                              .range = range != NULL ? must_copy(range) : NULL,
                              .authorization = head_get(&c->request, "Authorization") != NULL,
                              .connection = c->number,
                              .began_ns = clock_ns()};
    c->counted = true;
    stats_begin(&c->server->stats, &c->entry);
}

static void begin_request(struct connection *c)
{
    struct server *s = c->server;
    const struct head *r = &c->request;
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    c->head_only = strcmp(r->start[0], "HEAD") == 0;
    c->close_after = !head_keeps_alive(r, r->start[2]);
    c->stage = STAGE_BODY;
    if (strncmp(r->start[1], "/_proxy/", 8) == 0) {
        c->handler = &control_handler;
    } else {
        count_request(c);
        c->act = rules_pick(&s->rules, r->start[0], r->start[1]);
        c->handler = scripted_request(c);
        if (c->handler == NULL)
            c->handler = s->set.upstream != NULL ? &upstream_handler : &folder_handler;
    }
    if (c->act.reset && c->counted) {
        connection_reset(c);
        return;
    }
    if (!c->framing.done && head_has_word(r, "Expect", "100-continue"))
        (void)!send(c->watch.fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL);
    c->handler->begin(c);
}

static bool take_head(struct connection *c)
{
    const size_t n = head_size(&c->in);
    if (n == 0) {
        if (fifo_size(&c->in) > HEAD_MAX)
            refuse(c, 431, "the head is too large");
        return false;
    }
    const bool good = head_parse(&c->request, fifo_front(&c->in), n);
    fifo_drop(&c->in, n);
    c->framing = good ? framing_of(&c->request, false) : (struct framing){.bad = true};
    if (c->framing.bad)
        refuse(c, 400, "this is no request");
    else
        begin_request(c);
    return true;
}

static bool take_body(struct connection *c)
{
    const size_t n = framing_piece(&c->framing, &c->in);
    if (n != 0) {
        const size_t used = c->handler->body(c, fifo_front(&c->in), n);
        if (c->stage != STAGE_BODY)
            return false;
        framing_took(&c->framing, &c->in, used);
        c->entry.body_in += c->counted ? used : 0;
        c->server->stats.body_in += c->counted ? used : 0;
        return used != 0;
    }
    if (c->framing.bad) {
        refuse(c, 400, "the body is not framed as its head says");
    } else if (c->framing.done) {
        c->stage = STAGE_WAITING;
        c->handler->end(c);
        return true;
    }
    return false;
}

void connection_progress(struct connection *c)
{
    if (c->busy)
        return;
    c->busy = true;
    for (bool more = true; more;)
        more = c->stage == STAGE_HEAD ? take_head(c) : c->stage == STAGE_BODY && take_body(c);
    c->busy = false;
    connection_listen(c);
}

/* ---- events ---------------------------------------------------------------------------------- */

void connection_listen(struct connection *c)
{
    if (c->stage == STAGE_GONE)
        return;
    if (c->stage == STAGE_HEAD)
        fifo_slim(&c->in);
    uint32_t events = c->blocked && c->stage == STAGE_SENDING ? EPOLLOUT : 0;
    if (c->stage != STAGE_ARRIVED && fifo_size(&c->in) < IN_MAX)
        events |= EPOLLIN;
    if (!loop_watch(&c->server->loop, &c->watch, events))
        leave(c);
}

/* False: the client is gone, and the connection with it. */
static bool read_input(struct connection *c)
{
    const size_t room = c->stage == STAGE_BODY ? READ_BODY : READ_HEAD;
    const ssize_t n = recv(c->watch.fd, fifo_room(&c->in, room), room, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        leave(c);
        return false;
    }
    if (c->stage != STAGE_ENDING)
        fifo_added(&c->in, n > 0 ? (size_t)n : 0);
    return true;
}

static void on_event(struct watch *w, uint32_t events)
{
    struct connection *c = OWNER(w, struct connection, watch);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !read_input(c))
        return;
    if ((events & EPOLLOUT) != 0) {
        c->blocked = false;
        connection_send(c);
    }
    if (c->stage != STAGE_GONE)
        connection_progress(c);
}

static void on_time(struct timer *t)
{
    struct connection *c = OWNER(t, struct connection, timer);
    if (c->stage == STAGE_ENDING && c->reset_at_ns != 0) {
        connection_reset(c);
    } else if (c->stage == STAGE_ENDING) {
        leave(c);
    } else if (c->stage == STAGE_ARRIVED) {
        c->stage = STAGE_HEAD;
        connection_listen(c);
    } else {
        c->stage = STAGE_SENDING;
        connection_send(c);
    }
}

static void on_turn(struct turn *t)
{
    connection_send(OWNER(t, struct connection, turn));
}

void connection_new(struct server *s, int fd)
{
    const int yes = 1;
    struct connection *c = must(calloc(1, sizeof(*c)));
    c->server = s;
    c->watch = (struct watch){.fd = fd, .ready = on_event};
    c->timer.due = on_time;
    c->turn.go = on_turn;
    c->upload.fd = -1;
    c->number = s->stats.connections++;
    s->stats.open++;
    answer_init(&c->answer);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    c->next = s->connections;
    if (c->next != NULL)
        c->next->before = c;
    s->connections = c;
    c->stage = s->set.connect_delay_ms > 0 ? STAGE_ARRIVED : STAGE_HEAD;
    if (c->stage == STAGE_ARRIVED)
        loop_at(&s->loop, &c->timer, s->set.connect_delay_ms * MS);
    connection_listen(c);
}
