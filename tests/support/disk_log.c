/* tests/support/disk_log.c */
#define _GNU_SOURCE
#include "tests/support/disk_log.h"

#include "tests/support/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>

enum { FDS = 1024 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct disk_log *g_log;
static char g_folder[512];
static struct { /* names as they are now */
    char name[DISK_NAME];
    int file;
} g_names[DISK_FILES];
static int g_name_count, g_file_count;
static int g_file_of[FDS]; /* number + 1; -1: the folder; 0: none of ours */
bool disk_log_no_sync;

static void give_up(const char *why)
{
    fprintf(stderr, "disk_log: %s\n", why);
    _exit(99);
}

/* ---- what is there ------------------------------------------------------------------------- */

/* The name in the folder; NULL: it is elsewhere. "" is the folder. */
static const char *inside(const char *path)
{
    const size_t n = strlen(g_folder);
    if (g_log == NULL || strncmp(path, g_folder, n) != 0)
        return NULL;
    if (path[n] == '\0')
        return path + n;
    return path[n] == '/' && strchr(path + n + 1, '/') == NULL ? path + n + 1 : NULL;
}

static int find_name(const char *name)
{
    for (int i = 0; i < g_name_count; i++)
        if (strcmp(g_names[i].name, name) == 0)
            return i;
    return -1;
}

static void forget_name(const char *name)
{
    const int i = find_name(name);
    if (i >= 0)
        g_names[i] = g_names[--g_name_count];
}

static void set_name(const char *name, int file)
{
    forget_name(name);
    if (g_name_count == DISK_FILES || strlen(name) >= DISK_NAME)
        give_up("too many names, or one that is too long");
    snprintf(g_names[g_name_count].name, DISK_NAME, "%s", name);
    g_names[g_name_count++].file = file;
}

static struct disk_op *add(enum disk_op_kind kind, int file)
{
    if (g_log->count == DISK_OPS)
        give_up("too many calls");
    struct disk_op *o = &g_log->ops[g_log->count++];
    *o = (struct disk_op){.kind = kind, .file = file};
    return o;
}

/* ---- the calls ------------------------------------------------------------------------------- */

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at);
int __real_ftruncate64(int fd, off_t n);
int __wrap_ftruncate64(int fd, off_t n);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

static void note_open(const char *name, int flags, int fd)
{
    if (fd >= FDS)
        give_up("too many descriptors");
    if (name[0] == '\0') {
        g_file_of[fd] = -1;
        return;
    }
    if (find_name(name) < 0 && (flags & O_CREAT) != 0) {
        snprintf(add(DISK_NEW, g_file_count)->name, DISK_NAME, "%s", name);
        set_name(name, g_file_count++);
    }
    const int at = find_name(name);
    g_file_of[fd] = at >= 0 ? g_names[at].file + 1 : 0;
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? (mode_t)va_arg(rest, int) : 0;
    va_end(rest);
    pthread_mutex_lock(&g_lock);
    const int fd = __real_open64(path, flags, mode);
    const char *name = inside(path);
    if (fd >= 0 && name != NULL)
        note_open(name, flags, fd);
    pthread_mutex_unlock(&g_lock);
    return fd;
}

int __wrap_close(int fd)
{
    pthread_mutex_lock(&g_lock);
    if (fd >= 0 && fd < FDS)
        g_file_of[fd] = 0;
    pthread_mutex_unlock(&g_lock);
    return __real_close(fd);
}

static int file_of(int fd) /* -1: none that is recorded */
{
    return g_log != NULL && fd >= 0 && fd < FDS && g_file_of[fd] > 0 ? g_file_of[fd] - 1 : -1;
}

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at)
{
    pthread_mutex_lock(&g_lock);
    const ssize_t put = __real_pwrite64(fd, p, n, at);
    const int file = file_of(fd);
    if (put > 0 && file >= 0) {
        struct disk_op *o = add(DISK_WRITE, file);
        o->at = (uint64_t)at;
        o->n = (uint64_t)put;
        o->p = malloc((size_t)put);
        memcpy(o->p, p, (size_t)put);
    }
    pthread_mutex_unlock(&g_lock);
    return put;
}

int __wrap_ftruncate64(int fd, off_t n)
{
    pthread_mutex_lock(&g_lock);
    const int result = __real_ftruncate64(fd, n), file = file_of(fd);
    if (result == 0 && file >= 0)
        add(DISK_CUT, file)->n = (uint64_t)n;
    pthread_mutex_unlock(&g_lock);
    return result;
}

int __wrap_fsync(int fd)
{
    pthread_mutex_lock(&g_lock);
    const int result = disk_log_no_sync ? 0 : __real_fsync(fd), file = file_of(fd);
    if (result == 0 && file >= 0)
        add(DISK_SYNC, file);
    if (result == 0 && g_log != NULL && fd >= 0 && fd < FDS && g_file_of[fd] == -1)
        add(DISK_SYNC_NAMES, -1);
    pthread_mutex_unlock(&g_lock);
    return result;
}

int __wrap_rename(const char *from, const char *to)
{
    pthread_mutex_lock(&g_lock);
    const char *a = inside(from), *b = inside(to);
    const int result = __real_rename(from, to);
    if (result == 0 && a != NULL && b != NULL) {
        const int file = g_names[find_name(a)].file;
        struct disk_op *o = add(DISK_RENAME, file);
        snprintf(o->name, DISK_NAME, "%s", a);
        snprintf(o->to, DISK_NAME, "%s", b);
        forget_name(a);
        set_name(b, file);
    }
    pthread_mutex_unlock(&g_lock);
    return result;
}

int __wrap_unlink(const char *path)
{
    pthread_mutex_lock(&g_lock);
    const char *name = inside(path);
    const int result = __real_unlink(path);
    if (result == 0 && name != NULL) {
        snprintf(add(DISK_REMOVE, g_names[find_name(name)].file)->name, DISK_NAME, "%s", name);
        forget_name(name);
    }
    pthread_mutex_unlock(&g_lock);
    return result;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void disk_log_begin(const char *folder)
{
    struct disk_image *there = disk_image_read(folder);
    struct disk_log *log = calloc(1, sizeof(*log));
    log->before = *there;
    free(there);
    g_name_count = 0;
    for (int i = 0; i < log->before.count; i++)
        set_name(log->before.files[i].name, i);
    g_file_count = log->before.count;
    memset(g_file_of, 0, sizeof(g_file_of));
    snprintf(g_folder, sizeof(g_folder), "%s", folder);
    pthread_mutex_lock(&g_lock);
    g_log = log;
    pthread_mutex_unlock(&g_lock);
}

struct disk_log *disk_log_end(void)
{
    pthread_mutex_lock(&g_lock);
    struct disk_log *log = g_log;
    g_log = NULL;
    pthread_mutex_unlock(&g_lock);
    return log;
}

void disk_log_free(struct disk_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->ops[i].p);
    for (int i = 0; i < log->before.count; i++)
        free(log->before.files[i].p);
    free(log);
}
