/* tools/commands/export_files.c - a folder that an export fills, file by file; each file gets its
 * name only when it is complete. */
#define _GNU_SOURCE /* syncfs */
#include "tools/commands/export_files.h"

#include "base/fnv.h"
#include "base/system.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/show.h"
#include "storage/folder.h"
#include "storage/sink.h"
#include "tools/commands/export_names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_ROOM = 2 * EXPORT_PATH_BYTES,
    MARKER_ROOM = 1 << 17,
    COMPARE_BYTES = 1 << 16,
    PAGE_BYTES = 4096, /* which a disk has, or has not */
};

#define MARKER    "export.part"
#define WORK_FILE "export.file.part"
#define LIST_PART "export.lst.part"
#define LIST      "export.lst"

static bool say(const struct export_files *f, const char *what, const char *path)
{
    cli_say(f->name, "%s %s: %s", what, path, strerror(errno));
    return false;
}

static char *in_folder(const struct export_files *f, const char *path, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s/%s", f->folder, path);
    return out;
}

/* ---- names that were given -------------------------------------------------------------- */

/* Never 0. Two names of one hash cost the later one its wish, no more. */
static uint64_t hash_of(const char *path)
{
    const uint64_t h = fnv1a(FNV_START, path, strlen(path));
    return h != 0 ? h : 1;
}

/* The place of the hash, or where it would be. */
static size_t place_of(const uint64_t *table, size_t room, uint64_t hash)
{
    size_t i = (size_t)(hash % room);
    while (table[i] != 0 && table[i] != hash)
        i = i + 1 == room ? 0 : i + 1;
    return i;
}

static bool is_given(const struct export_files *f, const char *path)
{
    const uint64_t hash = hash_of(path);
    return f->taken[place_of(f->taken, f->taken_room, hash)] == hash;
}

static void grow(struct export_files *f)
{
    const size_t room = f->taken_room == 0 ? 4096 : 2 * f->taken_room;
    uint64_t *table = cli_realloc(NULL, room, sizeof(*table));
    memset(table, 0, room * sizeof(*table));
    for (size_t i = 0; i < f->taken_room; i++)
        if (f->taken[i] != 0)
            table[place_of(table, room, f->taken[i])] = f->taken[i];
    cli_free(f->taken);
    f->taken = table;
    f->taken_room = room;
}

static void give(struct export_files *f, const char *path)
{
    if (2 * f->taken_count >= f->taken_room)
        grow(f);
    const uint64_t hash = hash_of(path);
    const size_t i = place_of(f->taken, f->taken_room, hash);
    f->taken_count += f->taken[i] == 0;
    f->taken[i] = hash;
}

/* ---- one file ----------------------------------------------------------------------------- */

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        const ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        p += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static ssize_t read_some(int fd, char *to, size_t n)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Whether `found` is what a disk may have of bytes[0..n): pages that were lost are zeros. */
static bool is_left_of(const char *found, const char *bytes, size_t n)
{
    static const char zeros[PAGE_BYTES];
    for (size_t at = 0; at < n; at += PAGE_BYTES) {
        const size_t page = n - at < PAGE_BYTES ? n - at : PAGE_BYTES;
        if (memcmp(found + at, bytes + at, page) != 0 && memcmp(found + at, zeros, page) != 0)
            return false;
    }
    return true;
}

