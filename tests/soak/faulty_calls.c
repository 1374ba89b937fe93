/*
 * tests/soak/faulty_calls.c - preloaded into a program: calls of the system on files below a folder
 * fail, are cut short or take long, by chance, as a page says that another process may change at
 * any time (IMREC_FAULT_PAGE, a file; without it nothing happens).
 *
 * A read that fails by chance passes: the same thread's next ones work, which are the look whether
 * it was for once, and the read itself. What must be reported, and not healed, is a place of the
 * page, which no read gets through; as in the kernel, a read that begins before it ends at it.
 */
#define _GNU_SOURCE
#include "tests/soak/faulty_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct fault_page *g_page;
static __thread int t_works; /* so many reads of this thread work, because one has failed */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("IMREC_FAULT_PAGE");
    const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof(*g_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    g_page = map == MAP_FAILED ? NULL : map;
}

/* splitmix64 of a counter that all threads share: which call gets which draw depends on them. */
static uint64_t draw(void)
{
    uint64_t x = g_page->seed + 0x9e3779b97f4a7c15u * __atomic_add_fetch(&g_page->calls, 1, 5);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void note(enum fault kind)
{
    (void)__atomic_add_fetch(&g_page->injected[kind], 1, 5);
}

static bool happens(enum fault kind)
{
    const uint32_t rate = __atomic_load_n(&g_page->per_million[kind], 5);
    if (rate == 0 || draw() % 1000000 >= rate)
        return false;
    note(kind);
    return true;
}

static bool is_below(const char *path)
{
    return strncmp(path, g_page->folder, strlen(g_page->folder)) == 0;
}

static bool is_ours(int fd)
{
    char name[40], path[600];
    if (g_page == NULL)
        return false;
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof(path) - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    return is_below(path);
}

static void maybe_sleep(enum fault kind)
{
    if (!happens(kind))
        return;
    const uint32_t most = __atomic_load_n(&g_page->sleep_us, 5);
    const struct timespec pause = {0, (long)(draw() % (most + 1)) * 1000};
    (void)nanosleep(&pause, NULL);
}

/* The number of bytes from `at`, of `n`, that can be read. */
static uint64_t readable(int fd, uint64_t at, uint64_t n)
{
    struct stat info;
    const uint32_t count = __atomic_load_n(&g_page->bad_count, 5);
    if (count == 0 || fstat(fd, &info) != 0)
        return n;
    for (uint32_t i = 0; i < count && i < FAULT_PLACES; i++)
        if (g_page->bad[i].inode == info.st_ino && at < g_page->bad[i].end &&
            at + n > g_page->bad[i].begin)
            n = at < g_page->bad[i].begin ? g_page->bad[i].begin - at : 0;
    return n;
}

static int fail(int code)
{
    errno = code;
    return -1;
}

/* The number of bytes that a call moves of `n`: all, or by chance fewer, one at least. */
static size_t cut(enum fault kind, size_t n)
{
    return n > 1 && happens(kind) ? 1 + draw() % (n - 1) : n;
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    if (!is_ours(fd))
        return real(fd, to, n, at);
    maybe_sleep(FAULT_READ_SLOW);
    if (happens(FAULT_READ_EINTR))
        return fail(EINTR);
    const size_t most = (size_t)readable(fd, (uint64_t)at, n);
    if (most == 0 && n != 0) {
        note(FAULT_READ_BAD);
        return fail(EIO);
    }
    n = most;
    if (t_works > 0) {
        t_works--;
    } else if (happens(FAULT_READ_EIO)) {
        t_works = (int)__atomic_load_n(&g_page->works, 5);
        return fail(EIO);
    }
    return real(fd, to, cut(FAULT_READ_SHORT, n), at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    if (!is_ours(fd))
        return real(fd, p, n, at);
    maybe_sleep(FAULT_WRITE_SLOW);
    if (happens(FAULT_WRITE_EINTR))
        return fail(EINTR);
    if (happens(FAULT_WRITE_EIO))
        return fail(EIO);
    if (happens(FAULT_WRITE_FULL)) { /* a full disk takes what fits */
        (void)!real(fd, p, n / 2, at);
        return fail(ENOSPC);
    }
    return real(fd, p, cut(FAULT_WRITE_SHORT, n), at);
}

int fsync(int fd)
{
    static int (*real)(int);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    if (!is_ours(fd))
        return real(fd);
    return happens(FAULT_SYNC_EIO) ? fail(EIO) : 0; /* hours of runs need not wait for a disk */
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "rename");
    if (g_page != NULL && is_below(to) && happens(FAULT_RENAME_EIO))
        return fail(EIO);
    return real(from, to);
}

int open64(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? (mode_t)va_arg(rest, int) : 0;
    va_end(rest);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "open64");
    if (g_page != NULL && is_below(path) && happens(FAULT_OPEN_EIO))
        return fail(EIO);
    return real(path, flags, mode);
}
