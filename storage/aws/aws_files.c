/* storage/aws/aws_files.c - the credentials and config files, as they are now. */
#include "storage/aws/aws_sources.h"

#include "base/error.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST ((size_t)1 << 20)

void aws_wipe(struct buf *b)
{
    if (b->p != NULL)
        system_wipe(b->p, b->cap);
    buf_free(b);
}

static enum imrec_status failed(const char *path, struct imrec_error *err)
{
    const int why = errno;
    if (why == ENOENT || why == ENOTDIR || why == EACCES)
        return IMREC_END;
    imrec_fail(err, IMREC_ERR_IO, "%s: cannot be read: %s", path, strerror(why));
    imrec_error_errno(err, why);
    return IMREC_ERR_IO;
}

static enum imrec_status
read_all(int fd, const char *path, struct buf *out, struct imrec_error *err)
{
    char piece[4096];
    struct stat about;
    enum imrec_status st = IMREC_OK;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        (uint64_t)about.st_size < out->max)
        st = buf_reserve(out, (size_t)about.st_size + 1, err); /* what grows leaves copies */
    while (st == IMREC_OK) {
        const ssize_t n = read(fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        if (n < 0)
            st = errno == EISDIR ? IMREC_END : failed(path, err);
        else if ((size_t)n > out->max - out->n)
            st =
                imrec_fail(err, IMREC_ERR_LIMIT, "%s: it is longer than %zu bytes", path, out->max);
        else
            st = buf_append(out, piece, (size_t)n, err);
    }
    system_wipe(piece, sizeof(piece));
    return st;
}

enum imrec_status
aws_file_read(const char *path, bool trim, struct buf *out, struct imrec_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failed(path, err);
    const enum imrec_status st = read_all(fd, path, out, err);
    (void)close(fd);
    while (trim && out->n != 0 && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == '\r'))
        out->n--;
    return st;
}

static enum imrec_status
read_file(const char *path, struct buf *text, struct aws_file *out, struct imrec_error *err)
{
    *out = (struct aws_file){.name = path};
    const enum imrec_status st =
        path[0] != '\0' ? aws_file_read(path, false, text, err) : IMREC_END;
    if (st == IMREC_OK)
        out->text = (struct bytes){text->p, text->n};
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status read_profile(const struct aws_settings *s, const char *name,
                                      struct buf *credentials, struct buf *config,
                                      struct aws_profile *out, struct imrec_error *err)
{
    const char *variable = name == NULL ? "AWS_PROFILE" : "source_profile";
    const bool needed = name != NULL || s->profile_named;
    struct aws_files files;
    IMREC_TRY(read_file(s->credentials_file, credentials, &files.credentials, err));
    IMREC_TRY(read_file(s->config_file, config, &files.config, err));
    name = name != NULL ? name : s->profile;
    IMREC_TRY(aws_profile_read(&files, name, out, err));
    if (out->found || !needed)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%s: profile '%s' is neither in %s nor in %s", variable, name,
                        s->credentials_file, s->config_file);
}

enum imrec_status aws_profile_now(const struct aws_settings *s, const char *name,
                                  struct aws_profile *out, struct imrec_error *err)
{
    struct buf credentials = BUF_INIT(FILE_MOST), config = BUF_INIT(FILE_MOST);
    const enum imrec_status st = read_profile(s, name, &credentials, &config, out, err);
    aws_wipe(&credentials);
    aws_wipe(&config);
    return st;
}
