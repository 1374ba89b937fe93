/*
 * storage/files/file_store.c - local files.
 *
 * Every file is opened without waiting and then checked to be a regular file: a pipe or a device
 * must be refused, not hang. Every error names path, place and reason.
 */
#include "storage/files/file_store.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/system.h"
#include "storage/files/file_held.h"
#include "storage/files/file_lock.h"
#include "storage/store/io_error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SUFFIX ".part"
#define MAX_CALL    ((size_t)1 << 30) /* Linux moves less than 2^31 bytes in a call */

/* ---- the plain calls ---------------------------------------------------------------------- */

static ssize_t plain_pread(void *user, int fd, void *to, size_t n, off_t offset)
{
    (void)user;
    return pread(fd, to, n, offset);
}

static ssize_t plain_pwrite(void *user, int fd, const void *p, size_t n, off_t offset)
{
    (void)user;
    return pwrite(fd, p, n, offset);
}

static void plain_will_need(void *user, int fd, off_t offset, off_t n)
{
    (void)user;
    system_advise(fd, offset, n, SYSTEM_WILL_NEED);
}

static int plain_fsync(void *user, int fd)
{
    (void)user;
    return system_sync(fd);
}

static int plain_rename(void *user, const char *from, const char *to)
{
    (void)user;
    return rename(from, to);
}

static int plain_folder(void *user)
{
    (void)user;
    return 0;
}

static const struct file_calls plain = {plain_pread, plain_pwrite, plain_will_need, plain_fsync,
                                        file_push,   plain_rename, plain_folder,    NULL};

static void done_with(const struct file_calls *calls, void *user)
{
    if (calls->gone != NULL)
        calls->gone(user);
}

/* ---- paths -------------------------------------------------------------------------------- */

static enum imrec_status no_memory(const char *path, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory to open it", path);
}

/* ---- reading ------------------------------------------------------------------------------ */

struct file_source {
    struct source base; /* first: a struct source * is this */
    struct file_held held;
    char *path;
    const struct file_calls *calls;
    void *user;
};

static enum imrec_status read_all(const struct file_source *f, int fd, uint64_t offset, void *to,
                                  size_t n, struct imrec_error *err)
{
    for (size_t done = 0; done < n;) {
        const size_t ask = n - done < MAX_CALL ? n - done : MAX_CALL;
        const ssize_t got =
            f->calls->pread(f->user, fd, (char *)to + done, ask, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return io_error(err, errno, f->path, "cannot read", offset + done);
        if (got == 0)
            return imrec_error_at(err, IMREC_ERR_IO, offset + done,
                                  "%s: ends at byte %" PRIu64 ", it had %" PRIu64
                                  " bytes when it was opened",
                                  f->path, offset + done, f->base.size);
        done += (size_t)got;
    }
    return IMREC_OK;
}

static enum imrec_status
file_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct file_source *f = (struct file_source *)s;
    int fd;
    IMREC_TRY(file_held_take(&f->held, &fd, err));
    const enum imrec_status st = read_all(f, fd, offset, to, n, err);
    file_held_give(&f->held);
    return st;
}

static void file_will_need(struct source *s, uint64_t offset, uint64_t n)
{
    struct file_source *f = (struct file_source *)s;
    int fd;
    if (file_held_take(&f->held, &fd, NULL) != IMREC_OK)
        return; /* the read will say why */
    f->calls->will_need(f->user, fd, (off_t)offset, (off_t)n);
    file_held_give(&f->held);
}

/* The system drops whole pages only: one more on either side, or the edges would stay. */
static void file_drop(struct source *s, uint64_t offset, uint64_t n)
{
    struct file_source *f = (struct file_source *)s;
    int fd;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t begin = offset / page * page, end = align_up(offset + n, page);
    if (file_held_take(&f->held, &fd, NULL) != IMREC_OK)
        return;
    system_advise(fd, (off_t)begin, (off_t)(end - begin), SYSTEM_NO_NEED);
    file_held_give(&f->held);
}

static void file_close(struct source *s)
{
    struct file_source *f = (struct file_source *)s;
    file_held_end(&f->held);
    done_with(f->calls, f->user);
    IMREC_FREE(f->path, f);
}

static const struct source_ops file_source_ops = {file_read_at, file_will_need, file_drop,
                                                  file_close, NULL};

