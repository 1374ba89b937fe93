/* im2rec/item/read_file.c */
#include "im2rec/item/read_file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/shown.h"
#include "im2rec/item/packed_archive.h"
#include "storage/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)4 << 20)

static void fail(struct pack_item *p, const char *what, int failed)
{
    p->failed = IMREC_ERR_IO;
    snprintf(p->why, sizeof(p->why), "%s %.*s: %s", what, (int)(p->path.n < 256 ? p->path.n : 256),
             (const char *)p->path.p, strerror(failed));
}

bool file_is_absolute(struct bytes path)
{
    static const char scheme[] = "file://";
    char uri[IMAGE_PATH_MAX];
    if ((path.n != 0 && path.p[0] == '/') ||
        (path.n >= sizeof(scheme) - 1 && memcmp(path.p, scheme, sizeof(scheme) - 1) == 0))
        return true;
    if (path.n >= sizeof(uri) || memchr(path.p, ':', path.n) == NULL)
        return false;
    memcpy(uri, path.p, path.n);
    uri[path.n] = '\0';
    return source_is_remote(uri);
}

bool file_sibling(struct bytes path, const char *suffix, char out[IMAGE_PATH_MAX])
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '.' && path.p[n - 1] != '/')
        n--;
    n = n > 1 && path.p[n - 1] == '.' && path.p[n - 2] != '/' ? n - 1 : path.n;
    if (n + strlen(suffix) + 1 > IMAGE_PATH_MAX)
        return false;
    memcpy(out, path.p, n);
    memcpy(out + n, suffix, strlen(suffix) + 1);
    return true;
}

struct bytes file_public_name(struct bytes path, char room[IMAGE_PATH_MAX])
{
    if (path.n == 0 || path.n >= IMAGE_PATH_MAX || memchr(path.p, ':', path.n) == NULL ||
        memchr(path.p, '\0', path.n) != NULL)
        return path;
    memcpy(room, path.p, path.n);
    room[path.n] = '\0';
    shown_hide_secrets(room);
    return (struct bytes){(const uint8_t *)room, strlen(room)};
}

/* root/path; a path from "/" on, and a URI of a file, are not below the root. */
static enum imrec_status
join(struct bytes path, const char *root, char full[2 * IMAGE_PATH_MAX], struct imrec_error *err)
{
    const size_t n = file_is_absolute(path) ? 0 : strlen(root),
                 slash = n != 0 && root[n - 1] != '/';
    if (n + slash + path.n + 1 > IMAGE_PATH_MAX)
        return IMREC_REFUSE(err, "the path is longer than 4095 bytes");
    memcpy(full, root, n);
    full[n] = '/';
    char *own = full + n + slash;
    memcpy(own, path.p, path.n);
    own[path.n] = '\0';
    if (source_is_remote(own))
        return IMREC_OK;
    IMREC_TRY(source_check_local(own, err)); /* a scheme that nobody knows */
    if (source_path(own) != own)
        memmove(full, source_path(own), strlen(source_path(own)) + 1);
    return IMREC_OK;
}

/* The path of the file that has the image: its own one, or its archive's. */
static struct bytes file_of(const struct pack_item *p)
{
    return (struct bytes){p->path.p, p->place.archive != 0 ? p->place.archive : p->path.n};
}

/* Whether the image's file is an archive that is unpacked. */
static bool is_in_packed(const struct pack_item *p, const char *uri)
{
    return p->place.archive != 0 && archive_is_packed(uri);
}

bool file_is_in_store(const struct pack_item *p, const struct file_root *root,
                      char uri[2 * IMAGE_PATH_MAX])
{
    return join(file_of(p), root->path, uri, NULL) == IMREC_OK && source_is_remote(uri) &&
           !is_in_packed(p, uri);
}

/* ---- folders that go while they are packed ------------------------------------------------ */

void file_root_init(struct file_root *r, const char *path, bool scanned, const struct stop *stop)
{
    struct stat st;
    *r = (struct file_root){.path = path, .scanned = scanned, .stop = stop};
    if (stat(path, &st) != 0)
        return;
    r->known = true;
    r->device = (uint64_t)st.st_dev;
    r->inode = (uint64_t)st.st_ino;
}

/* A folder that was unmounted may exist as another, empty one. */
static bool is_there(const struct file_root *r)
{
    struct stat st;
    return !r->known || (stat(r->path, &st) == 0 && (uint64_t)st.st_dev == r->device &&
                         (uint64_t)st.st_ino == r->inode);
}

static bool parent_is_there(const struct pack_item *p, const struct file_root *r)
{
    char full[2 * IMAGE_PATH_MAX];
    struct stat st;
    size_t n = p->path.n;
    while (n != 0 && p->path.p[n - 1] != '/')
        n--;
    return !r->scanned || n == 0 ||
           join((struct bytes){p->path.p, n}, r->path, full, NULL) != IMREC_OK ||
           stat(full, &st) == 0;
}

