/* tests/support/http_proxy/stats.h - what was asked for and what was sent, as numbers and as a log.
 */
#ifndef IMREC_TESTS_HTTP_PROXY_STATS_H
#define IMREC_TESTS_HTTP_PROXY_STATS_H

#include "tests/support/http_proxy/fifo.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOGGED = 10000, METHODS = 8, STATUSES = 600 };

/* One request. Owns its texts. status 0: no answer was sent. */
struct entry {
    char *method, *path, *range; /* range NULL: the request had none */
    bool authorization;          /* the request had one */
    int status;
    int64_t began_ns, took_ns;
    uint64_t connection, body_out, body_in;
};
struct stats {
    uint64_t requests, connections, body_out, body_in;
    int64_t open, in_flight, in_flight_most;
    struct {
        char name[16];
        uint64_t count;
    } method[METHODS]; /* the last: all others */
    uint64_t status[STATUSES];
    double cpu_before; /* of the last reset */
    int64_t began_ns;
    struct entry *log; /* LOGGED of them, a ring */
    uint64_t logged;
};

void stats_init(struct stats *s);
void stats_begin(struct stats *s, const struct entry *e);
void stats_end(struct stats *s, struct entry *e); /* takes its texts */
void stats_reset(struct stats *s);                /* but what is open and in flight */
void stats_report(const struct stats *s, struct fifo *json);
void stats_log(const struct stats *s, struct fifo *json); /* the oldest first */
void stats_free(struct stats *s);
#endif
