/* tests/support/fake_hdfs.c - a thread that takes one request a connection. */
#include "tests/support/fake_hdfs.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES = 1024, SAID = 16, SEEN = 4096, HEAD = 64 << 10 };

struct file {
    char path[256]; /* "": none */
    uint8_t *p;
    size_t n;
    uint64_t modified, id;
};
struct said {
    char op[32], *body;
    int status, times;
};
struct seen {
    char op[32];
    int node;
};
struct server {
    struct fake_hdfs base; /* first */
    pthread_t thread;
    pthread_mutex_t lock;
    int listen[2], wake[2];
    struct file file[FILES];
    struct said said[SAID];
    struct seen seen[SEEN];
    int seen_count;
    char last[SEEN / 64][1200]; /* targets, by the hash of the op */
    uint64_t clock;
};
struct request {
    int fd, node;
    char method[16], target[1200], path[512], query[600], host[128];
    uint8_t *body;
    size_t n;
};

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fake_hdfs: %s\n", what);
    abort();
}

/* ---- files; the lock is held ----------------------------------------------------------------- */

static struct file *find(struct server *s, const char *path)
{
    for (int i = 0; i < FILES; i++)
        if (strcmp(s->file[i].path, path) == 0)
            return &s->file[i];
    return NULL;
}

static void drop(struct file *f)
{
    free(f->p);
    *f = (struct file){0};
}

static struct file *make(struct server *s, const char *path)
{
    struct file *f = find(s, path);
    if (f != NULL)
        drop(f);
    f = find(s, "");
    need(f != NULL && strlen(path) < sizeof(f->path), "too many files");
    strcpy(f->path, path);
    f->id = ++s->clock;
    return f;
}

static void append(struct server *s, struct file *f, const void *p, size_t n)
{
    f->p = realloc(f->p, f->n + n + 1);
    need(f->p != NULL, "out of memory");
    if (n != 0)
        memcpy(f->p + f->n, p, n);
    f->n += n;
    f->modified = ++s->clock;
}

static bool is_folder(struct server *s, const char *path)
{
    const size_t n = strcmp(path, "/") == 0 ? 0 : strlen(path);
    for (int i = 0; i < FILES; i++)
        if (strncmp(s->file[i].path, path, n) == 0 && s->file[i].path[n] == '/')
            return true;
    return false;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void send_all(int fd, const void *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = send(fd, (const char *)p + done, n - done, MSG_NOSIGNAL);
        if (put <= 0)
            return;
        done += (size_t)put;
    }
}

static void answer(const struct request *r, int status, const char *more, const void *p, size_t n)
{
    char head[2048];
    const int bytes = snprintf(
        head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
        status, n, more);
    send_all(r->fd, head, (size_t)bytes);
    send_all(r->fd, p, n);
}

__attribute__((format(printf, 3, 4))) static void
json(const struct request *r, int status, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    answer(r, status, "Content-Type: application/json\r\n", text, (size_t)n);
}

static void refuse(const struct request *r, int status, const char *exception, const char *message)
{
    json(r, status,
         "{\"RemoteException\":{\"exception\":\"%s\",\"javaClassName\":\"java.x.%s\","
         "\"message\":\"%s\\n\\tat a.b.c\"}}",
         exception, exception, message);
}

static void no_file(const struct request *r)
{
    refuse(r, 404, "FileNotFoundException", "File does not exist");
}

/* ---- requests -------------------------------------------------------------------------------- */

static void decode(const char *from, size_t n, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < room; i++) {
        unsigned byte = (unsigned char)from[i];
        if (from[i] == '%' && i + 2 < n + 0 && sscanf(from + i + 1, "%2x", &byte) == 1)
            i += 2;
        to[used++] = (char)byte;
    }
    to[used] = '\0';
}

/* The value of "key=" in the query, in a static buffer of 4; "" where it has none. */
static const char *param(const struct request *r, const char *key)
{
    static char values[4][512];
    static int turn;
    char *to = values[turn++ % 4];
    const size_t k = strlen(key);
    to[0] = '\0';
    for (const char *at = r->query; *at != '\0';) {
        const size_t n = strcspn(at, "&");
        if (strncmp(at, key, k) == 0 && at[k] == '=')
            decode(at + k + 1, n - k - 1, to, sizeof(values[0]));
        at += n + (at[n] == '&');
    }
    return to;
}

