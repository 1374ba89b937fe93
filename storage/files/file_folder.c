/* storage/files/file_folder.c - folders of the file store. */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/files/file_store.h"
#include "storage/store/io_error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct file_folder {
    struct folder base; /* first */
    DIR *dir;
    const struct file_calls *calls;
    void *user;
    char path[];
};

static enum imrec_status refused(const struct file_folder *f, struct imrec_error *err)
{
    return io_error(err, errno, f->path, "cannot list it", IMREC_NO_OFFSET);
}

static bool is_itself_or_above(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static enum imrec_status
file_folder_next(struct folder *base, struct folder_entry *out, struct imrec_error *err)
{
    struct file_folder *f = (struct file_folder *)base;
    const struct dirent *e;
    do {
        if (f->calls->folder(f->user) != 0)
            return refused(f, err);
        errno = 0;
        e = readdir(f->dir);
    } while (e != NULL && is_itself_or_above(e->d_name));
    if (e == NULL)
        return errno == 0 ? IMREC_END : refused(f, err);
    out->name = e->d_name;
    out->kind = e->d_type == DT_REG   ? FOLDER_FILE
                : e->d_type == DT_DIR ? FOLDER_FOLDER
                                      : FOLDER_UNKNOWN;
    return IMREC_OK;
}

static enum folder_kind file_folder_look(struct folder *base, const char *name, int *code)
{
    const struct file_folder *f = (struct file_folder *)base;
    struct stat info;
    if (fstatat(dirfd(f->dir), name, &info, 0) != 0) {
        *code = errno;
        return FOLDER_LOST;
    }
    return S_ISREG(info.st_mode)    ? FOLDER_FILE
           : S_ISDIR(info.st_mode)  ? FOLDER_FOLDER
           : S_ISFIFO(info.st_mode) ? FOLDER_FIFO
           : S_ISSOCK(info.st_mode) ? FOLDER_SOCKET
                                    : FOLDER_DEVICE;
}

static void file_folder_close(struct folder *base)
{
    struct file_folder *f = (struct file_folder *)base;
    if (f->dir != NULL)
        (void)closedir(f->dir);
    if (f->calls->gone != NULL)
        f->calls->gone(f->user);
    imrec_free(f);
}

static const struct folder_ops ops = {file_folder_next, file_folder_look, file_folder_close};

static bool open_dir(struct file_folder *f)
{
    struct stat info;
    if (f->calls->folder(f->user) != 0)
        return false;
    f->dir = opendir(f->path);
    if (f->dir == NULL || fstat(dirfd(f->dir), &info) != 0)
        return false;
    f->base.device = (uint64_t)info.st_dev;
    f->base.number = (uint64_t)info.st_ino;
    return true;
}

enum imrec_status file_folder_open(const char *path, const struct file_calls *calls, void *user,
                                   struct folder **out, struct imrec_error *err)
{
    const size_t n = strlen(path) + 1;
    struct file_folder *f = imrec_zalloc(1, sizeof(*f) + n);
    *out = NULL;
    if (f == NULL) {
        if (calls->gone != NULL)
            calls->gone(user);
        return IMREC_NO_MEMORY(err, "%s: no memory to list it", path);
    }
    f->base.ops = &ops;
    f->calls = calls;
    f->user = user;
    memcpy(f->path, path, n);
    if (open_dir(f)) {
        *out = &f->base;
        return IMREC_OK;
    }
    const enum imrec_status st = refused(f, err);
    file_folder_close(&f->base);
    return st;
}
