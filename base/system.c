/* base/system.c - calls that systems name differently: those of Linux, and of macOS, which has been
 * compiled for and not tried. */
#define _GNU_SOURCE /* accept4() */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h> /* getentropy() */
#include <sys/socket.h>
#include <unistd.h>

void system_wipe(void *p, size_t n)
{
    static void *(*const volatile fill)(void *, int, size_t) = memset; /* no compiler omits it */
    (void)fill(p, 0, n);
}

bool system_random(void *p, size_t n)
{
    return getentropy(p, n) == 0;
}

uint64_t system_changed_ns(const struct stat *s)
{
#if defined(__APPLE__)
    const struct timespec at = s->st_mtimespec;
#else
    const struct timespec at = s->st_mtim;
#endif
    return at.tv_sec <= 0 ? 0 : (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

int system_sync(int fd)
{
#if defined(F_FULLFSYNC) /* of macOS, whose fsync() leaves it in the disk's own memory */
    if (fcntl(fd, F_FULLFSYNC) == 0)
        return 0;
#endif
    return fsync(fd);
}

int system_sync_folder_of(char *path, int (*sync)(void *user, int fd), void *user)
{
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    char *slash = strrchr(path, '/');
    const char *folder = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash != NULL)
        *slash = '/';
    if (fd < 0)
        return -1;
    const int result = sync != NULL ? sync(user, fd) : system_sync(fd), code = errno;
    (void)close(fd);
    errno = code;
    return result == 0 || code == EINVAL || code == ENOTSUP ? 0 : -1;
}

void system_advise(int fd, off_t offset, off_t n, enum system_advice what)
{
#if defined(POSIX_FADV_WILLNEED)
    (void)posix_fadvise(fd, offset, n,
                        what == SYSTEM_WILL_NEED ? POSIX_FADV_WILLNEED : POSIX_FADV_DONTNEED);
#else
    (void)fd, (void)offset, (void)n, (void)what;
#endif
}

#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)

int system_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int system_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

#else

/* A program that another thread starts in between inherits it. */
static int prepared(int fd)
{
    if (fd < 0 || (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0))
        return fd;
    const int code = errno;
    (void)close(fd);
    errno = code;
    return -1;
}

int system_socket(int family)
{
    return prepared(socket(family, SOCK_STREAM, 0));
}

int system_accept(int listener)
{
    return prepared(accept(listener, NULL, NULL));
}
#endif