static bool is_true(const struct request *r, const char *key)
{
    return strcmp(param(r, key), "true") == 0;
}

static bool read_head(int fd, char *head, size_t *n, size_t *end)
{
    for (*n = 0; *n < HEAD - 1;) {
        const ssize_t got = recv(fd, head + *n, HEAD - 1 - *n, 0);
        if (got <= 0)
            return false;
        *n += (size_t)got;
        head[*n] = '\0';
        const char *blank = strstr(head, "\r\n\r\n");
        if (blank != NULL) {
            *end = (size_t)(blank + 4 - head);
            return true;
        }
    }
    return false;
}

static const char *field(const char *head, const char *name)
{
    const char *at = strcasestr(head, name);
    return at != NULL ? at + strlen(name) + strspn(at + strlen(name), " ") : "";
}

static bool read_request(struct request *r)
{
    static char head[HEAD];
    size_t n, end;
    if (!read_head(r->fd, head, &n, &end) || sscanf(head, "%15s %1199s", r->method, r->target) != 2)
        return false;
    snprintf(r->host, sizeof(r->host), "%.*s", (int)strcspn(field(head, "\nHost:"), "\r\n"),
             field(head, "\nHost:"));
    const size_t length = strtoull(field(head, "\nContent-Length:"), NULL, 10);
    r->body = malloc(length + 1);
    need(r->body != NULL, "out of memory");
    for (r->n = n - end, memcpy(r->body, head + end, r->n); r->n < length;) {
        const ssize_t got = recv(r->fd, r->body + r->n, length - r->n, 0);
        if (got <= 0)
            return false;
        r->n += (size_t)got;
    }
    const char *path = strncmp(r->target, "/webhdfs/v1", 11) == 0 ? r->target + 11 : "";
    const size_t bytes = strcspn(path, "?");
    decode(path, bytes, r->path, sizeof(r->path));
    snprintf(r->query, sizeof(r->query), "%s", path[bytes] == '?' ? path + bytes + 1 : "");
    return path[0] == '/';
}

/* ---- operations; the lock is held ------------------------------------------------------------ */

static int
status_text(const struct server *s, const struct file *f, const char *name, char *to, size_t room)
{
    char id[48] = "";
    if (!s->base.plain)
        snprintf(id, sizeof(id), ",\"fileId\":%llu", (unsigned long long)f->id);
    return snprintf(to, room,
                    "{\"pathSuffix\":\"%s\",\"type\":\"FILE\",\"length\":%zu,"
                    "\"modificationTime\":%llu%s}",
                    name, f->n, (unsigned long long)f->modified, id);
}

static void get_status(struct server *s, const struct request *r)
{
    char text[1024];
    const struct file *f = find(s, r->path);
    if (f != NULL) {
        status_text(s, f, "", text, sizeof(text));
        json(r, 200, "{\"FileStatus\":%s}", text);
    } else if (is_folder(s, r->path)) {
        json(r, 200,
             "{\"FileStatus\":{\"pathSuffix\":\"\",\"type\":\"DIRECTORY\",\"length\":0,"
             "\"modificationTime\":7}}");
    } else {
        no_file(r);
    }
}

static void redirect(const struct server *s, const struct request *r)
{
    char where[1600], more[1700];
    snprintf(where, sizeof(where), "http://%s%s&data=true", r->host, r->target);
    snprintf(more, sizeof(more), "Location: %s\r\n", where);
    if (is_true(r, "noredirect") && !s->base.plain)
        json(r, 200, "{\"Location\":\"%s\"}", where);
    else
        answer(r, 307, more, "", 0);
}

