/* base/http/http_listen.h - a socket that listens: at HOST:PORT, or under a name in a folder. */
#ifndef IMREC_BASE_HTTP_HTTP_LISTEN_H
#define IMREC_BASE_HTTP_HTTP_LISTEN_H

#include "imrec/error.h"

#include <sys/types.h>

struct http_listener {
    char where[300];  /* as given; of port 0 with the port that it got */
    int fd;           /* does not block; -1: closed */
    bool loopback;    /* only this machine reaches it */
    const char *path; /* the name of the socket, in `where`; NULL: it has none */
    dev_t dev;        /* of the socket's name: another process may have replaced it */
    ino_t ino;
};

struct http_words {            /* of messages */
    const char *before;        /* what was given the text: "metrics=" */
    const char *in_use;        /* by whom it may be in use: "another program" */
    const char *or_file;       /* what is said before the text where a file is meant; or "" */
    const char *only_loopback; /* why others than this machine are refused; NULL: they are not */
};

/* Whether it is HOST:PORT: no '/', and digits after the last colon. */
bool http_names_port(const char *text);
/* "unix:PATH" or "HOST:PORT", whose host is an address or localhost; port 0 takes a free one. */
IMREC_NODISCARD enum imrec_status http_listen(const struct http_words *w, const char *text,
                                              struct http_listener *out, struct imrec_error *err);
/* The port is free at once, also where a forked process still has the descriptor. */
void http_listener_close(struct http_listener *t);
#endif
