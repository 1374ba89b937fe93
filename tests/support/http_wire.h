/* tests/support/http_wire.h - HTTP by hand: requests as text, answers as bytes, and how they ended.
 */
#ifndef IMREC_TESTS_HTTP_WIRE_H
#define IMREC_TESTS_HTTP_WIRE_H

#include <stdbool.h>
#include <stddef.h>

enum raw_end {
    WIRE_COMPLETE, /* all that the head announced */
    WIRE_CLOSED,   /* the server closed before, or as the end of a body without a length */
    WIRE_RESET,
    WIRE_SILENT, /* nothing came for the time that was given */
};
struct raw_answer {
    int status;   /* 0: no HTTP */
    char *head;   /* up to and with its blank line; "" where it never came */
    char *body;   /* a 0 follows; chunks are joined */
    size_t n;     /* bytes of it */
    bool chunked; /* as it came */
    enum raw_end end;
};

int raw_connect(int port);
void raw_send(int fd, const char *text);
void raw_send_bytes(int fd, const void *p, size_t n);
/* One answer, to a request that was a HEAD or not. `silence_ms`: how long to wait for bytes. */
struct raw_answer raw_read(int fd, bool head_only, int silence_ms);
void raw_free(struct raw_answer *a);
/* The value of a field; NULL: it has none. In a static buffer of 8 that take turns. */
const char *raw_field(const struct raw_answer *a, const char *name);

/* Connects, sends "METHOD target HTTP/1.1" with `fields` (each line ended by \r\n; may be ""),
 * reads and closes. */
struct raw_answer
raw_ask(int port, const char *method, const char *target, const char *fields, const char *body);
#endif