static void open_file(struct server *s, const struct request *r)
{
    const struct file *f = find(s, r->path);
    const size_t offset = strtoull(param(r, "offset"), NULL, 10);
    size_t n = strtoull(param(r, "length"), NULL, 10);
    if (f == NULL) {
        no_file(r);
    } else if (offset > f->n) {
        refuse(r, 403, "IOException", "Offset is out of the range");
    } else {
        n = n < f->n - offset ? n : f->n - offset;
        answer(r, 200, "", f->p + offset, n);
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted, each once. */
static int names_in(struct server *s, const char *folder, char **names)
{
    const size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    int count = 0;
    for (int i = 0; i < FILES; i++) {
        const char *rest = s->file[i].path + n + 1;
        if (strncmp(s->file[i].path, folder, n) == 0 && s->file[i].path[n] == '/')
            names[count++] = strndup(rest, strcspn(rest, "/"));
    }
    qsort(names, (size_t)count, sizeof(*names), by_path);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept != 0 && strcmp(names[kept - 1], names[i]) == 0)
            free(names[i]);
        else
            names[kept++] = names[i];
    }
    return kept;
}

static void
entry_text(struct server *s, const char *folder, const char *name, char *to, size_t room)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    const struct file *f = find(s, path);
    if (f != NULL)
        status_text(s, f, name, to, room);
    else
        snprintf(to, room, "{\"pathSuffix\":\"%s\",\"type\":\"DIRECTORY\",\"length\":0}", name);
}

static void list(struct server *s, const struct request *r, bool pages)
{
    static char *names[FILES], text[1 << 18], entry[1024];
    const struct file *f = find(s, r->path);
    if (f == NULL && !is_folder(s, r->path)) {
        no_file(r);
        return;
    }
    int count = names_in(s, r->path, names), given = 0, left = 0;
    const int most = pages && s->base.page != 0 ? s->base.page : FILES;
    size_t n = (size_t)snprintf(text, sizeof(text), "%s{\"FileStatuses\":{\"FileStatus\":[",
                                pages ? "{\"DirectoryListing\":{\"partialListing\":" : "");
    if (f != NULL)
        n += (size_t)status_text(s, f, "", text + n, sizeof(text) - n);
    for (int i = 0; i < count; i++) {
        if (pages && strcmp(names[i], param(r, "startAfter")) <= 0)
            continue;
        if (given == most) {
            left++;
            continue;
        }
        entry_text(s, r->path, names[i], entry, sizeof(entry));
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", given++ != 0 ? "," : "", entry);
    }
    n += (size_t)snprintf(text + n, sizeof(text) - n,
                          pages ? "]}},\"remainingEntries\":%d}}" : "]}}", left);
    answer(r, 200, "", text, n);
    while (count > 0)
        free(names[--count]);
}

static void create(struct server *s, const struct request *r)
{
    if (find(s, r->path) != NULL && !is_true(r, "overwrite")) {
        refuse(r, 403, "FileAlreadyExistsException", "it already exists");
        return;
    }
    append(s, make(s, r->path), r->body, r->n);
    answer(r, 201, "", "", 0);
}

static void append_to(struct server *s, const struct request *r)
{
    struct file *f = find(s, r->path);
    if (f == NULL) {
        no_file(r);
        return;
    }
    const bool bad = s->base.bad_nodes > 0, half = bad || s->base.half_appends > 0,
               lost = s->base.lost > 0;
    append(s, f, r->body, half ? r->n / 2 : r->n);
    s->base.bad_nodes -= bad;
    s->base.half_appends -= half && !bad;
    s->base.lost -= lost && !half;
    if (bad)
        refuse(r, 403, "IOException",
               "All datanodes [DatanodeInfoWithStorage[127.0.0.1:9866,DS-1,DISK]] are bad. "
               "Aborting...");
    else if (!half && !lost)
        answer(r, 200, "", "", 0);
}

static void truncate_to(struct server *s, const struct request *r)
{
    struct file *f = find(s, r->path);
    const size_t n = strtoull(param(r, "newlength"), NULL, 10);
    if (f == NULL) {
        no_file(r);
    } else if (n > f->n) {
        refuse(r, 403, "IOException", "Cannot truncate to a larger file size");
    } else if (s->base.recovers > 0) {
        if (--s->base.recovers % 2 != 0)
            json(r, 200, "{\"boolean\":false}");
        else
            refuse(r, 403, "RecoveryInProgressException", "lease recovery is in progress");
    } else {
        f->n = n;
        f->modified = ++s->clock;
        json(r, 200, "{\"boolean\": true}");
    }
}

