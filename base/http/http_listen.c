/* base/http/http_listen.c - a socket that listens at an address or a name.
 *
 * Who can reach it is the user's choice, never a default: an address is always written out, and
 * names other than localhost are not looked up. */
#include "base/http/http_listen.h"

#include "base/error.h"
#include "base/system.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING 64 /* connections that the system keeps until they are accepted */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* ---- HOST:PORT ------------------------------------------------------------------------------ */

bool http_names_port(const char *text)
{
    const char *colon = strrchr(text, ':');
    return colon != NULL && strchr(text, '/') == NULL &&
           strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static enum imrec_status
refuse_host(const struct http_words *w, const char *text, struct imrec_error *err)
{
    return IMREC_REFUSE(err,
                        "%s%.200s: the host must be an address, 127.0.0.1, [::1] or localhost "
                        "for this machine alone, 0.0.0.0 or [::] for every network that it is in"
                        "%s%.200s",
                        w->before, text, w->or_file, w->or_file[0] != '\0' ? text : "");
}

/* "[::1]" as "::1"; "localhost" as its address. */
static bool take_host(const char *text, size_t n, char host[INET6_ADDRSTRLEN])
{
    const bool bracketed = n > 2 && text[0] == '[' && text[n - 1] == ']';
    if (bracketed) {
        text++;
        n -= 2;
    }
    if (n == 9 && memcmp(text, "localhost", n) == 0) {
        text = "127.0.0.1";
    }
    if (n == 0 || n >= INET6_ADDRSTRLEN || bracketed != (memchr(text, ':', n) != NULL))
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    return true;
}

static enum imrec_status parse_address(const struct http_words *w, const char *text,
                                       union address *a, socklen_t *n, struct imrec_error *err)
{
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    const size_t digits = strlen(colon + 1);
    const long port = digits >= 1 && digits <= 5 ? strtol(colon + 1, NULL, 10) : -1;
    memset(a, 0, sizeof(*a));
    if (port < 0 || port > 65535)
        return IMREC_REFUSE(err, "%s%.200s: the port must be 0, for a free one, to 65535",
                            w->before, text);
    if (!take_host(text, (size_t)(colon - text), host))
        return refuse_host(w, text, err);
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)port);
        *n = sizeof(a->v4);
        return IMREC_OK;
    }
    if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) != 1)
        return refuse_host(w, text, err);
    a->v6.sin6_family = AF_INET6;
    a->v6.sin6_port = htons((uint16_t)port);
    *n = sizeof(a->v6);
    return IMREC_OK;
}

/* Of port 0: the one that it got, in the text too. */
static void name_port(struct http_listener *t, const char *text)
{
    union address is;
    socklen_t n = sizeof(is);
    if (getsockname(t->fd, &is.any, &n) != 0)
        return; /* the text stays as it was given */
    const uint16_t port = is.any.sa_family == AF_INET ? is.v4.sin_port : is.v6.sin6_port;
    snprintf(t->where, sizeof(t->where), "%.*s:%u", (int)(strrchr(text, ':') - text), text,
             ntohs(port));
}

/* ---- listening ------------------------------------------------------------------------------ */

static enum imrec_status
fail(const struct http_words *w, const char *text, int error, struct imrec_error *err)
{
    if (error == EADDRINUSE)
        return imrec_fail(err, IMREC_ERR_IO, "%s%.200s is in use by %s; port 0 takes a free one",
                          w->before, text, w->in_use);
    return imrec_fail(err, IMREC_ERR_IO, "%s%.200s: the system refuses to listen there: %s",
                      w->before, text, strerror(error));
}

static bool listen_at(int fd, const union address *a, socklen_t n)
{
    const int yes = 1; /* connections of a process that ended do not keep the port */
    if (a->any.sa_family != AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    return bind(fd, &a->any, n) == 0 && listen(fd, WAITING) == 0;
}

/* Nobody listens at the name: its process was killed. */
static bool is_left_over(const union address *a, socklen_t n)
{
    struct stat is;
    const int fd = system_socket(AF_UNIX);
    if (fd < 0)
        return false;
    const bool refused = connect(fd, &a->any, n) != 0 && errno == ECONNREFUSED;
    close(fd);
    return refused && lstat(a->local.sun_path, &is) == 0 && S_ISSOCK(is.st_mode);
}

static enum imrec_status begin_listening(struct http_listener *t, const struct http_words *w,
                                         const char *text, const union address *a, socklen_t n,
                                         struct imrec_error *err)
{
    t->fd = system_socket(a->any.sa_family);
    if (t->fd >= 0 && listen_at(t->fd, a, n))
        return IMREC_OK;
    if (t->fd >= 0 && errno == EADDRINUSE && a->any.sa_family == AF_UNIX && is_left_over(a, n) &&
        unlink(a->local.sun_path) == 0 && listen_at(t->fd, a, n))
        return IMREC_OK;
    const int error = errno;
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    return fail(w, text, error, err);
}

static enum imrec_status open_local(struct http_listener *t, const struct http_words *w,
                                    const char *text, struct imrec_error *err)
{
    union address a = {.local.sun_family = AF_UNIX};
    const char *path = t->where + strlen("unix:");
    const size_t n = strlen(path);
    struct stat is;
    if (n == 0 || n >= sizeof(a.local.sun_path))
        return IMREC_REFUSE(err, "%s%.200s: the path of a socket has 1 to %zu bytes, not %zu",
                            w->before, text, sizeof(a.local.sun_path) - 1, n);
    memcpy(a.local.sun_path, path, n);
    IMREC_TRY(begin_listening(t, w, text, &a, sizeof(a.local), err));
    if (lstat(path, &is) == 0) { /* else nothing is removed in the end */
        t->path = path;
        t->dev = is.st_dev;
        t->ino = is.st_ino;
    }
    return IMREC_OK;
}

static bool is_loopback(const union address *a)
{
    return a->any.sa_family == AF_INET
               ? ntohl(a->v4.sin_addr.s_addr) >> 24 == 127
               : memcmp(&a->v6.sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback)) == 0;
}

enum imrec_status http_listen(const struct http_words *w, const char *text,
                              struct http_listener *out, struct imrec_error *err)
{
    union address a;
    socklen_t n = 0;
    *out = (struct http_listener){.fd = -1};
    if (strlen(text) + sizeof(":65535") > sizeof(out->where))
        return IMREC_REFUSE(err, "%s: at most %zu bytes, not %zu", w->before,
                            sizeof(out->where) - sizeof(":65535"), strlen(text));
    memcpy(out->where, text, strlen(text) + 1);
    if (strncmp(text, "unix:", 5) == 0) {
        out->loopback = true;
        return open_local(out, w, text, err);
    }
    if (!http_names_port(text))
        return IMREC_REFUSE(err, "%s%.200s: an address and a port are expected: 127.0.0.1:8080",
                            w->before, text);
    IMREC_TRY(parse_address(w, text, &a, &n, err));
    out->loopback = is_loopback(&a);
    if (w->only_loopback && !out->loopback)
        return IMREC_REFUSE(err, "%s%.200s: %s", w->before, text, w->only_loopback);
    IMREC_TRY(begin_listening(out, w, text, &a, n, err));
    name_port(out, text);
    return IMREC_OK;
}

void http_listener_close(struct http_listener *t)
{
    struct stat is;
    if (t->fd < 0)
        return;
    (void)shutdown(t->fd, SHUT_RDWR);
    close(t->fd);
    t->fd = -1;
    if (t->path != NULL && lstat(t->path, &is) == 0 && is.st_dev == t->dev && is.st_ino == t->ino)
        (void)unlink(t->path);
}
