/* storage/files/file_open.c - opens a regular file, or names what is there instead. */
#include "base/error.h"
#include "storage/files/file_store.h"
#include "storage/store/io_error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum imrec_status file_must_be_regular(const char *path, mode_t mode, struct imrec_error *err)
{
    if (S_ISREG(mode))
        return IMREC_OK;
    return IMREC_REFUSE(err, "%s: %s, not a regular file", path,
                        S_ISDIR(mode)    ? "a directory"
                        : S_ISFIFO(mode) ? "a named pipe"
                                         : "a device or socket");
}

/* Where a file is made, only its folder can be missing. */
static enum imrec_status no_folder(const char *path, struct imrec_error *err)
{
    const int n = (int)(strrchr(path, '/') - path);
    imrec_error_at(err, IMREC_ERR_IO, IMREC_NO_OFFSET,
                   "%s cannot be made: the folder %.*s does not exist", path, n, path);
    imrec_error_file(err, path);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}

enum imrec_status
file_open_regular(const char *path, int flags, int *fd, struct stat *out, struct imrec_error *err)
{
    struct stat info;
    *fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (*fd < 0) {
        const int code = errno;
        if (stat(path, &info) == 0)
            IMREC_TRY(file_must_be_regular(path, info.st_mode, err));
        else if (code == ENOENT && (flags & O_CREAT) != 0 && strchr(path, '/') != NULL)
            return no_folder(path, err);
        return io_error(err, code, path, "cannot open", IMREC_NO_OFFSET);
    }
    enum imrec_status st = IMREC_OK;
    if (fstat(*fd, &info) != 0)
        st = io_error(err, errno, path, "cannot open", IMREC_NO_OFFSET);
    else
        st = file_must_be_regular(path, info.st_mode, err);
    if (st != IMREC_OK) {
        (void)close(*fd);
        *fd = -1;
        return st;
    }
    *out = info;
    return IMREC_OK;
}