/* Whether the file has these bytes and no more; torn: or is what a disk may have of them. */
static bool holds(const char *path, const char *bytes, size_t n, bool torn)
{
    char piece[COMPARE_BYTES];
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat s = {.st_size = 0};
    bool same = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
                (torn ? (uint64_t)s.st_size <= n : (uint64_t)s.st_size == n);
    for (size_t at = 0; same && at < (size_t)s.st_size;) {
        const ssize_t got = read_some(fd, piece, sizeof(piece));
        same = got > 0 && (size_t)got <= n - at &&
               (torn ? is_left_of(piece, bytes + at, (size_t)got)
                     : memcmp(piece, bytes + at, (size_t)got) == 0);
        at += same ? (size_t)got : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return same;
}

/* Whether every folder of `path`, as far as it is there, is a folder, and no link to one. */
static bool folders_are_free(char *path, size_t from)
{
    struct stat s;
    bool is_free = true;
    for (char *slash = strchr(path + from, '/'); is_free && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        is_free = lstat(path, &s) != 0 || S_ISDIR(s.st_mode);
        *slash = '/';
    }
    return is_free;
}

enum export_place
export_files_look(const struct export_files *f, const char *path, const void *bytes, size_t n)
{
    char full[PATH_ROOM];
    struct stat s;
    in_folder(f, path, full);
    if (is_given(f, path) || !folders_are_free(full, strlen(f->folder) + 1))
        return EXPORT_TAKEN;
    if (lstat(full, &s) != 0)
        return EXPORT_FREE;
    if (holds(full, bytes, n, false))
        return EXPORT_THERE;
    return f->begun && holds(full, bytes, n, true) ? EXPORT_TORN : EXPORT_TAKEN;
}

static bool make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

/* Gives the file its name, unless that is taken: by a link, where the file system has them. */
static bool publish(const char *work, const char *path)
{
    struct stat s;
    if (link(work, path) == 0)
        return unlink(work) == 0;
    if (errno == EEXIST)
        return false;
    if (lstat(path, &s) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(work, path) == 0;
}

/* A file of its own: an earlier call may have ended between the two names of its last one. */
static int open_work(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static bool
write_file(const struct export_files *f, const char *path, bool again, const void *bytes, size_t n)
{
    char work[PATH_ROOM], full[PATH_ROOM];
    in_folder(f, WORK_FILE, work);
    in_folder(f, path, full);
    if (!make_folders(full, strlen(f->folder) + 1))
        return say(f, "cannot make the folder of", full);
    const int fd = open_work(work);
    if (fd < 0)
        return say(f, "cannot create", work);
    const bool wrote = write_all(fd, bytes, n);
    if (close(fd) != 0 || !wrote)
        return say(f, "cannot write", work);
    return (again ? rename(work, full) == 0 : publish(work, full)) || say(f, "cannot create", full);
}

bool export_files_put(struct export_files *f, const char *path, enum export_place place,
                      const void *bytes, size_t n)
{
    if (place != EXPORT_THERE && !write_file(f, path, place == EXPORT_TORN, bytes, n))
        return false;
    give(f, path);
    return true;
}

/* ---- the folder ----------------------------------------------------------------------------- */

/* Counts the entries of the folder besides `except`, up to 1; -1 and errno: unknown. */
static int count_others(const char *folder, const char *except)
{
    struct folder *f;
    struct folder_entry e;
    struct imrec_error why;
    int others = 0;
    enum imrec_status st = folder_open_path(folder, &f, &why);
    while (st == IMREC_OK && others == 0 && (st = folder_next(f, &e, &why)) == IMREC_OK)
        others = strcmp(e.name, except) != 0;
    folder_close(f);
    if (st == IMREC_OK || st == IMREC_END)
        return others;
    errno = st == IMREC_ERR_NO_MEMORY ? ENOMEM : why.sys_errno;
    return -1;
}

static bool refuse(const struct export_files *f, const char *why)
{
    cli_say(f->name, "%s %s", f->folder, why);
    return false;
}

static bool lock(const struct export_files *f)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(f->marker, F_SETLK, &l) == 0)
        return true;
    return errno == EACCES || errno == EAGAIN ? refuse(f, "is being written by another export")
                                              : true; /* a file system without locks */
}

/* Whether an earlier call's marker is of this export, *whole: and not cut or torn. */
static bool marker_is_ours(const struct export_files *f, const char *text, size_t n, bool *whole)
{
    char *found = cli_realloc(NULL, MARKER_ROOM, 1);
    const ssize_t got = read_some(f->marker, found, MARKER_ROOM);
    const bool ours = got >= 0 && (size_t)got <= n && is_left_of(found, text, (size_t)got);
    *whole = ours && (size_t)got == n && memcmp(found, text, n) == 0;
    cli_free(found);
    return ours;
}

static bool take_begun(struct export_files *f, const char *path, const char *text, size_t n)
{
    f->marker = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (f->marker < 0)
        return say(f, "cannot open", path);
    if (!lock(f))
        return false;
    const bool ours = marker_is_ours(f, text, n, &f->begun);
    if (f->begun)
        return true;
    if (ours && count_others(f->folder, MARKER) == 0) /* it ended while that was written */
        return (lseek(f->marker, 0, SEEK_SET) == 0 && write_all(f->marker, text, n)) ||
               say(f, "cannot write", path);
    return refuse(f, "holds an unfinished export of something else (export.part says of what); "
                     "nothing is overwritten");
}

static bool take_empty(struct export_files *f, const char *path, const char *text, size_t n)
{
    f->marker = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (f->marker < 0)
        return say(f, "cannot create", path);
    if (!lock(f))
        return false;
    return write_all(f->marker, text, n) || say(f, "cannot write", path);
}

static bool take_folder(struct export_files *f, const char *uri)
{
    char path[PATH_ROOM], text[MARKER_ROOM];
    struct stat s;
    const int n = snprintf(text, sizeof(text), "imrec export 1\nof %s\n", cli_uri(uri));
    if (mkdir(f->folder, 0777) != 0 && errno != EEXIST)
        return say(f, "cannot create", f->folder);
    const int others = count_others(f->folder, "");
    if (others < 0)
        return say(f, "cannot look into", f->folder);
    if (n < 0 || (size_t)n >= sizeof(text))
        return refuse(f, "cannot be exported to: the name of the export is too long");
    in_folder(f, MARKER, path);
    if (others == 0)
        return take_empty(f, path, text, (size_t)n);
    if (lstat(path, &s) == 0 && S_ISREG(s.st_mode))
        return take_begun(f, path, text, (size_t)n);
    return refuse(f, "is not empty; nothing is overwritten");
}

/* The names next to this one are on the disk. */
static bool sync_names(const struct export_files *f, const char *name)
{
    char path[PATH_ROOM];
    struct imrec_error why;
    if (sink_sync_names(in_folder(f, name, path), &why) == IMREC_OK)
        return true;
    (void)cli_fail(f->name, &why);
    return false;
}

/* The marker first of all: files that a machine which stops has lost bytes of are next to it. */
static bool sync_marker(const struct export_files *f)
{
    char path[PATH_ROOM];
    if (system_sync(f->marker) != 0)
        return say(f, "cannot write", in_folder(f, MARKER, path));
    return sync_names(f, MARKER);
}

static FILE *open_list(const char *path)
{
    const int fd = open_work(path);
    FILE *list = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && list == NULL)
        (void)close(fd);
    return list;
}

