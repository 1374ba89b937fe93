/* tests/support/http_proxy/server.c - the listening socket, and what ends the program. */
#include "tests/support/http_proxy/server.h"

#include "tests/support/http_proxy/connection.h"
#include "tests/support/http_proxy/exchange.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { AT_ONCE = 256 }; /* connections, before others have their turn */

static void on_connection(struct watch *w, uint32_t events)
{
    struct server *s = OWNER(w, struct server, listening);
    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        const int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        connection_new(s, fd);
    }
}

static void on_input(struct watch *w, uint32_t events)
{
    struct server *s = OWNER(w, struct server, input);
    char ignored[4096];
    (void)events;
    if (read(w->fd, ignored, sizeof(ignored)) <= 0)
        s->loop.ended = true;
}

static bool fail(const char *what)
{
    fprintf(stderr, "http_proxy: ");
    perror(what);
    return false;
}

static bool start_listening(struct server *s)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)s->set.port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    s->listening = (struct watch){.fd = fd, .ready = on_connection};
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 4096) != 0)
        return fail("cannot listen");
    return loop_watch(&s->loop, &s->listening, EPOLLIN);
}

static void allow_many_files(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0)
        return;
    r.rlim_cur = r.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &r);
}

bool server_open(struct server *s)
{
    loop_init(&s->loop);
    stats_init(&s->stats);
    throttle_init(&s->throttle, &s->loop, s->set.bandwidth);
    allow_many_files();
    s->folder = s->input.fd = s->listening.fd = -1;
    if (s->set.folder != NULL &&
        (s->folder = open(s->set.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return fail(s->set.folder);
    if (s->set.folder != NULL && fchdir(s->folder) != 0) /* for unlink() of parts */
        return fail(s->set.folder);
    if (s->set.upstream != NULL && !exchange_resolve(s))
        return false;
    if (!start_listening(s))
        return false;
    if (s->set.until_eof) {
        s->input = (struct watch){.fd = STDIN_FILENO, .ready = on_input};
        if (!loop_watch(&s->loop, &s->input, EPOLLIN))
            return fail("--until-eof: standard input is no pipe");
    }
    return true;
}

int server_port(const struct server *s)
{
    struct sockaddr_in at = {0};
    socklen_t n = sizeof(at);
    return getsockname(s->listening.fd, (struct sockaddr *)&at, &n) == 0 ? ntohs(at.sin_port) : -1;
}

void server_close(struct server *s)
{
    connection_leave_all(s);
    exchange_close_idle(s);
    loop_close(&s->loop, &s->listening);
    loop_close(&s->loop, &s->input);
    if (s->folder >= 0)
        close(s->folder);
    loop_free(&s->loop);
    rules_free(&s->rules);
    stats_free(&s->stats);
}
