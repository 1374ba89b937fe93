/* tests/support/http_proxy/throttle.h - one bandwidth for all connections, which take turns. */
#ifndef IMREC_TESTS_HTTP_PROXY_THROTTLE_H
#define IMREC_TESTS_HTTP_PROXY_THROTTLE_H

#include "tests/support/http_proxy/loop.h"

/* A connection's place in the queue. go() sends what it may take, and takes again if it has more.
 */
struct turn {
    struct turn *next;
    bool waiting;
    void (*go)(struct turn *);
};
struct throttle {
    struct loop *loop;
    int64_t rate; /* bytes/s; 0: no limit */
    int64_t quantum;
    double tokens;
    int64_t filled_ns;
    struct turn *first, *last, *served;
    int64_t granted; /* to the one that is served */
    struct timer tick;
};

void throttle_init(struct throttle *t, struct loop *l, int64_t rate);
size_t throttle_take(struct throttle *t, struct turn *turn, size_t want); /* 0: it waits */
void throttle_return(struct throttle *t, size_t unused);
void throttle_leave(struct throttle *t, struct turn *turn);
#endif