/* Whether the file cannot be had because a whole folder has gone. */
static bool is_gone(struct pack_item *p, const struct file_root *r)
{
    const bool root = source_is_remote(r->path) || is_there(r);
    if (root && (source_is_remote(r->path) || parent_is_there(p, r)))
        return false;
    p->failed = IMREC_ERR_IO;
    snprintf(
        p->why, sizeof(p->why),
        "%.*s cannot be read: %s%.200s is missing, or another one, since the run began; when it is "
        "back, resume continues",
        (int)(p->path.n < 200 ? p->path.n : 200), (const char *)p->path.p,
        root ? "its folder below " : "the folder ", r->path);
    return true;
}

/* Some errors say that the run is out of something, or that a folder has gone, not that the image
 * is bad. */
static void refuse(struct pack_item *p, const struct file_root *root, const char *what, int failed)
{
    if (failed == EMFILE || failed == ENFILE || (p->place.archive != 0 && failed != ENOMEM))
        fail(p, what, failed); /* an archive that was listed has other images, too */
    else if (failed == ENOMEM)
        pack_item_skip(p, REASON_NO_MEMORY, "%s: %s", what, strerror(failed));
    else if (is_gone(p, root))
        return;
    else if (failed == ENOENT || failed == ENOTDIR)
        pack_item_skip(p, REASON_MISSING, "there is no such file");
    else if (failed == ELOOP)
        pack_item_skip(p, REASON_LINK, "the link leads back to itself");
    else
        pack_item_skip(p, REASON_UNREADABLE, "%s: %s", what, strerror(failed));
}

/* ---- files -------------------------------------------------------------------------------- */

static bool is_plain(struct pack_item *p, const struct stat *st)
{
    if (S_ISREG(st->st_mode))
        return true;
    if (S_ISDIR(st->st_mode))
        pack_item_skip(p, REASON_FOLDER, "is a folder, not a file");
    else
        pack_item_skip(p, REASON_NOT_A_FILE, "is a %s, not a file",
                       S_ISFIFO(st->st_mode)   ? "FIFO"
                       : S_ISSOCK(st->st_mode) ? "socket"
                                               : "device");
    return false;
}

/* What a store says of one image is its reason to be skipped; that the store does not answer ends
 * the run, which can be resumed. */
static void refuse_remote(struct pack_item *p, const struct imrec_error *err)
{
    if (err->status == IMREC_ERR_NO_MEMORY) {
        pack_item_skip(p, REASON_NO_MEMORY, "%s", err->message);
    } else if (p->place.archive != 0) {
        p->failed = err->status;
        snprintf(p->why, sizeof(p->why), "%.300s; resume continues", err->message);
    } else if (err->sys_errno == ENOENT) {
        pack_item_skip(p, REASON_MISSING, "there is no such object");
    } else if (err->status != IMREC_ERR_IO || err->sys_errno == EACCES ||
               err->sys_errno == ESTALE) {
        pack_item_skip(p, REASON_UNREADABLE, "%s", err->message);
    } else {
        p->failed = err->status;
        snprintf(p->why, sizeof(p->why), "%.300s; resume continues", err->message);
    }
}

static bool open_remote(struct pack_item *p, const char *uri, struct image_file *out)
{
    struct imrec_error err;
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    if (fetch_is_of(p->fetch, uri)) /* not that of its mask */
        st = fetch_wait(p->fetch, &out->size, &err);
    out->fetch = st == IMREC_OK ? p->fetch : NULL;
    if (st == IMREC_ERR_NO_MEMORY) { /* now there may be some */
        st = source_open(uri, &out->source, &err);
        out->size = st == IMREC_OK ? out->source->size : 0;
    }
    if (st != IMREC_OK)
        refuse_remote(p, &err);
    return st == IMREC_OK;
}

static bool open_local(struct pack_item *p, const struct file_root *root, const char *full,
                       struct image_file *out)
{
    struct stat st;
    if (stat(full, &st) != 0) { /* before opening: that alone may do something to a device */
        refuse(p, root, "cannot be looked at", errno);
        return false;
    }
    if (!is_plain(p, &st))
        return false;
    const int fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        refuse(p, root, "cannot be opened", errno);
        return false;
    }
    if (fstat(fd, &st) != 0 || !is_plain(p, &st)) { /* it may have changed in between */
        if (p->outcome.reason == REASON_NONE)
            refuse(p, root, "cannot be looked at", errno);
        close(fd);
        return false;
    }
    *out = (struct image_file){.fd = fd, .size = st.st_size > 0 ? (uint64_t)st.st_size : 0};
    return true;
}