bool export_files_open(struct export_files *f, const char *name, const char *folder,
                       const char *uri)
{
    static const char *const own[] = {MARKER, WORK_FILE, LIST_PART, LIST};
    char path[PATH_ROOM];
    *f = (struct export_files){.name = name, .folder = folder, .marker = -1};
    if (!take_folder(f, uri) || !sync_marker(f))
        return false;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        give(f, own[i]);
    f->list = open_list(in_folder(f, LIST_PART, path));
    return f->list != NULL || say(f, "cannot create", path);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* All files durable, before the list says that they are there. */
static bool sync_folder(const struct export_files *f)
{
#ifdef __linux__
    return syncfs(f->marker) == 0;
#else
    (void)f;
    sync();
    return true;
#endif
}

/* The list that an earlier call has finished, if it is the same. */
static bool list_is_there(const char *part, const char *path)
{
    struct stat s;
    char *text = NULL;
    const int fd = open(part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &s) == 0;
    if (same) {
        text = cli_realloc(NULL, (size_t)s.st_size, 1);
        for (size_t at = 0; same && at < (size_t)s.st_size;) {
            const ssize_t got = read_some(fd, text + at, (size_t)s.st_size - at);
            same = got > 0;
            at += same ? (size_t)got : 0;
        }
    }
    same = same && holds(path, text, (size_t)s.st_size, false);
    cli_free(text);
    if (fd >= 0)
        (void)close(fd);
    return same;
}

bool export_files_commit(struct export_files *f)
{
    char part[PATH_ROOM], path[PATH_ROOM];
    FILE *list = f->list;
    f->list = NULL;
    bool good = fflush(list) == 0 && ferror(list) == 0 && system_sync(fileno(list)) == 0;
    good = fclose(list) == 0 && good && sync_folder(f);
    in_folder(f, LIST_PART, part);
    in_folder(f, LIST, path);
    if (!good)
        return say(f, "cannot write", part);
    if (!publish(part, path)) {
        if (errno != EEXIST || !list_is_there(part, path))
            return say(f, "cannot create", path);
        (void)unlink(part);
    }
    (void)unlink(in_folder(f, WORK_FILE, part));
    if (!sync_names(f, LIST)) /* before the marker goes */
        return false;
    return unlink(in_folder(f, MARKER, part)) == 0 ? sync_names(f, MARKER)
                                                   : say(f, "cannot remove", part);
}

void export_files_close(struct export_files *f)
{
    if (f->list != NULL)
        (void)fclose(f->list);
    if (f->marker >= 0)
        (void)close(f->marker);
    cli_free(f->taken);
    *f = (struct export_files){.marker = -1};
}
