/* base/http/http_server.h - answers GET and HEAD, for a few clients at a time, each for a few
 * seconds at most, in the thread that runs it. */
#ifndef IMREC_BASE_HTTP_HTTP_SERVER_H
#define IMREC_BASE_HTTP_HTTP_SERVER_H

#include "base/buf.h"
#include "imrec/error.h"

struct http_request {  /* valid while it is answered */
    bool head;         /* HEAD: the answer is made as for GET, and sent without its body */
    const char *path;  /* as sent, up to the '?': nothing is decoded */
    const char *query; /* after the '?'; "" without one */
    const char *host;  /* the header Host; "" of HTTP/1.0 without it */
};

#define HTTP_HEADERS_BYTES 1024

struct http_answer {
    const char *status; /* "200 OK": to be set; one of 4xx without a body is its own */
    const char *type;   /* plain text unless it is set */
    char headers[HTTP_HEADERS_BYTES]; /* further ones, each with its "\r\n" */
    struct buf body;
};

struct http_service {
    int listener, wake; /* `wake` becomes readable when serving must end */
    void *context;
    /* Other than IMREC_OK ends the connection without an answer. */
    enum imrec_status (*answer)(void *context, const struct http_request *q, struct http_answer *a);
    size_t body_bytes; /* of an answer, at most */
};

struct http_server;

/* *h is copied. */
IMREC_NODISCARD enum imrec_status
http_server_new(const struct http_service *h, struct http_server **out, struct imrec_error *err);
/* Serves until `wake` is readable. */
void http_server_run(struct http_server *s);
void http_server_free(struct http_server *s); /* ends all connections; NULL is fine */
#endif
