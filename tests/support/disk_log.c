/* tests/support/disk_log.c */
#define _GNU_SOURCE
#include "tests/support/disk_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FDS = 1024 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct disk_log *g_log;
static char g_folder[512];
static struct { /* names as they are now */
    char name[DISK_NAME];
    int file;
    bool folder;
} g_names[DISK_FILES];
static int g_name_count, g_file_count;
static struct {
    int file; /* number + 1; -1: a folder; 0: none of ours */
    char folder[DISK_NAME];
} g_fds[FDS];
static bool g_stdio[DISK_FILES]; /* by number: its bytes are read when they matter */
bool disk_log_no_sync;

static void give_up(const char *why)
{
    fprintf(stderr, "disk_log: %s\n", why);
    _exit(99);
}

/* ---- what is there ------------------------------------------------------------------------- */

/* The name in the folder, in one of 4 buffers that take turns; NULL: it is elsewhere. "" is the
 * folder. "out//a" and "out/" are "out/a" and "out". */
static const char *inside(const char *path)
{
    static char names[4][DISK_NAME];
    static int turn;
    size_t n = strlen(g_folder), to = 0;
    if (g_log == NULL || strncmp(path, g_folder, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    char *name = names[turn++ % 4];
    for (; path[n] != '\0' && to + 1 < DISK_NAME; n++)
        if (path[n] != '/' || (to != 0 && name[to - 1] != '/'))
            name[to++] = path[n];
    if (path[n] != '\0')
        give_up("a name that is too long");
    name[to - (to != 0 && name[to - 1] == '/')] = '\0';
    return name;
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

static void set_name(const char *name, int file, bool folder)
{
    forget_name(name);
    if (g_name_count == DISK_FILES || strlen(name) >= DISK_NAME)
        give_up("too many names, or one that is too long");
    snprintf(g_names[g_name_count].name, DISK_NAME, "%s", name);
    g_names[g_name_count].folder = folder;
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

static void add_new(const char *name, bool folder)
{
    if (g_file_count == DISK_FILES)
        give_up("too many files");
    struct disk_op *o = add(DISK_NEW, g_file_count);
    snprintf(o->name, DISK_NAME, "%s", name);
    o->folder = folder;
    set_name(name, g_file_count++, folder);
}

static void add_write(int file, const void *p, size_t n, off_t at)
{
    struct disk_op *o = add(DISK_WRITE, file);
    o->at = (uint64_t)at;
    o->n = n;
    o->p = malloc(n + 1);
    memcpy(o->p, p, n);
}

/* ---- the calls ------------------------------------------------------------------------------- */

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at);
int __real_ftruncate64(int fd, off_t n);
int __wrap_ftruncate64(int fd, off_t n);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_syncfs(int fd);
int __wrap_syncfs(int fd);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

/* name NULL: the descriptor is of something else. */
static void note_open(const char *name, bool create, int fd)
{
    if (fd >= FDS)
        give_up("too many descriptors");
    g_fds[fd].file = 0;
    if (name == NULL)
        return;
    if (name[0] != '\0' && find_name(name) < 0 && create)
        add_new(name, false);
    const int at = find_name(name);
    if (name[0] == '\0' || (at >= 0 && g_names[at].folder)) {
        g_fds[fd].file = -1;
        snprintf(g_fds[fd].folder, DISK_NAME, "%s", name);
    } else {
        g_fds[fd].file = at >= 0 ? g_names[at].file + 1 : 0;
    }
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? (mode_t)va_arg(rest, int) : 0;
    va_end(rest);
    pthread_mutex_lock(&g_lock);
    const int fd = __real_open64(path, flags, mode);
    if (fd >= 0)
        note_open(inside(path), (flags & O_CREAT) != 0, fd);
    pthread_mutex_unlock(&g_lock);
    return fd;
}

int __wrap_close(int fd)
{
    pthread_mutex_lock(&g_lock);
    if (fd >= 0 && fd < FDS)
        g_fds[fd].file = 0;
    pthread_mutex_unlock(&g_lock);
    return __real_close(fd);
}

static int file_of(int fd) /* -1: none that is recorded */
{
    return g_log != NULL && fd >= 0 && fd < FDS && g_fds[fd].file > 0 ? g_fds[fd].file - 1 : -1;
}

static FILE *with_stdio(FILE *f)
{
    const int file = f != NULL ? file_of(fileno(f)) : -1;
    if (file >= 0)
        g_stdio[file] = true;
    return f;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    pthread_mutex_lock(&g_lock);
    FILE *f = __real_fopen64(path, mode);
    if (f != NULL && mode[0] == 'w') {
        note_open(inside(path), true, fileno(f));
        if (file_of(fileno(f)) >= 0)
            add(DISK_CUT, file_of(fileno(f)));
        (void)with_stdio(f);
    }
    pthread_mutex_unlock(&g_lock);
    return f;
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    pthread_mutex_lock(&g_lock);
    FILE *f = with_stdio(__real_fdopen(fd, mode));
    pthread_mutex_unlock(&g_lock);
    return f;
}

/* Of what stdio has written nobody but the disk knows. */
static void catch_up(int file)
{
    char path[1024];
    int i = 0;
    while (i < g_name_count && g_names[i].file != file)
        i++;
    if (!g_stdio[file] || i == g_name_count)
        return;
    snprintf(path, sizeof(path), "%s/%s", g_folder, g_names[i].name);
    FILE *f = __real_fopen64(path, "rb");
    const long n = f != NULL && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    uint8_t *p = malloc((size_t)n + 1);
    if (n < 0 || fseek(f, 0, SEEK_SET) != 0 || fread(p, 1, (size_t)n, f) != (size_t)n)
        give_up("a file of stdio that cannot be read");
    fclose(f);
    if (n > 0)
        add_write(file, p, (size_t)n, 0);
    free(p);
}

/* Where files of the log are written to with no place. */
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    pthread_mutex_lock(&g_lock);
    const int file = file_of(fd);
    const off_t at = file >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
    const ssize_t put = __real_write(fd, p, n);
    if (put > 0 && file >= 0)
        add_write(file, p, (size_t)put, at);
    pthread_mutex_unlock(&g_lock);
    return put;
}

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at)
{
    pthread_mutex_lock(&g_lock);
    const ssize_t put = __real_pwrite64(fd, p, n, at);
    const int file = file_of(fd);
    if (put > 0 && file >= 0)
        add_write(file, p, (size_t)put, at);
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
    if (result == 0 && file >= 0) {
        catch_up(file);
        add(DISK_SYNC, file);
    }
    if (result == 0 && g_log != NULL && fd >= 0 && fd < FDS && g_fds[fd].file == -1)
        snprintf(add(DISK_SYNC_NAMES, -1)->name, DISK_NAME, "%s", g_fds[fd].folder);
    pthread_mutex_unlock(&g_lock);
    return result;
}

int __wrap_syncfs(int fd)
{
    pthread_mutex_lock(&g_lock);
    const int result = disk_log_no_sync ? 0 : __real_syncfs(fd);
    if (result == 0 && g_log != NULL) {
        for (int i = 0; i < g_file_count; i++)
            catch_up(i);
        add(DISK_SYNC_ALL, -1);
    }
    pthread_mutex_unlock(&g_lock);
    return result;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    pthread_mutex_lock(&g_lock);
    const int result = __real_mkdir(path, mode);
    if (result == 0 && inside(path) != NULL)
        add_new(inside(path), true);
    pthread_mutex_unlock(&g_lock);
    return result;
}

/* Another name, of a file that is there. */
static void note_name(enum disk_op_kind kind, const char *from, const char *to)
{
    const int file = g_names[find_name(from)].file;
    catch_up(file);
    struct disk_op *o = add(kind, file);
    snprintf(o->name, DISK_NAME, "%s", from);
    snprintf(o->to, DISK_NAME, "%s", to);
    set_name(to, file, false);
}

int __wrap_link(const char *from, const char *to)
{
    pthread_mutex_lock(&g_lock);
    const int result = __real_link(from, to);
    if (result == 0 && inside(from) != NULL && inside(to) != NULL)
        note_name(DISK_LINK, inside(from), inside(to));
    pthread_mutex_unlock(&g_lock);
    return result;
}

static size_t folder_bytes(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? (size_t)(slash - name) : 0;
}

int __wrap_rename(const char *from, const char *to)
{
    pthread_mutex_lock(&g_lock);
    const char *a = inside(from), *b = inside(to);
    if (a != NULL && b != NULL) {
        const size_t n = folder_bytes(a);
        if (n != folder_bytes(b) || strncmp(a, b, n) != 0)
            give_up("a file that is moved into another folder: disk_states.c cannot do that");
        if (find_name(a) >= 0)
            catch_up(g_names[find_name(a)].file);
    }
    const int result = __real_rename(from, to);
    if (result == 0 && a != NULL && b != NULL) {
        g_stdio[g_names[find_name(a)].file] = false; /* it was read */
        note_name(DISK_RENAME, a, b);
        forget_name(a);
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
        set_name(log->before.files[i].name, i, log->before.files[i].folder);
    g_file_count = log->before.count;
    memset(g_fds, 0, sizeof(g_fds));
    memset(g_stdio, 0, sizeof(g_stdio));
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
