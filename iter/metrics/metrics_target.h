/* iter/metrics/metrics_target.h - where metrics= is: a file, or a socket that listens. */
#ifndef IMREC_ITER_METRICS_METRICS_TARGET_H
#define IMREC_ITER_METRICS_METRICS_TARGET_H

#include "imrec/error.h"

#include <sys/types.h>

struct metrics_target {
    char where[300];  /* as given; of port 0 with the port that it got */
    int listener;     /* -1: a file */
    const char *path; /* of the file, or the name of the socket, in `where`; NULL: there is none */
    dev_t dev;        /* of the socket's name: another process may have replaced it */
    ino_t ino;
};

/* "unix:PATH"; "HOST:PORT", which has no '/' and ends in a colon and digits; else a file, which
 * is not looked at. */
IMREC_NODISCARD enum imrec_status
metrics_target_open(const char *text, struct metrics_target *out, struct imrec_error *err);
/* The port is free at once, also where a forked process still has the descriptor. */
void metrics_target_close(struct metrics_target *t);
#endif