static void rename_file(struct server *s, const struct request *r)
{
    struct file *f = find(s, r->path), *old = find(s, param(r, "destination"));
    const bool overwrite = strcmp(param(r, "renameoptions"), "OVERWRITE") == 0 && !s->base.plain;
    if (f == NULL) {
        if (overwrite)
            no_file(r);
        else
            json(r, 200, "{\"boolean\": false}");
        return;
    }
    if (old != NULL && !overwrite) {
        json(r, 200, "{\"boolean\": false}");
        return;
    }
    if (old != NULL)
        drop(old);
    snprintf(f->path, sizeof(f->path), "%s", param(r, "destination"));
    if (s->base.lost_renames > 0)
        s->base.lost_renames--;
    else if (overwrite)
        answer(r, 200, "Content-Type: application/octet-stream\r\n", "", 0);
    else
        json(r, 200, "{\"boolean\": true}");
}

static void delete_file(struct server *s, const struct request *r)
{
    struct file *f = find(s, r->path);
    json(r, 200, "{\"boolean\": %s}", f != NULL ? "true" : "false");
    if (f != NULL)
        drop(f);
}

static bool say(struct server *s, const struct request *r, const char *op)
{
    for (int i = 0; i < SAID; i++) {
        struct said *a = &s->said[i];
        if (a->times > 0 && strcmp(a->op, op) == 0) {
            a->times--;
            answer(r, a->status, "", a->body, strlen(a->body));
            return true;
        }
    }
    return false;
}

static void act(struct server *s, const struct request *r)
{
    const char *op = param(r, "op");
    const bool data = is_true(r, "data");
    const bool upload = strcmp(op, "CREATE") == 0 || strcmp(op, "APPEND") == 0;
    const bool two_steps = upload || strcmp(op, "OPEN") == 0;
    if (say(s, r, op))
        return;
    if (s->base.standby[r->node] && (data || !upload)) /* who asks it where to write is told */
        refuse(r, 403, "StandbyException", "Operation category READ is not supported");
    else if (two_steps && !data)
        redirect(s, r);
    else if (strcmp(op, "OPEN") == 0)
        open_file(s, r);
    else if (strcmp(op, "CREATE") == 0)
        create(s, r);
    else if (strcmp(op, "APPEND") == 0)
        append_to(s, r);
    else if (strcmp(op, "GETFILESTATUS") == 0)
        get_status(s, r);
    else if (strcmp(op, "LISTSTATUS") == 0 ||
             (strcmp(op, "LISTSTATUS_BATCH") == 0 && !s->base.plain))
        list(s, r, strcmp(op, "LISTSTATUS") != 0);
    else if (strcmp(op, "TRUNCATE") == 0)
        truncate_to(s, r);
    else if (strcmp(op, "RENAME") == 0)
        rename_file(s, r);
    else if (strcmp(op, "DELETE") == 0)
        delete_file(s, r);
    else
        refuse(r, 400, "IllegalArgumentException", "Invalid value for webhdfs parameter op");
}

/* ---- the thread ------------------------------------------------------------------------------ */

static unsigned hash(const char *op)
{
    unsigned h = 0;
    for (; *op != '\0'; op++)
        h = h * 31 + (unsigned char)*op;
    return h % (SEEN / 64);
}

static void note(struct server *s, const struct request *r)
{
    const char *op = param(r, "op");
    if (s->seen_count < SEEN) {
        struct seen *seen = &s->seen[s->seen_count++];
        snprintf(seen->op, sizeof(seen->op), "%.31s", op);
        seen->node = r->node;
    }
    snprintf(s->last[hash(op)], sizeof(s->last[0]), "%s", r->target);
}

static void serve(struct server *s, int node)
{
    struct request r = {.fd = accept(s->listen[node], NULL, NULL), .node = node};
    if (r.fd < 0)
        return;
    if (read_request(&r)) {
        pthread_mutex_lock(&s->lock);
        note(s, &r);
        act(s, &r);
        pthread_mutex_unlock(&s->lock);
    }
    free(r.body);
    close(r.fd);
}

