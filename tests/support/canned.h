/*
 * tests/support/canned.h - a server of a few answers, in a thread of the test.
 *
 *     struct canned_row rows[] = {{"PUT /token", NULL, 200, "abc"}, {"GET /keys", "x-token: abc",
 * ...}}; struct canned *c = canned_start(rows, 2);
 *     ... c->url; rows[1].hits ...
 *     canned_stop(c);
 *
 * The first row that a request's first line begins with answers; where the row's header is not in
 * the head, 401 does; where there is no row, 404. One request a connection, one at a time.
 */
#ifndef IMREC_TESTS_CANNED_H
#define IMREC_TESTS_CANNED_H

#include "base/threads.h"

struct canned_row {
    const char *begin, *header; /* NULL: no header is needed */
    int status;
    const char *body;
    int hits; /* counts answers and refusals */
};

struct canned {
    char url[64]; /* without a '/' at its end */
    int port, fd;
    struct thread thread;
    struct mutex lock; /* of the rows and what follows */
    struct cond changed;
    struct canned_row *rows;
    int count;
    bool held, begun; /* an answer waits while `held`; one is about to be made */
    char *last;       /* the last request, head and body */
};

struct canned *canned_start(struct canned_row *rows, int count);
void canned_body(struct canned *c, int row, int status, const char *body); /* from now on */
int canned_hits(struct canned *c, int row);
bool canned_heard(struct canned *c, const char *words); /* they are in the last request */
void canned_hold(struct canned *c);                     /* answers wait from now on */
void canned_wait(struct canned *c);                     /* until one does */
void canned_release(struct canned *c);
void canned_stop(struct canned *c);
#endif