enum imrec_status file_source_open(const char *path, const struct file_calls *calls, void *user,
                                   struct source **out, struct imrec_error *err)
{
    struct file_source *f = imrec_zalloc(1, sizeof(*f));
    char *copy = imrec_joined(path, strlen(path), "");
    int fd = -1;
    struct stat info;
    enum imrec_status st = f == NULL || copy == NULL
                               ? no_memory(path, err)
                               : file_open_regular(path, O_RDONLY, &fd, &info, err);
    *out = NULL;
    if (st == IMREC_OK)
        st = file_held_begin(&f->held, fd, path, &info, err);
    if (st != IMREC_OK) {
        done_with(calls, user);
        IMREC_FREE(copy, f);
        return st;
    }
    f->base = (struct source){(uint64_t)info.st_size, &file_source_ops, system_changed_ns(&info),
                              NULL, 0};
    f->path = copy;
    f->calls = calls;
    f->user = user;
    *out = &f->base;
    return IMREC_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

struct file_out {
    struct out base; /* first */
    int fd;
    bool named; /* the temporary name is durable, not only the bytes */
    uint64_t size;
    char *path; /* the temporary one */
    const struct file_calls *calls;
    void *user;
};

static enum imrec_status file_write(struct out *o, const void *p, size_t n, struct imrec_error *err)
{
    struct file_out *f = (struct file_out *)o;
    for (size_t done = 0; done < n;) {
        const size_t ask = n - done < MAX_CALL ? n - done : MAX_CALL;
        const ssize_t put =
            f->calls->pwrite(f->user, f->fd, (const char *)p + done, ask, (off_t)f->size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return io_error(err, put < 0 ? errno : EIO, f->path, "cannot write", f->size);
        done += (size_t)put;
        f->size += (uint64_t)put;
    }
    return IMREC_OK;
}

static enum imrec_status file_sync(struct out *o, struct imrec_error *err)
{
    struct file_out *f = (struct file_out *)o;
    if (f->calls->fsync(f->user, f->fd) != 0)
        return io_error(err, errno, f->path, "cannot make it durable", IMREC_NO_OFFSET);
    if (!f->named && system_sync_folder_of(f->path, f->calls->fsync, f->user) != 0)
        return io_error(err, errno, f->path, "cannot make its name durable", IMREC_NO_OFFSET);
    f->named = true;
    return IMREC_OK;
}

static enum imrec_status
file_push_out(struct out *o, uint64_t offset, uint64_t n, bool wait, struct imrec_error *err)
{
    struct file_out *f = (struct file_out *)o;
    if (f->calls->push(f->user, f->fd, (off_t)offset, (off_t)n, wait) != 0)
        return io_error(err, errno, f->path, "cannot make it durable", offset);
    return IMREC_OK;
}

static void file_out_close(struct out *o, bool remove)
{
    struct file_out *f = (struct file_out *)o;
    (void)close(f->fd); /* sync reports lost writes */
    if (remove)
        (void)unlink(f->path);
    done_with(f->calls, f->user);
    IMREC_FREE(f->path, f);
}

static const struct out_ops file_out_ops = {file_write, file_sync, file_push_out, file_out_close};

/* The file under the final name must be replaceable: nothing, or a regular file. */
static enum imrec_status check_final(const char *path, struct imrec_error *err)
{
    struct stat info;
    return stat(path, &info) == 0 ? file_must_be_regular(path, info.st_mode, err) : IMREC_OK;
}

static enum imrec_status
open_part(const char *part, uint64_t size, int *fd, struct imrec_error *err)
{
    struct stat info;
    const bool resume = size != STORE_NEW;
    IMREC_TRY(
        file_open_regular(part, O_WRONLY | O_NOFOLLOW | (resume ? 0 : O_CREAT), fd, &info, err));
    const uint64_t have = (uint64_t)info.st_size;
    enum imrec_status st = IMREC_OK;
    if (resume && have < size)
        st = imrec_error_at(err, IMREC_ERR_IO, have,
                            "%s: has %" PRIu64 " bytes; resuming needs the first %" PRIu64, part,
                            have, size);
    else if (ftruncate(*fd, resume ? (off_t)size : 0) != 0)
        st = io_error(err, errno, part, "cannot cut it", resume ? size : 0);
    if (st != IMREC_OK)
        (void)close(*fd);
    return st;
}

enum imrec_status file_out_open(const char *path, uint64_t size, const struct file_calls *calls,
                                void *user, struct out **out, struct imrec_error *err)
{
    struct file_out *f = imrec_zalloc(1, sizeof(*f));
    char *part = imrec_joined(path, strlen(path), PART_SUFFIX);
    int fd = -1;
    enum imrec_status st =
        f == NULL || part == NULL ? no_memory(path, err) : check_final(path, err);
    if (st == IMREC_OK)
        st = open_part(part, size, &fd, err);
    *out = NULL;
    if (st != IMREC_OK) {
        done_with(calls, user);
        IMREC_FREE(part, f);
        return st;
    }
    *f = (struct file_out){.base = {&file_out_ops},
                           .fd = fd,
                           .size = size == STORE_NEW ? 0 : size,
                           .path = part,
                           .calls = calls,
                           .user = user};
    *out = &f->base;
    return IMREC_OK;
}

/* ---- making it real ------------------------------------------------------------------------ */

static enum imrec_status publish_as(const char *path, const char *part, char *scratch,
                                    const struct file_calls *calls, void *user,
                                    struct imrec_error *err)
{
    if (calls->rename(user, part, path) != 0)
        return io_error(err, errno, path, "cannot take its final name", IMREC_NO_OFFSET);
    if (system_sync_folder_of(scratch, calls->fsync, user) != 0) {
        const int code = errno;
        (void)rename(path, part); /* an object that failed must not keep the final name */
        return io_error(err, code, path, "cannot make its name durable", IMREC_NO_OFFSET);
    }
    return IMREC_OK;
}

enum imrec_status file_publish(const char *path, const char *as, const struct file_calls *calls,
                               void *user, struct imrec_error *err)
{
    char *part = imrec_joined(path, strlen(path), PART_SUFFIX),
         *scratch = imrec_joined(as, strlen(as), "");
    enum imrec_status st;
    if (part == NULL || scratch == NULL)
        st = no_memory(path, err);
    else
        st = publish_as(as, part, scratch, calls, user, err);
    done_with(calls, user);
    IMREC_FREE(scratch, part);
    return st;
}

enum imrec_status file_sync_names(const char *path, const struct file_calls *calls, void *user,
                                  struct imrec_error *err)
{
    char *copy = imrec_joined(path, strlen(path), "");
    enum imrec_status st = copy != NULL ? IMREC_OK : no_memory(path, err);
    if (st == IMREC_OK && system_sync_folder_of(copy, calls->fsync, user) != 0)
        st = io_error(err, errno, path, "cannot make its name durable", IMREC_NO_OFFSET);
    done_with(calls, user);
    imrec_free(copy);
    return st;
}

/* ---- the store ------------------------------------------------------------------------------ */

static enum imrec_status
plain_source(const char *name, struct source **out, struct imrec_error *err)
{
    return file_source_open(name, &plain, NULL, out, err);
}

static enum imrec_status
plain_out(const char *name, uint64_t size, struct out **out, struct imrec_error *err)
{
    return file_out_open(name, size, &plain, NULL, out, err);
}

static enum imrec_status plain_publish(const char *name, const char *as, struct imrec_error *err)
{
    return file_publish(name, as, &plain, NULL, err);
}

static enum imrec_status plain_sync_names(const char *name, struct imrec_error *err)
{
    return file_sync_names(name, &plain, NULL, err);
}

static enum imrec_status
plain_open_folder(const char *name, struct folder **out, struct imrec_error *err)
{
    return file_folder_open(name, &plain, NULL, out, err);
}

static enum imrec_status file_exists(const char *name, bool *there, struct imrec_error *err)
{
    struct stat info;
    *there = lstat(name, &info) == 0;
    if (*there || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
        return IMREC_OK;
    return io_error(err, errno, name, "cannot look at it", IMREC_NO_OFFSET);
}

static enum imrec_status file_measure(const char *name, uint64_t *size, struct imrec_error *err)
{
    struct stat info;
    *size = 0;
    if (stat(name, &info) != 0)
        return io_error(err, errno, name, "cannot look at it", IMREC_NO_OFFSET);
    IMREC_TRY(file_must_be_regular(name, info.st_mode, err));
    *size = (uint64_t)info.st_size;
    return IMREC_OK;
}

static enum imrec_status file_remove(const char *name, struct imrec_error *err)
{
    if (unlink(name) != 0 && errno != ENOENT)
        return io_error(err, errno, name, "cannot remove", IMREC_NO_OFFSET);
    return IMREC_OK;
}

const struct store file_store = {
    .scheme = "file://",
    .open_source = plain_source,
    .open_out = plain_out,
    .publish = plain_publish,
    .open_folder = plain_open_folder,
    .measure = file_measure,
    .exists = file_exists,
    .remove = file_remove,
    .sync_names = plain_sync_names,
    .lock = file_lock,
    .unlock = file_unlock,
};
