/*
 * tests/support/http_proxy/folder.c - the origin: files of --folder.
 *
 * A path is decoded and must not climb; links in the folder are followed, because the folder is the
 * user's. ETag: size, mtime and inode, so that a replaced file has another one.
 */
#include "tests/support/http_proxy/conditions.h"
#include "tests/support/http_proxy/connection.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

struct object {
    int fd; /* -1: there is none */
    uint64_t size;
    char tag[80], modified[40];
};

/* ---- names ----------------------------------------------------------------------------------- */

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* The path in the folder that a target names; false: none. */
static bool decode(const char *target, char path[PATH_ROOM])
{
    size_t n = 0;
    for (const char *p = target + strspn(target, "/"); *p != '\0' && *p != '?'; p++) {
        char c = *p;
        if (c == '%') {
            if (!isxdigit((unsigned char)p[1]) || !isxdigit((unsigned char)p[2]))
                return false;
            c = (char)(16 * hex(p[1]) + hex(p[2]));
            p += 2;
        }
        if (c == '\0' || n == PATH_ROOM - 2)
            return false;
        path[n++] = c;
    }
    path[n] = '\0';
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return false;
    return n != 0 && path[0] != '/';
}

static void describe(struct object *o, const struct stat *st)
{
    struct tm tm;
    o->size = (uint64_t)st->st_size;
    snprintf(o->tag, sizeof(o->tag), "\"%llx-%llx%09lx-%llx\"", (unsigned long long)st->st_size,
             (unsigned long long)st->st_mtim.tv_sec, (unsigned long)st->st_mtim.tv_nsec,
             (unsigned long long)st->st_ino);
    strftime(o->modified, sizeof(o->modified), "%a, %d %b %Y %H:%M:%S GMT",
             gmtime_r(&st->st_mtim.tv_sec, &tm));
}

/* What is no file, as a folder or a pipe, is not there. */
static struct object find(const struct server *s, const char *path)
{
    struct object o = {.fd = -1};
    struct stat st;
    const int fd = openat(s->folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return o;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return o;
    }
    o.fd = fd;
    describe(&o, &st);
    return o;
}

static void put_object_head(struct head *h, const struct object *o)
{
    head_add(h, "ETag", o->tag);
    head_add(h, "Last-Modified", o->modified);
    head_add(h, "Accept-Ranges", "bytes");
}

/* ---- GET and HEAD ---------------------------------------------------------------------------- */

static void answer_part(struct connection *c, const struct object *o)
{
    struct answer *a = &c->answer;
    const char *text = head_get(&c->request, "Range");
    uint64_t first = 0, count = o->size;
    char range[96];
    enum range r = range_read(text, o->size, &first, &count);
    if (c->head_only || !conditions_allow_range(&c->request, o->tag, o->modified))
        r = RANGE_NONE;
    if (r == RANGE_BAD) {
        answer_text(a, 416, "the object has %llu bytes\n", (unsigned long long)o->size);
        snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)o->size);
        head_add(&a->head, "Content-Range", range);
        close(o->fd);
        return;
    }
    answer_start(a, r == RANGE_GOOD ? 206 : 200);
    put_object_head(&a->head, o);
    head_add(&a->head, "Content-Type", "application/octet-stream");
    if (r == RANGE_GOOD) {
        snprintf(range, sizeof(range), "bytes %llu-%llu/%llu", (unsigned long long)first,
                 (unsigned long long)(first + count - 1), (unsigned long long)o->size);
        head_add(&a->head, "Content-Range", range);
    } else {
        first = 0;
        count = o->size;
    }
    answer_file(a, o->fd, first, count);
}

static void get(struct connection *c)
{
    struct answer *a = &c->answer;
    char path[PATH_ROOM];
    struct object o = {.fd = -1};
    if (decode(c->request.start[1], path))
        o = find(c->server, path);
    if (o.fd < 0) {
        answer_text(a, 404, "no such file\n");
        return;
    }
    const int status = conditions_check(&c->request, o.tag);
    if (status == 0) {
        answer_part(c, &o);
        return;
    }
    answer_text(a, status, "%s", status == 412 ? "it has another ETag\n" : "");
    if (status == 304)
        put_object_head(&a->head, &o);
    close(o.fd);
}

/* ---- PUT and DELETE -------------------------------------------------------------------------- */

static void make_parents(int folder, const char *path)
{
    char part[PATH_ROOM];
    for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        (void)mkdirat(folder, part, 0777);
    }
}

static void begin_put(struct connection *c)
{
    struct upload *u = &c->upload;
    char path[PATH_ROOM], part[PATH_ROOM + 32];
    if (!decode(c->request.start[1], path))
        return;
    make_parents(c->server->folder, path);
    snprintf(part, sizeof(part), "%s.put-%u", path, c->server->uploads++);
    u->fd = openat(c->server->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    u->part = must_copy(part);
    u->path = must_copy(path);
}

static void end_put(struct connection *c)
{
    const int folder = c->server->folder;
    struct answer *a = &c->answer;
    struct upload *u = &c->upload;
    if (u->fd < 0) {
        answer_text(a, 409, "no file can have this name\n");
        return;
    }
    struct object before = find(c->server, u->path);
    int status = conditions_check(&c->request, before.fd >= 0 ? before.tag : NULL);
    if (status == 0)
        status = renameat(folder, u->part, folder, u->path) != 0 ? 409 : before.fd >= 0 ? 200 : 201;
    if (before.fd >= 0)
        close(before.fd);
    answer_text(a, status, "%s", "");
    struct object after = find(c->server, u->path);
    if (status < 300 && after.fd >= 0)
        head_add(&a->head, "ETag", after.tag);
    if (after.fd >= 0)
        close(after.fd);
}

static void delete_file(struct connection *c)
{
    char path[PATH_ROOM];
    struct object o = {.fd = -1};
    if (decode(c->request.start[1], path))
        o = find(c->server, path);
    int status = conditions_check(&c->request, o.fd >= 0 ? o.tag : NULL);
    if (status == 0)
        status = o.fd >= 0 && unlinkat(c->server->folder, path, 0) == 0 ? 204 : 404;
    answer_text(&c->answer, status, "%s", "");
    if (o.fd >= 0)
        close(o.fd);
}

/* ---- the handler ----------------------------------------------------------------------------- */

static bool is(const struct connection *c, const char *method)
{
    return strcmp(c->request.start[0], method) == 0;
}

static void begin(struct connection *c)
{
    if (c->server->set.writable && is(c, "PUT"))
        begin_put(c);
}

static size_t body(struct connection *c, const char *p, size_t n)
{
    struct upload *u = &c->upload;
    for (size_t done = 0; u->fd >= 0 && done < n;) {
        const ssize_t put = write(u->fd, p + done, n - done);
        if (put < 0 && errno != EINTR) {
            close(u->fd);
            unlinkat(c->server->folder, u->part, 0);
            u->fd = -1;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return n;
}

static void end(struct connection *c)
{
    const bool writable = c->server->set.writable;
    if (is(c, "GET") || c->head_only) {
        get(c);
    } else if (writable && is(c, "PUT")) {
        end_put(c);
    } else if (writable && is(c, "DELETE")) {
        delete_file(c);
    } else {
        answer_text(&c->answer, 405, "not here\n");
        head_add(&c->answer.head, "Allow", writable ? "GET, HEAD, PUT, DELETE" : "GET, HEAD");
    }
    connection_answer(c);
}

const struct handler folder_handler = {begin, body, end};
