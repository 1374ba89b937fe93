/* tests/support/canned.c - a server of a few answers, in a thread of the test. */
#define _GNU_SOURCE /* strcasestr() */
#include "tests/support/canned.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_ROOM = 65536, ANSWER_ROOM = 200000 };

static void need(bool yes)
{
    if (!yes)
        _exit(99);
}

/* Bytes of head and body once the head is there; 0: it is not. */
static size_t length_of(const char *request)
{
    const char *end = strstr(request, "\r\n\r\n"),
               *length = strcasestr(request, "\r\nContent-Length:");
    if (end == NULL)
        return 0;
    return (size_t)(end + 4 - request) +
           (length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0);
}

static bool read_request(int fd, char *request)
{
    for (size_t n = 0; n < REQUEST_ROOM - 1;) {
        const ssize_t got = recv(fd, request + n, REQUEST_ROOM - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        request[n] = '\0';
        if (length_of(request) != 0 && n >= length_of(request))
            return true;
    }
    return false;
}

static bool has_header(const char *head, const char *header)
{
    const size_t n = strlen(header);
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, header, n) == 0 && line[2 + n] == '\r')
            return true;
    return false;
}

/* The lock is held. */
static int compose(struct canned *c, const char *head, char *answer)
{
    int status = 404;
    const char *body = "";
    for (int i = 0; i < c->count && status == 404; i++) {
        struct canned_row *r = &c->rows[i];
        const size_t n = strlen(r->begin);
        if (strncmp(head, r->begin, n) != 0 || head[n] != ' ')
            continue;
        const bool known = r->header == NULL || has_header(head, r->header);
        r->hits++;
        status = known ? r->status : 401;
        body = known ? r->body : "";
        break;
    }
    return snprintf(answer, ANSWER_ROOM,
                    "HTTP/1.1 %d canned\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                    status, strlen(body), body);
}

static void answer(struct canned *c, int fd)
{
    char *head = malloc(REQUEST_ROOM), *text = malloc(ANSWER_ROOM);
    need(head != NULL && text != NULL);
    if (read_request(fd, head)) {
        mutex_lock(&c->lock);
        c->begun = true;
        cond_wake_all(&c->changed);
        while (c->held)
            cond_wait(&c->changed, &c->lock);
        const int n = compose(c, head, text);
        free(c->last);
        c->last = strdup(head);
        mutex_unlock(&c->lock);
        for (int at = 0; at < n;) {
            const ssize_t sent = send(fd, text + at, (size_t)(n - at), MSG_NOSIGNAL);
            if (sent <= 0)
                break;
            at += (int)sent;
        }
    }
    free(head);
    free(text);
}

static void *serve(void *user)
{
    struct canned *c = user;
    for (int fd; (fd = accept(c->fd, NULL, NULL)) >= 0; close(fd))
        answer(c, fd);
    return NULL;
}

struct canned *canned_start(struct canned_row *rows, int count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    struct canned *c = calloc(1, sizeof(*c));
    need(c != NULL);
    c->rows = rows;
    c->count = count;
    for (int i = 0; i < count; i++)
        rows[i].hits = 0;
    mutex_init(&c->lock);
    cond_init(&c->changed);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(c->fd >= 0 && bind(c->fd, (struct sockaddr *)&at, n) == 0 && listen(c->fd, 64) == 0 &&
         getsockname(c->fd, (struct sockaddr *)&at, &n) == 0);
    c->port = ntohs(at.sin_port);
    snprintf(c->url, sizeof(c->url), "http://127.0.0.1:%d", c->port);
    need(thread_start(&c->thread, "canned", serve, c, NULL) == IMREC_OK);
    return c;
}

void canned_body(struct canned *c, int row, int status, const char *body)
{
    mutex_lock(&c->lock);
    c->rows[row].status = status;
    c->rows[row].body = body;
    mutex_unlock(&c->lock);
}

int canned_hits(struct canned *c, int row)
{
    mutex_lock(&c->lock);
    const int hits = c->rows[row].hits;
    mutex_unlock(&c->lock);
    return hits;
}

bool canned_heard(struct canned *c, const char *words)
{
    mutex_lock(&c->lock);
    const bool heard = c->last != NULL && strstr(c->last, words) != NULL;
    mutex_unlock(&c->lock);
    return heard;
}

void canned_hold(struct canned *c)
{
    mutex_lock(&c->lock);
    c->held = true;
    c->begun = false;
    mutex_unlock(&c->lock);
}

void canned_wait(struct canned *c)
{
    mutex_lock(&c->lock);
    while (!c->begun)
        cond_wait(&c->changed, &c->lock);
    mutex_unlock(&c->lock);
}

void canned_release(struct canned *c)
{
    mutex_lock(&c->lock);
    c->held = false;
    cond_wake_all(&c->changed);
    mutex_unlock(&c->lock);
}

void canned_stop(struct canned *c)
{
    canned_release(c);
    shutdown(c->fd, SHUT_RDWR);
    thread_join(&c->thread);
    close(c->fd);
    cond_destroy(&c->changed);
    mutex_destroy(&c->lock);
    free(c->last);
    free(c);
}
