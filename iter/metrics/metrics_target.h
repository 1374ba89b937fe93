/* iter/metrics/metrics_target.h - where metrics= is: a file, or a socket that listens. */
#ifndef IMREC_ITER_METRICS_METRICS_TARGET_H
#define IMREC_ITER_METRICS_METRICS_TARGET_H

#include "base/http/http_listen.h"

struct metrics_target {
    struct http_listener listener; /* `where` is set of a file, too */
    const char *file;              /* its path, in `where`; NULL: a socket */
};

/* "unix:PATH"; "HOST:PORT", which has no '/' and ends in a colon and digits; else a file, which
 * is not looked at. */
IMREC_NODISCARD enum imrec_status
metrics_target_open(const char *text, struct metrics_target *out, struct imrec_error *err);
void metrics_target_close(struct metrics_target *t);
#endif
