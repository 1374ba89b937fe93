/* iter/metrics/metrics.h - numbers in Prometheus' text format: in a file that is renewed, or over
 * HTTP. One thread of its own: the reader of data never waits for a reader of numbers. */
#ifndef IMREC_ITER_METRICS_METRICS_H
#define IMREC_ITER_METRICS_METRICS_H

#include "base/buf.h"
#include "imrec/error.h"

struct metric { /* a number and its meaning; `name` by Prometheus' conventions */
    const char *name, *help;
    enum metric_kind {
        METRIC_COUNTER,         /* named ..._total */
        METRIC_COUNTER_SECONDS, /* named ..._seconds_total; `value` is in ns */
        METRIC_GAUGE,
    } kind;
    uint64_t value;
};

#define METRICS_MOST 40 /* of one source */

struct metrics_source {
    void *context;
    /* Fills out[0..METRICS_MOST), returns how many; called by the thread. */
    size_t (*read)(void *context, struct metric *out);
    char labels[320]; /* of each number: metrics_label()s joined by ',' */
};

/* Appends name="value", the value cut to 100 bytes and escaped, after a comma if there is a label
 * before it. */
void metrics_label(struct metrics_source *s, const char *name, const char *value);
/* The text of all numbers, with HELP and TYPE. */
IMREC_NODISCARD enum imrec_status metrics_write(const struct metric *m, size_t n,
                                                const char *labels, struct buf *out,
                                                struct imrec_error *err);

struct metrics;

/* Takes the place that `target` names, FILE, unix:PATH or HOST:PORT: the port listens from here on,
 * the file is written for the first time by metrics_start(). On failure *out is NULL. */
IMREC_NODISCARD enum imrec_status
metrics_open(const char *target, struct metrics **out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
metrics_start(struct metrics *m, const struct metrics_source *source, struct imrec_error *err);
/* The target; of port 0 with the port that the system gave. NULL for NULL. */
const char *metrics_where(const struct metrics *m);
/* A file is written once more, connections end, names of sockets are removed. NULL is fine. */
void metrics_stop(struct metrics *m);
#endif
