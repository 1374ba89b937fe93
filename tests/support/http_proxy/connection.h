/*
 * tests/support/http_proxy/connection.h - a client's connection: requests in, answers out.
 *
 *     ARRIVED → HEAD → BODY → WAITING → SENDING → HEAD ...      ENDING → GONE
 *
 * A handler looks at the request (begin), takes its body piece by piece and, when all of it has
 * come (end), fills `answer` and calls connection_answer(), then or later.
 */
#ifndef IMREC_TESTS_HTTP_PROXY_CONNECTION_H
#define IMREC_TESTS_HTTP_PROXY_CONNECTION_H

#include "tests/support/http_proxy/answer.h"
#include "tests/support/http_proxy/framing.h"
#include "tests/support/http_proxy/server.h"

enum stage {
    STAGE_ARRIVED, /* --connect-delay */
    STAGE_HEAD,    /* of a request is read */
    STAGE_BODY,    /* likewise its body */
    STAGE_WAITING, /* for the upstream, for a delay, or for ever */
    STAGE_SENDING,
    STAGE_ENDING, /* nothing more is sent: the client closes, or a reset goes out */
    STAGE_GONE,
};

struct upload { /* a PUT under way */
    int fd;     /* -1: none */
    char *part, *path;
};
struct handler {
    void (*begin)(struct connection *c);
    size_t (*body)(struct connection *c, const char *p, size_t n); /* bytes taken; 0: later */
    void (*end)(struct connection *c);
};
struct connection {
    struct server *server;
    struct connection *next, *before;
    struct watch watch;
    struct timer timer;
    struct turn turn; /* of the bandwidth */
    enum stage stage;
    bool busy;    /* connection_progress() runs */
    bool blocked; /* the socket takes no more */
    bool close_after, head_only, counted;
    uint64_t number;
    int64_t reset_at_ns; /* at the latest; 0: no reset is under way */
    struct fifo in;
    struct head request;
    struct framing framing;
    const struct handler *handler;
    struct entry entry; /* of the log */
    struct actions act;
    struct answer answer;
    struct upload upload;
    struct fifo kept;          /* a control request's body */
    struct exchange *exchange; /* with the upstream */
};

void connection_new(struct server *s, int fd);
void connection_progress(struct connection *c); /* input has come, or there is room for it */
void connection_answer(struct connection *c);   /* c->answer is filled: sends it in time */
void connection_done(struct connection *c);     /* it was sent */
void connection_end(struct connection *c);      /* shuts it down in order */
void connection_reset(struct connection *c);    /* RST, and gone */
void connection_listen(struct connection *c);   /* asks epoll for what it waits for */
void connection_leave_all(struct server *s);

extern const struct handler control_handler, folder_handler, upstream_handler;
#endif
