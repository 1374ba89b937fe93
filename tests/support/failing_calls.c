/* tests/support/failing_calls.c */
#define _GNU_SOURCE
#include "tests/support/failing_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long g_count, g_fails;
static atomic_int g_code;
static const char *_Atomic g_failed;

void failing_call(long n, int code)
{
    atomic_store(&g_failed, NULL);
    atomic_store(&g_code, code);
    atomic_store(&g_fails, n);
    atomic_store(&g_count, 0);
}

const char *failed_call(void)
{
    return atomic_load(&g_failed);
}

static bool is_the_one(const char *name)
{
    if (atomic_fetch_add(&g_count, 1) + 1 != atomic_load(&g_fails))
        return false;
    atomic_store(&g_failed, name);
    return true;
}

static bool fails(const char *name)
{
    if (!is_the_one(name) || atomic_load(&g_code) == 0)
        return false;
    errno = atomic_load(&g_code);
    return true;
}

/* A call of `type` with these parameters and arguments, which fails with `failure`. */
#define CALL(type, name, failure, parameters, arguments)                                           \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(#name) ? (failure) : __real_##name arguments;                                 \
    }

CALL(int, ftruncate64, -1, (int fd, off_t n), (fd, n))
CALL(int, rename, -1, (const char *from, const char *to), (from, to))
CALL(int, unlink, -1, (const char *path), (path))
CALL(int, stat64, -1, (const char *path, struct stat *out), (path, out))
CALL(int, lstat64, -1, (const char *path, struct stat *out), (path, out))
CALL(int, fstat64, -1, (int fd, struct stat *out), (fd, out))
CALL(int, fstatat64, -1, (int fd, const char *path, struct stat *out, int flags),
     (fd, path, out, flags))
CALL(DIR *, opendir, NULL, (const char *path), (path))
CALL(struct dirent *, readdir64, NULL, (DIR * d), (d))
CALL(int, flock, -1, (int fd, int how), (fd, how))
CALL(int, posix_fadvise64, EIO, (int fd, off_t at, off_t n, int how), (fd, at, n, how))
CALL(int, sync_file_range, -1, (int fd, off_t at, off_t n, unsigned how), (fd, at, n, how))
CALL(void *, mmap64, MAP_FAILED, (void *p, size_t n, int how, int flags, int fd, off_t at),
     (p, n, how, flags, fd, at))
CALL(int, madvise, -1, (void *p, size_t n, int how), (p, n, how))

/* A call that moves bytes: it may be cut short instead. */
#define MOVE(name, pointer)                                                                        \
    ssize_t __real_##name(int fd, pointer p, size_t n, off_t at);                                  \
    ssize_t __wrap_##name(int fd, pointer p, size_t n, off_t at);                                  \
    ssize_t __wrap_##name(int fd, pointer p, size_t n, off_t at)                                   \
    {                                                                                              \
        if (!is_the_one(#name))                                                                    \
            return __real_##name(fd, p, n, at);                                                    \
        errno = atomic_load(&g_code);                                                              \
        return errno != 0 ? -1 : __real_##name(fd, p, n > 1 ? 1 : n, at);                          \
    }

MOVE(pread64, void *)
MOVE(pwrite64, const void *)

/* Thousands of runs need not wait for a disk. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails("fsync") ? -1 : 0;
}

/* The descriptor is gone all the same, as on Linux. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const int code = fails("close") ? atomic_load(&g_code) : 0, result = __real_close(fd);
    if (code == 0)
        return result;
    errno = code;
    return -1;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? (mode_t)va_arg(rest, int) : 0;
    va_end(rest);
    return fails("open") ? -1 : __real_open64(path, flags, mode);
}

int __real_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...);
int __wrap_fcntl64(int fd, int what, ...)
{
    va_list rest;
    va_start(rest, what);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fails("fcntl") ? -1 : __real_fcntl64(fd, what, argument);
}
