/* tools/top/top_fetch.c - reads a file, or asks a server: GET /metrics, one connection an answer.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC, SOCK_NONBLOCK */
#include "tools/top/top_fetch.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_NS ((uint64_t)3000000000)
#define HOST_BYTES 256

bool top_is_file(const char *where)
{
    const char *colon = strrchr(where, ':');
    const bool port = colon != NULL && colon[1] != '\0' && strchr(where, '/') == NULL &&
                      strspn(colon + 1, "0123456789") == strlen(colon + 1);
    return strncmp(where, "unix:", 5) != 0 && !port;
}

/* Of the clock by which files are stamped. */
uint64_t top_wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum imrec_status too_long(const char *where, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_LIMIT, "%s: more than %zu bytes are no metrics of a loader",
                      where, TOP_TEXT_BYTES);
}

static enum imrec_status refused(const char *where, int error, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_IO, "%s: cannot be read: %s", where, strerror(error));
}

/* ---- a file --------------------------------------------------------------------------------- */

static enum imrec_status
read_file(const char *where, struct buf *out, uint64_t *at_ns, struct imrec_error *err)
{
    char piece[4096];
    struct stat is;
    ssize_t n = 0;
    const int fd = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is not waited for */
    if (fd < 0)
        return refused(where, errno, err);
    enum imrec_status st = IMREC_OK;
    if (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode))
        st = refused(where, EINVAL, err);
    else
        *at_ns = system_changed_ns(&is);
    while (st == IMREC_OK && (n = read(fd, piece, sizeof(piece))) > 0)
        st = out->n + (size_t)n > TOP_TEXT_BYTES ? too_long(where, err)
                                                 : buf_append(out, piece, (size_t)n, err);
    if (st == IMREC_OK && n < 0)
        st = refused(where, errno, err);
    close(fd);
    return st;
}

/* ---- a server ------------------------------------------------------------------------------- */

static bool wait_for(int fd, short what, uint64_t until)
{
    for (;;) {
        struct pollfd p = {fd, what, 0};
        const uint64_t now = clock_ns();
        if (now >= until) {
            errno = ETIMEDOUT;
            return false;
        }
        const int n = poll(&p, 1, (int)((until - now) / 1000000 + 1));
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

/* A connected socket, or -1 with errno. */
static int connect_to(int family, const struct sockaddr *a, socklen_t n, uint64_t until)
{
    int error = 0;
    socklen_t size = sizeof(error);
    const int fd = system_socket(family);
    if (fd < 0)
        return -1;
    if (connect(fd, a, n) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT, until)) {
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
            return fd;
        errno = error;
    }
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int connect_local(const char *path, uint64_t until)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(a.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    return connect_to(AF_UNIX, (const struct sockaddr *)&a, sizeof(a), until);
}

/* "node1:9400", "[::1]:9400" */
static int connect_host(const char *where, uint64_t until)
{
    char host[HOST_BYTES];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    const char *colon = strrchr(where, ':'), *begin = where;
    size_t n = (size_t)(colon - where);
    if (n > 2 && where[0] == '[' && where[n - 1] == ']') {
        begin++;
        n -= 2;
    }
    snprintf(host, sizeof(host), "%.*s", (int)(n < sizeof(host) ? n : 0), begin);
    if (host[0] == '\0' || getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = connect_to(a->ai_family, a->ai_addr, a->ai_addrlen, until);
    const int error = errno;
    freeaddrinfo(found);
    errno = error;
    return fd;
}

static bool send_all(int fd, const char *text, uint64_t until)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t n = send(fd, text, left, MSG_NOSIGNAL);
        if (n > 0) {
            text += n;
            left -= (size_t)n;
        } else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, until)) {
            return false;
        }
    }
    return true;
}

/* Everything up to the end of the connection. */
static enum imrec_status
receive(int fd, const char *where, struct buf *out, uint64_t until, struct imrec_error *err)
{
    char piece[4096];
    for (;;) {
        const ssize_t n = recv(fd, piece, sizeof(piece), 0);
        if (n == 0)
            return IMREC_OK;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return refused(where, errno, err);
        if (n < 0 && !wait_for(fd, POLLIN, until))
            return refused(where, errno, err);
        if (n > 0 && out->n + (size_t)n > TOP_TEXT_BYTES)
            return too_long(where, err);
        if (n > 0)
            IMREC_TRY(buf_append(out, piece, (size_t)n, err));
    }
}

/* The answer becomes its body. */
static enum imrec_status take_body(const char *where, struct buf *b, struct imrec_error *err)
{
    const uint8_t *end = b->n > 0 ? memmem(b->p, b->n, "\r\n\r\n", 4) : NULL;
    if (end == NULL || b->n < 12 || memcmp(b->p, "HTTP/1.", 7) != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: what answers there speaks no HTTP", where);
    if (memcmp(b->p + 8, " 200", 4) != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: /metrics answers '%.*s', 200 is expected",
                          where, 3, (const char *)b->p + 9);
    const size_t head = (size_t)(end + 4 - b->p);
    memmove(b->p, b->p + head, b->n - head);
    b->n -= head;
    return IMREC_OK;
}

static enum imrec_status ask(const char *where, struct buf *out, struct imrec_error *err)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                                  "User-Agent: imrec-top\r\nConnection: close\r\n\r\n";
    const uint64_t until = clock_ns() + LONGEST_NS;
    const bool local = strncmp(where, "unix:", 5) == 0;
    const int fd = local ? connect_local(where + 5, until) : connect_host(where, until);
    if (fd < 0)
        return refused(where, errno, err);
    enum imrec_status st = send_all(fd, request, until) ? IMREC_OK : refused(where, errno, err);
    if (st == IMREC_OK)
        st = receive(fd, where, out, until, err);
    close(fd);
    return st == IMREC_OK ? take_body(where, out, err) : st;
}

enum imrec_status
top_fetch(const char *where, struct buf *out, uint64_t *at_ns, struct imrec_error *err)
{
    out->n = 0;
    if (top_is_file(where))
        IMREC_TRY(read_file(where, out, at_ns, err));
    else
        IMREC_TRY(ask(where, out, err));
    if (!top_is_file(where))
        *at_ns = top_wall_ns();
    return buf_append(out, "", 1, err); /* a NUL after the text */
}
