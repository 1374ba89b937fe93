/* tests/support/http_wire.c - blocking sockets and nothing between. */
#include "tests/support/http_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, READ = 256 << 10 };

static void *must(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

int raw_connect(int port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0) {
        perror("cannot connect");
        abort();
    }
    return fd;
}

void raw_send_bytes(int fd, const void *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t sent = send(fd, (const char *)p + done, n - done, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the answer shows why */
        done += (size_t)sent;
    }
}

void raw_send(int fd, const char *text)
{
    raw_send_bytes(fd, text, strlen(text));
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    int fd, silence_ms;
    char *p;
    size_t n, room;
    enum raw_end end;
};

/* At most `most` bytes are added; false: no more come. */
static bool read_some(struct reader *r, size_t most)
{
    struct pollfd ready = {.fd = r->fd, .events = POLLIN};
    if (r->n + most + 1 > r->room) {
        r->room = 2 * r->room + most + 1;
        r->p = must(realloc(r->p, r->room));
    }
    if (poll(&ready, 1, r->silence_ms) == 0) {
        r->end = WIRE_SILENT;
        return false;
    }
    const ssize_t got = recv(r->fd, r->p + r->n, most, 0);
    if (got <= 0) {
        r->end = got == 0 ? WIRE_CLOSED : WIRE_RESET;
        return false;
    }
    r->n += (size_t)got;
    r->p[r->n] = '\0';
    return true;
}

/* Byte by byte: what follows belongs to the next answer. */
static bool read_line(struct reader *r)
{
    const size_t from = r->n;
    while (r->n == from || r->p[r->n - 1] != '\n')
        if (!read_some(r, 1))
            return false;
    return true;
}

static bool read_exactly(struct reader *r, size_t n)
{
    for (size_t end = r->n + n; r->n < end;)
        if (!read_some(r, end - r->n < READ ? end - r->n : READ))
            return false;
    return true;
}

static bool read_chunks(struct reader *r)
{
    for (;;) {
        const size_t line = r->n;
        if (!read_line(r)) {
            r->n = line;
            return false;
        }
        const size_t n = strtoul(r->p + line, NULL, 16);
        r->n = line; /* framing is no part of the body */
        if (!read_exactly(r, n))
            return false;
        const size_t end = r->n;
        const bool good = read_line(r);
        r->n = end;
        if (!good || n == 0)
            return good;
    }
}

static void read_body(struct reader *r, struct raw_answer *a, bool head_only)
{
    const char *length = raw_field(a, "Content-Length");
    const char *coding = raw_field(a, "Transfer-Encoding");
    bool complete = true;
    a->chunked = coding != NULL && strcmp(coding, "chunked") == 0;
    if (head_only || a->status == 204 || a->status == 304)
        complete = true;
    else if (a->chunked)
        complete = read_chunks(r);
    else if (length != NULL)
        complete = read_exactly(r, strtoul(length, NULL, 10));
    else
        while (read_some(r, READ))
            complete = false;
    if (complete)
        r->end = WIRE_COMPLETE;
}

struct raw_answer raw_read(int fd, bool head_only, int silence_ms)
{
    struct raw_answer a = {0};
    struct reader head = {.fd = fd, .silence_ms = silence_ms}, body = head;
    bool good = true;
    for (size_t from = 0;
         good && (head.n < 4 || memcmp(head.p + head.n - 4, "\r\n\r\n", 4) != 0);) {
        good = read_line(&head);
        good = good && (from != 0 || strncmp(head.p, "HTTP/1.1 ", 9) == 0);
        from = head.n;
    }
    while (!good && head.n != 0 && read_some(&head, READ)) /* no HTTP: all of it */
        ;
    a.head = head.p != NULL ? head.p : must(calloc(1, 1));
    a.head[head.n] = '\0';
    a.end = head.end;
    if (good) {
        a.status = atoi(a.head + 9);
        read_body(&body, &a, head_only);
        a.end = body.end;
    }
    a.n = body.n;
    a.body = must(realloc(body.p, body.n + 1));
    a.body[a.n] = '\0';
    return a;
}

void raw_free(struct raw_answer *a)
{
    free(a->head);
    free(a->body);
    *a = (struct raw_answer){0};
}

const char *raw_field(const struct raw_answer *a, const char *name)
{
    static char values[8][256];
    static unsigned turn;
    const size_t n = strlen(name);
    for (const char *line = strstr(a->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, n) != 0 || line[n] != ':')
            continue;
        char *value = values[turn++ % 8];
        const char *from = line + n + 1 + strspn(line + n + 1, " ");
        snprintf(value, sizeof(values[0]), "%.*s", (int)strcspn(from, "\r\n"), from);
        return value;
    }
    return NULL;
}

struct raw_answer
raw_ask(int port, const char *method, const char *target, const char *fields, const char *body)
{
    char head[8192];
    const int fd = raw_connect(port);
    snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: test\r\n%s", method, target, fields);
    raw_send(fd, head);
    if (body != NULL) {
        snprintf(head, sizeof(head), "Content-Length: %zu\r\n", strlen(body));
        raw_send(fd, head);
    }
    raw_send(fd, "\r\n");
    raw_send(fd, body != NULL ? body : "");
    struct raw_answer a = raw_read(fd, strcmp(method, "HEAD") == 0, PATIENCE_MS);
    close(fd);
    return a;
}