/* Nobody knows the size of such an archive before all of it is unpacked. */
static bool open_packed(struct pack_item *p, const struct file_root *root, const char *uri,
                        struct image_file *out)
{
    struct imrec_error err;
    const enum imrec_status st =
        root->packed != NULL
            ? packed_archive_take(root->packed, uri, &out->packed, &err)
            : imrec_fail(&err, IMREC_ERR_UNSUPPORTED, "%.300s: tasks read no packed archives", uri);
    out->size = p->place.size;
    if (st != IMREC_OK)
        refuse_remote(p, &err);
    return st == IMREC_OK;
}

/* The image's piece of the archive, which must be the one that was listed. */
static bool find_piece(struct pack_item *p, const char *archive, struct image_file *out)
{
    const struct image_place *at = &p->place;
    if (at->archive == 0)
        return true;
    if (out->size == at->size) {
        out->begin = at->begin;
        out->size = at->bytes;
        return true;
    }
    p->failed = IMREC_ERR_CORRUPT;
    snprintf(p->why, sizeof(p->why),
             "%.300s has %" PRIu64 " bytes, and had %" PRIu64 " when it was listed: begin again",
             archive, out->size, at->size);
    file_close(out);
    return false;
}

bool file_open(struct pack_item *p, const struct file_root *root, struct image_file *out)
{
    char full[2 * IMAGE_PATH_MAX];
    struct imrec_error err;
    *out = IMAGE_FILE_NONE;
    if (join(file_of(p), root->path, full, &err) != IMREC_OK) {
        pack_item_skip(p, REASON_UNREADABLE, "%s", err.message);
        return false;
    }
    const bool opened = is_in_packed(p, full)    ? open_packed(p, root, full, out)
                        : source_is_remote(full) ? open_remote(p, full, out)
                                                 : open_local(p, root, full, out);
    return opened && find_piece(p, full, out);
}

void file_close(struct image_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    source_close(file->source);
    packed_archive_leave(file->packed);
    *file = IMAGE_FILE_NONE;
}

static bool make_room(struct pack_item *p, size_t bytes, struct file_bytes *f)
{
    if (bytes <= f->capacity && (f->capacity < (8u << 20) || bytes > f->capacity / 4))
        return true;
    imrec_free(f->p); /* contents are of no use; one huge file must not stay for ever */
    f->capacity = 0;
    f->p = imrec_realloc(NULL, bytes + bytes / 4, 1);
    if (f->p == NULL)
        pack_item_skip(p, REASON_NO_MEMORY, "no memory for its %zu bytes", bytes);
    else
        f->capacity = bytes + bytes / 4;
    return f->p != NULL;
}

static bool read_all(struct pack_item *p, const struct file_root *root,
                     const struct image_file *file, uint8_t *to, size_t n)
{
    for (size_t at = 0; at < n;) {
        if (stop_asked(root->stop)) {
            p->failed = IMREC_ERR_CANCELLED;
            return false;
        }
        const size_t left = n - at, piece = left < PIECE_BYTES ? left : PIECE_BYTES;
        const ssize_t got = pread(file->fd, to + at, piece, (off_t)(file->begin + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            refuse(p, root, "cannot be read", errno);
            return false;
        }
        if (got == 0) {
            pack_item_skip(p, REASON_UNREADABLE, "ended at byte %zu of %zu while it was read", at,
                           n);
            return false;
        }
        at += (size_t)got;
    }
    return true;
}

static bool read_remote(struct pack_item *p, const struct image_file *file, uint8_t *to, size_t n)
{
    struct imrec_error err;
    struct source *from = file->packed != NULL ? packed_archive_source(file->packed) : file->source;
    const enum imrec_status st = file->fetch != NULL ? fetch_read(file->fetch, to, &err)
                                                     : source_read(from, file->begin, to, n, &err);
    const bool read = st == IMREC_OK;
    if (!read)
        refuse_remote(p, &err);
    return read;
}

bool file_read(struct pack_item *p, const struct file_root *root, struct image_file *file,
               size_t headroom, struct file_bytes *f)
{
    const size_t n = (size_t)file->size;
    bool read = make_room(p, headroom + n, f);
    if (read)
        read = file->fd < 0 ? read_remote(p, file, f->p + headroom, n)
                            : read_all(p, root, file, f->p + headroom, n);
    file_close(file);
    f->n = read ? n : 0;
    return read;
}

bool file_copy(struct pack_item *p, const void *from, size_t row_bytes, size_t stride, size_t rows,
               size_t headroom, struct file_bytes *f)
{
    f->n = 0;
    if (!make_room(p, headroom + row_bytes * rows, f))
        return false;
    for (size_t y = 0; y < rows; y++)
        memcpy(f->p + headroom + y * row_bytes, (const uint8_t *)from + y * stride, row_bytes);
    f->n = row_bytes * rows;
    return true;
}
