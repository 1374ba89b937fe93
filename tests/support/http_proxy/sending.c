/*
 * tests/support/http_proxy/sending.c - head and body to the socket.
 *
 * A file goes by sendfile(), an answer of the upstream by splice(), without a copy; everything that
 * is framed or changed goes through answer.out. Body bytes are counted as they are taken from their
 * source, so that a rule's stop is exact to the byte: it happens once `out` is empty.
 */
#include "tests/support/http_proxy/sending.h"

#include "tests/support/http_proxy/exchange.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BLOCK = 256 << 10, /* copied at once */
    AT_ONCE = 1 << 20, /* of a file */
    BUDGET = 2 << 20,  /* before other connections have their turn */
    SLOW_STEPS = 100,  /* a second, with slow= */
    NS_PER_S = 1000000000,
    MS = 1000000,
};

static bool is_limited(const struct connection *c)
{
    return c->counted && c->server->set.bandwidth != 0;
}

static size_t may_send(struct connection *c, size_t want)
{
    return is_limited(c) ? throttle_take(&c->server->throttle, &c->turn, want) : want;
}

/* `sent` of n, or an error; true: there is room for more. */
static bool was_sent(struct connection *c, ssize_t sent, size_t n)
{
    const bool full = sent < 0 && (errno == EAGAIN || errno == EINTR);
    if (sent < 0 && !full) {
        connection_reset(c);
        return false;
    }
    const size_t good = full ? 0 : (size_t)sent;
    if (is_limited(c))
        throttle_return(&c->server->throttle, n - good);
    c->blocked = good < n;
    return !c->blocked;
}

static void took(struct connection *c, size_t n)
{
    c->answer.at += n;
    c->entry.body_out += c->counted ? n : 0;
    c->server->stats.body_out += c->counted ? n : 0;
}

static bool is_by_sendfile(const struct answer *a)
{
    return a->source == SOURCE_FILE && !a->chunked && !answer_is_spoilt(a);
}

static bool send_out(struct connection *c)
{
    struct answer *a = &c->answer;
    const size_t n = may_send(c, fifo_size(&a->out));
    const bool more = is_by_sendfile(a) && !a->bare && a->at < a->length && a->at < a->stop_at &&
                      c->act.slow <= 0 && !is_limited(c);
    if (n == 0)
        return false;
    const ssize_t sent =
        send(c->watch.fd, fifo_front(&a->out), n, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (sent > 0)
        fifo_drop(&a->out, (size_t)sent);
    return was_sent(c, sent, n);
}

static bool send_file(struct connection *c, size_t want)
{
    struct answer *a = &c->answer;
    const size_t n = may_send(c, want < AT_ONCE ? want : AT_ONCE);
    off_t offset = (off_t)(a->offset + a->at);
    if (n == 0)
        return false;
    const ssize_t sent = sendfile(c->watch.fd, a->fd, &offset, n);
    if (sent == 0) { /* the file has become shorter */
        connection_reset(c);
        return false;
    }
    if (sent > 0)
        took(c, (size_t)sent);
    return was_sent(c, sent, n);
}

/* From the upstream's socket through a pipe. */
static bool send_piped(struct connection *c, size_t want)
{
    size_t n = 0;
    const enum filled filled = exchange_pump(c, want < AT_ONCE ? want : AT_ONCE, &n);
    if (filled != FILLED) {
        if (filled == FILL_BROKEN)
            connection_reset(c);
        return false;
    }
    if ((n = may_send(c, n)) == 0)
        return false;
    const ssize_t sent = exchange_drain(c, n);
    if (sent > 0)
        took(c, (size_t)sent);
    return was_sent(c, sent, n);
}

/* n bytes of memory or file into `out`; false: the file has become shorter. */
static bool copy(struct answer *a, size_t n)
{
    answer_chunk_head(a, n);
    char *p = fifo_room(&a->out, n);
    if (a->source == SOURCE_MEMORY)
        memcpy(p, fifo_front(&a->memory) + a->at, n);
    else if (pread(a->fd, p, n, (off_t)(a->offset + a->at)) != (ssize_t)n)
        return false;
    answer_spoil(a, p, n);
    fifo_added(&a->out, n);
    answer_chunk_end(a);
    return true;
}

static bool fill(struct connection *c, size_t want)
{
    struct answer *a = &c->answer;
    size_t n = want < BLOCK ? want : BLOCK;
    enum filled filled = FILLED;
    if (a->source == SOURCE_STREAM)
        filled = exchange_fill(c, &n);
    else if (!copy(a, n))
        filled = FILL_BROKEN;
    if (filled == FILLED)
        took(c, n);
    else if (filled == FILL_ENDED)
        a->length = a->at;
    else if (filled == FILL_BROKEN)
        connection_reset(c);
    if (filled != FILL_BROKEN && a->at == a->length)
        answer_last_chunk(a);
    return filled == FILLED || filled == FILL_ENDED;
}

/* The answer breaks here; true: only for a while that is over. */
static bool stop(struct connection *c)
{
    struct answer *a = &c->answer;
    const enum stop what = a->stop;
    a->stop = STOP_NONE;
    a->stop_at = UINT64_MAX;
    if (what == STOP_RESET)
        connection_reset(c);
    else if (what == STOP_SHORT)
        connection_end(c);
    else if (c->act.stall_ms == STALL_FOR_EVER)
        c->stage = STAGE_WAITING;
    else
        loop_at(&c->server->loop, &c->timer, c->act.stall_ms * MS);
    return false;
}

/* Body bytes that may be taken now; 0: a timer is set. */
static uint64_t allowed(struct connection *c)
{
    struct answer *a = &c->answer;
    uint64_t n = a->length - a->at;
    if (a->stop != STOP_NONE && n > a->stop_at - a->at)
        n = a->stop_at - a->at;
    if (c->act.slow <= 0 || !c->counted)
        return n;
    const uint64_t rate = (uint64_t)c->act.slow;
    const uint64_t step = rate < SLOW_STEPS ? 1 : rate / SLOW_STEPS;
    const int64_t now = clock_ns();
    if (a->began_ns == 0)
        a->began_ns = now;
    const double may = (double)(now - a->began_ns) * (double)rate / NS_PER_S;
    const uint64_t next = a->at + (n < step ? n : step);
    if (may >= (double)next)
        return n < (uint64_t)may - a->at ? n : (uint64_t)may - a->at;
    const double wait = ((double)next - may) / (double)rate * NS_PER_S;
    loop_at(&c->server->loop, &c->timer, (int64_t)wait + MS);
    return 0;
}

/* True: there may be more to do. */
static bool step(struct connection *c)
{
    struct answer *a = &c->answer;
    if (fifo_size(&a->out) != 0)
        return send_out(c);
    if (a->stop != STOP_NONE && a->at >= a->stop_at)
        return stop(c);
    if (a->bare || a->at == a->length) {
        connection_done(c);
        return false;
    }
    const uint64_t n = allowed(c);
    if (n == 0)
        return false;
    const size_t want = n < BUDGET ? (size_t)n : BUDGET;
    if (exchange_is_plain(c))
        return send_piped(c, want);
    return is_by_sendfile(a) ? send_file(c, want) : fill(c, want);
}

void connection_send(struct connection *c)
{
    const uint64_t from = c->answer.at;
    while (c->stage == STAGE_SENDING && c->timer.place == 0 && step(c))
        if (c->answer.at >= from + BUDGET) {
            c->blocked = true; /* the next round sees that it is not */
            break;
        }
    if (!c->busy)
        connection_listen(c);
}