static void *run(void *user)
{
    struct server *s = user;
    for (;;) {
        struct pollfd p[3] = {{.fd = s->wake[0], .events = POLLIN},
                              {.fd = s->listen[0], .events = POLLIN},
                              {.fd = s->listen[1], .events = POLLIN}};
        if (poll(p, 3, -1) < 0)
            continue;
        if (p[0].revents != 0)
            return NULL;
        for (int i = 0; i < 2; i++)
            if (p[i + 1].revents != 0)
                serve(s, i);
    }
}

static int listen_at(int *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(fd >= 0 && bind(fd, (struct sockaddr *)&a, n) == 0 && listen(fd, 128) == 0 &&
             getsockname(fd, (struct sockaddr *)&a, &n) == 0,
         "no socket");
    *port = ntohs(a.sin_port);
    return fd;
}

struct fake_hdfs *fake_hdfs_start(void)
{
    struct server *s = calloc(1, sizeof(*s));
    need(s != NULL && pipe(s->wake) == 0, "no memory");
    pthread_mutex_init(&s->lock, NULL);
    for (int i = 0; i < 2; i++)
        s->listen[i] = listen_at(&s->base.port[i]);
    s->clock = 1795420112467;
    need(pthread_create(&s->thread, NULL, run, s) == 0, "no thread");
    return &s->base;
}

void fake_hdfs_stop(struct fake_hdfs *h)
{
    struct server *s = (struct server *)h;
    need(write(s->wake[1], "x", 1) == 1, "no pipe");
    pthread_join(s->thread, NULL);
    for (int i = 0; i < 2; i++) {
        close(s->listen[i]);
        close(s->wake[i]);
    }
    for (int i = 0; i < FILES; i++)
        free(s->file[i].p);
    for (int i = 0; i < SAID; i++)
        free(s->said[i].body);
    free(s);
}

/* ---- for tests ------------------------------------------------------------------------------- */

void fake_hdfs_put(struct fake_hdfs *h, const char *path, const void *bytes, size_t n)
{
    struct server *s = (struct server *)h;
    pthread_mutex_lock(&s->lock);
    append(s, make(s, path), bytes, n);
    pthread_mutex_unlock(&s->lock);
}

uint8_t *fake_hdfs_get(struct fake_hdfs *h, const char *path, size_t *n)
{
    struct server *s = (struct server *)h;
    uint8_t *copy = NULL;
    pthread_mutex_lock(&s->lock);
    const struct file *f = find(s, path);
    if (f != NULL) {
        copy = malloc(f->n + 1);
        need(copy != NULL, "out of memory");
        memcpy(copy, f->p, f->n);
        *n = f->n;
    }
    pthread_mutex_unlock(&s->lock);
    return copy;
}

void fake_hdfs_remove(struct fake_hdfs *h, const char *path)
{
    struct server *s = (struct server *)h;
    pthread_mutex_lock(&s->lock);
    struct file *f = find(s, path);
    if (f != NULL)
        drop(f);
    pthread_mutex_unlock(&s->lock);
}

void fake_hdfs_say(struct fake_hdfs *h, const char *op, int status, const char *body, int times)
{
    struct server *s = (struct server *)h;
    int i = 0;
    pthread_mutex_lock(&s->lock);
    while (i < SAID && s->said[i].times > 0)
        i++;
    need(i < SAID, "too many answers");
    free(s->said[i].body);
    s->said[i] = (struct said){.body = strdup(body), .status = status, .times = times};
    snprintf(s->said[i].op, sizeof(s->said[i].op), "%s", op);
    pthread_mutex_unlock(&s->lock);
}

int fake_hdfs_count(struct fake_hdfs *h, const char *op, int node)
{
    struct server *s = (struct server *)h;
    int count = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->seen_count; i++)
        count += strcmp(s->seen[i].op, op) == 0 && (node < 0 || s->seen[i].node == node);
    pthread_mutex_unlock(&s->lock);
    return count;
}

const char *fake_hdfs_last(struct fake_hdfs *h, const char *op)
{
    struct server *s = (struct server *)h;
    static char target[1200];
    pthread_mutex_lock(&s->lock);
    snprintf(target, sizeof(target), "%s", s->last[hash(op)]);
    pthread_mutex_unlock(&s->lock);
    return target;
}
