/*
 * storage/files/file_lock.c - the lock of PATH: one of the system's on the file PATH.part.
 *
 * The file holds a line, "imrec lock: process 17 on HOST". It is removed while the lock is held; so
 * the holder checks that its file still has the name, and else begins again.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "storage/files/file_lock.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "storage/files/file_store.h"
#include "storage/store/io_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD       "imrec lock: "
#define LINE_BYTES 256
#define ATTEMPTS   1000 /* each of which found a file that its holder removed meanwhile */

struct file_lock {
    struct lock base; /* first */
    int fd;
    char path[];
};

/* 0, or the errno: EAGAIN where somebody else holds it. */
static int lock_file(int fd)
{
#ifdef F_OFD_SETLK
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &all) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return EAGAIN;
#endif
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

/* ---- what the file says ------------------------------------------------------------------- */

/* *n: its bytes, of which a zero ends the text. 0, or an errno. */
static int read_line(int fd, char line[LINE_BYTES], size_t *n)
{
    *n = 0;
    line[0] = '\0';
    for (;;) {
        const ssize_t got = pread(fd, line + *n, LINE_BYTES - 1 - *n, (off_t)*n);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno;
        *n += got > 0 ? (size_t)got : 0;
        line[*n] = '\0';
    }
}

static bool is_ours(const char *line)
{
    return strncmp(line, HEAD, sizeof(HEAD) - 1) == 0;
}

static enum imrec_status busy(const struct file_lock *l, struct imrec_error *err)
{
    char line[LINE_BYTES];
    const char *who = "another process";
    size_t n;
    if (read_line(l->fd, line, &n) == 0 && is_ours(line)) {
        who = line + sizeof(HEAD) - 1;
        for (char *c = line; *c != '\0'; c++)
            *c = *c == '\n' ? '\0' : *c >= ' ' && *c < 0x7f ? *c : '?';
    }
    imrec_fail(err, IMREC_ERR_IO,
               "%s is held by %s, which writes the files of this name now; wait for its end or "
               "choose another name",
               l->path, who);
    imrec_error_errno(err, EBUSY);
    return IMREC_ERR_IO;
}

/* The line of a holder whose machine stopped before the disk had it, or who was killed while it was
 * written. */
static bool is_lost(const char *line, size_t n)
{
    if (n < sizeof(HEAD) - 1 && memcmp(line, HEAD, n) == 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (line[i] != '\0')
            return false;
    return true;
}

/* Over what an earlier holder has left. What cannot be written, nobody will read. */
static enum imrec_status sign(const struct file_lock *l, struct imrec_error *err)
{
    char line[LINE_BYTES], host[128] = "";
    size_t n;
    const int code = read_line(l->fd, line, &n);
    if (code != 0) /* it may be anybody's */
        return io_error(err, code, l->path, "cannot read", 0);
    if (!is_lost(line, n) && !is_ours(line))
        return IMREC_REFUSE(err,
                            "%s is in the way, and imrec did not write it: move it, or choose "
                            "another name",
                            l->path);
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    const int bytes = snprintf(line, sizeof(line), HEAD "process %ld on %s\n", (long)getpid(),
                               host[0] != '\0' ? host : "this machine");
    if (ftruncate(l->fd, 0) == 0 && pwrite(l->fd, line, (size_t)bytes, 0) != bytes &&
        ftruncate(l->fd, 0) != 0)
        return IMREC_OK; /* a part of the line stays, as an earlier holder's would */
    return IMREC_OK;
}

/* ---- taking and dropping ------------------------------------------------------------------ */

static bool stands_there(const struct file_lock *l)
{
    struct stat file, name;
    return fstat(l->fd, &file) == 0 && lstat(l->path, &name) == 0 && file.st_dev == name.st_dev &&
           file.st_ino == name.st_ino;
}

/* IMREC_END: the file was removed by who held it before. */
static enum imrec_status attempt(struct file_lock *l, struct imrec_error *err)
{
    struct stat info;
    IMREC_TRY(file_open_regular(l->path, O_RDWR | O_CREAT | O_NOFOLLOW, &l->fd, &info, err));
    const int code = lock_file(l->fd);
    if (code == EAGAIN || code == EWOULDBLOCK)
        return busy(l, err);
    if (code != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%s: its file system has no locks (%s): nothing keeps a second run of the same "
                  "output away",
                  l->path, strerror(code));
    if (!stands_there(l))
        return IMREC_END;
    return sign(l, err);
}

enum imrec_status file_lock(const char *name, struct lock **out, struct imrec_error *err)
{
    const size_t n = strlen(name) + sizeof(".part");
    struct file_lock *l = imrec_zalloc(1, sizeof(*l) + n);
    if (l == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to lock it", name);
    snprintf(l->path, n, "%s.part", name);
    enum imrec_status st = IMREC_END;
    for (int i = 0; i < ATTEMPTS && st == IMREC_END; i++) {
        l->fd = -1;
        st = attempt(l, err);
        if (st != IMREC_OK && l->fd >= 0)
            (void)close(l->fd);
    }
    if (st == IMREC_END)
        st = io_error(err, EBUSY, l->path, "cannot be locked", IMREC_NO_OFFSET);
    if (st != IMREC_OK)
        imrec_free(l);
    else
        *out = &l->base;
    return st;
}

void file_unlock(struct lock *lock)
{
    struct file_lock *l = (struct file_lock *)lock;
    if (stands_there(l)) /* a folder may have been emptied under it, and another file made */
        (void)unlink(l->path);
    (void)close(l->fd);
    imrec_free(l);
}
