/* iter/metrics/metrics_http.h - answers GET /metrics, for a few clients at a time, each for a few
 * seconds at most. */
#ifndef IMREC_ITER_METRICS_METRICS_HTTP_H
#define IMREC_ITER_METRICS_METRICS_HTTP_H

#include "base/buf.h"
#include "imrec/error.h"

struct metrics_http {
    int listener, wake; /* `wake` becomes readable when serving must end */
    void *context;
    /* The body of an answer. */
    enum imrec_status (*text)(void *context, struct buf *out);
};

#define METRICS_TEXT_BYTES ((size_t)64 << 10) /* of an answer, at most */

struct metrics_server;

/* *h is copied. */
IMREC_NODISCARD enum imrec_status metrics_server_new(const struct metrics_http *h,
                                                     struct metrics_server **out,
                                                     struct imrec_error *err);
/* Serves until `wake` is readable. */
void metrics_server_run(struct metrics_server *s);
void metrics_server_free(struct metrics_server *s); /* ends all connections; NULL is fine */
#endif
