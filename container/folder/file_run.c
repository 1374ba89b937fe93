/* container/folder/file_run.c - files as one run of bytes, in their order: a source. */
#include "container/folder/file_run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "base/math.h"
#include "base/threads.h"
#include "storage/at_once.h"
#include "storage/store/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NEAR_AT_ONCE 16u /* opening a small file takes a disk, or a server, several turns */
#define MEASURED     512u
#define REASONS      16u
#define LOST         (UINT64_MAX - 4095) /* + the number of an error, in place of a size */
#define LOST_EMPTY   (LOST + 4001)
#define LOST_LARGE   (LOST + 4002)
#define LOST_NO_FILE (LOST + 4003)
#define LOST_LONG    (LOST + 4004)
#define LOST_ANYHOW  (LOST + 4005)

struct reading { /* of a file, by a thread */
    struct reading *next, *before;
    struct source *source;
};

struct lost {
    uint64_t file; /* first: they are sorted by it */
    uint32_t reason;
};

struct file_run {
    struct source base; /* first */
    const struct scan *scan;
    bool said;
    uint64_t *begin; /* of each file, and the end of the last one */
    struct lost *lost;
    uint64_t lost_count, lost_room;
    struct {
        uint64_t code;
        struct imrec_error why;
    } reason[REASONS];
    uint32_t reasons;
    struct store_scope *scope; /* of the thread that opened it */
    struct mutex lock;         /* of those that read */
    struct reading *reading;
    atomic_bool cancelled;
    char root[];
};

/* ---- names -------------------------------------------------------------------------------- */

static bool is_whole(const char *name)
{
    return name[0] == '/' ||
           (strstr(name, "://") != NULL && (source_is_remote(name) || source_path(name) != name));
}

enum imrec_status file_run_uri(const struct file_run *r, uint64_t i, char out[SCAN_PATH_BYTES],
                               struct imrec_error *err)
{
    const struct scan_file *f = r->scan->files[i];
    const char *folder = r->scan->folders[f->folder].path;
    const bool whole = folder[0] == '\0' && is_whole(f->name);
    const char *root = whole ? "" : r->root;
    const size_t k = strlen(root);
    const int n =
        snprintf(out, SCAN_PATH_BYTES, "%s%s%s%s%s", root, k != 0 && root[k - 1] != '/' ? "/" : "",
                 folder, folder[0] != '\0' ? "/" : "", f->name);
    if (n >= 0 && n < SCAN_PATH_BYTES)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT, "the path is longer than %d bytes",
                      SCAN_PATH_BYTES - 1);
}

/* ---- sizes -------------------------------------------------------------------------------- */

/* What a file is lost by, where it is not the store that fails: then nobody can say what it has. */
static uint64_t lost_code(enum imrec_status st, const struct imrec_error *why)
{
    switch (why->sys_errno) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case EIO:
    case ESTALE:
    case ENXIO:
        return LOST + (uint64_t)why->sys_errno;
    default:
        return st == IMREC_ERR_ARGUMENT ? LOST_NO_FILE : 0;
    }
}

static uint64_t usable(uint64_t size)
{
    return size == 0 ? LOST_EMPTY : size > FILE_RUN_MOST ? LOST_LARGE : size;
}

/* The size of file i, or what it is lost by. */
static enum imrec_status
measure(const struct file_run *r, uint64_t i, uint64_t *out, struct imrec_error *err)
{
    char uri[SCAN_PATH_BYTES];
    struct imrec_error why = {.status = IMREC_OK};
    uint64_t size;
    if (r->said) {
        const struct folder_entry said = scan_said(r->scan->files[i]);
        *out = usable(said.size);
        if (said.identity != NULL)
            return IMREC_OK;
    }
    *out = LOST_LONG;
    if (file_run_uri(r, i, uri, NULL) != IMREC_OK)
        return IMREC_OK;
    const enum imrec_status st = source_measure(uri, &size, &why);
    *out = st == IMREC_OK ? usable(size) : lost_code(st, &why);
    if (*out != 0)
        return IMREC_OK;
    if (err != NULL)
        *err = why;
    return st;
}

static enum imrec_status measure_some(void *context, uint32_t part, struct imrec_error *err)
{
    struct file_run *r = context;
    const uint64_t first = (uint64_t)part * MEASURED,
                   end = min_u64(first + MEASURED, r->scan->file_count);
    for (uint64_t i = first; i < end; i++)
        IMREC_TRY(measure(r, i, &r->begin[i + 1], err));
    return IMREC_OK;
}

static void say_why(uint64_t code, struct imrec_error *why)
{
    switch (code) {
    case LOST_EMPTY:
        (void)imrec_fail(why, IMREC_ERR_CORRUPT, "the file is empty");
        break;
    case LOST_LARGE:
        (void)imrec_fail(why, IMREC_ERR_LIMIT, "the file has 4 GiB or more");
        break;
    case LOST_NO_FILE:
        (void)imrec_fail(why, IMREC_ERR_IO, "it is not a regular file");
        break;
    case LOST_LONG:
        (void)imrec_fail(why, IMREC_ERR_LIMIT, "the path is longer than %d bytes",
                         SCAN_PATH_BYTES - 1);
        break;
    case LOST_ANYHOW:
        (void)imrec_fail(why, IMREC_ERR_IO, "the file could not be looked at");
        break;
    default:
        (void)imrec_fail(why, IMREC_ERR_IO, "the file could not be looked at: %s",
                         strerror((int)(code - LOST)));
        why->sys_errno = (int)(code - LOST);
    }
}

static enum imrec_status
note_lost(struct file_run *r, uint64_t file, uint64_t code, struct imrec_error *err)
{
    uint32_t k = 0;
    while (k < r->reasons && r->reason[k].code != code)
        k++;
    if (k == REASONS - 1 && r->reasons == k) /* the last one is that of all others */
        code = LOST_ANYHOW;
    else if (k == REASONS)
        k--;
    if (k == r->reasons) {
        r->reason[k].code = code;
        say_why(code, &r->reason[k].why);
        r->reasons++;
    }
    if (!IMREC_GROW(r->lost, r->lost_room, r->lost_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the files that cannot be read");
    r->lost[r->lost_count++] = (struct lost){file, k};
    return IMREC_OK;
}

/* From sizes to places. */
static enum imrec_status place_files(struct file_run *r, struct imrec_error *err)
{
    const uint64_t n = r->scan->file_count;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bytes = r->begin[i + 1];
        if (bytes >= LOST) {
            IMREC_TRY(note_lost(r, i, bytes, err));
            bytes = 1;
        }
        r->begin[i + 1] = r->begin[i] + bytes; /* 2^32 files of less than 2^32 bytes */
    }
    r->base.size = r->begin[n];
    return r->base.size <= INT64_MAX
               ? IMREC_OK
               : imrec_fail(err, IMREC_ERR_LIMIT, "%s: its files have more than 2^63 bytes",
                            r->root);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void enter(struct file_run *r, struct reading *t, struct source *s)
{
    mutex_lock(&r->lock);
    *t = (struct reading){r->reading, NULL, s};
    if (t->next != NULL)
        t->next->before = t;
    r->reading = t;
    if (atomic_load(&r->cancelled))
        source_cancel(s);
    mutex_unlock(&r->lock);
}

static void leave(struct file_run *r, struct reading *t)
{
    mutex_lock(&r->lock);
    *(t->before != NULL ? &t->before->next : &r->reading) = t->next;
    if (t->next != NULL)
        t->next->before = t->before;
    mutex_unlock(&r->lock);
}

static enum imrec_status open_file(const struct file_run *r, uint64_t i, struct folder_entry *said,
                                   struct source **out, struct imrec_error *err)
{
    char uri[SCAN_PATH_BYTES];
    const uint64_t size = r->begin[i + 1] - r->begin[i];
    *out = NULL;
    IMREC_TRY(file_run_uri(r, i, uri, err));
    *said = r->said ? scan_said(r->scan->files[i]) : (struct folder_entry){.name = NULL};
    struct store_scope *before = store_scope_enter(r->scope);
    enum imrec_status st = source_open_said(uri, said, out, err);
    store_scope_enter(before);
    if (st != IMREC_OK || (*out)->size == size)
        return st;
    st = imrec_fail(err, IMREC_ERR_IO,
                    "it has %" PRIu64 " bytes, and had %" PRIu64
                    " when it was listed; nothing of it is used",
                    (*out)->size, size);
    imrec_error_errno(err, ESTALE);
    source_close(*out);
    *out = NULL;
    return st;
}

/* Bytes [at, at + n) of file i. */
static enum imrec_status
read_file(struct file_run *r, uint64_t i, uint64_t at, void *to, size_t n, struct imrec_error *err)
{
    struct folder_entry said;
    struct reading mine;
    struct source *s;
    if (atomic_load(&r->cancelled))
        return imrec_fail(err, IMREC_ERR_CANCELLED, "the reading was cancelled");
    IMREC_TRY(open_file(r, i, &said, &s, err));
    enter(r, &mine, s);
    const enum imrec_status st = source_read(s, at, to, n, err);
    leave(r, &mine);
    source_close(s);
    return st;
}

/* Takes the name of file i from the front of its error: who reports it names the file, below the
 * folder. */
static void take_off_name(const struct file_run *r, uint64_t i, struct imrec_error *err)
{
    char uri[SCAN_PATH_BYTES];
    if (file_run_uri(r, i, uri, NULL) != IMREC_OK)
        return;
    const char *rest = imrec_error_after(err, "%s: ", uri);
    memmove(err->message, rest, strlen(rest) + 1);
}

static enum imrec_status
run_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct file_run *r = (struct file_run *)s;
    uint64_t i = file_run_find(r, offset);
    for (size_t done = 0; done < n; i++) {
        const uint64_t at = offset + done;
        const size_t take = (size_t)min_u64(n - done, r->begin[i + 1] - at);
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        enum imrec_status st = IMREC_OK;
        if (file_run_lost(r, i) != NULL)
            memset((char *)to + done, 0, take); /* its place; nobody takes it for a file's bytes */
        else
            st = read_file(r, i, at - r->begin[i], (char *)to + done, take, &why);
        if (st != IMREC_OK) { /* the place in the run: what was read before it is there */
            why.offset = at;
            take_off_name(r, i, &why);
            if (err != NULL)
                *err = why;
            return st;
        }
        done += take;
    }
    return IMREC_OK;
}

static void run_drop(struct source *s, uint64_t offset, uint64_t n)
{
    struct file_run *r = (struct file_run *)s;
    for (uint64_t i = file_run_find(r, offset); i < r->scan->file_count; i++) {
        struct folder_entry said;
        struct source *file;
        if (r->begin[i] >= offset + n)
            break;
        if (file_run_lost(r, i) != NULL || open_file(r, i, &said, &file, NULL) != IMREC_OK)
            continue;
        source_drop(file, 0, file->size);
        source_close(file);
    }
}

static void run_cancel(struct source *s)
{
    struct file_run *r = (struct file_run *)s;
    mutex_lock(&r->lock);
    atomic_store(&r->cancelled, true);
    for (struct reading *t = r->reading; t != NULL; t = t->next)
        source_cancel(t->source);
    mutex_unlock(&r->lock);
}

static void run_close(struct source *s)
{
    struct file_run *r = (struct file_run *)s;
    mutex_destroy(&r->lock);
    IMREC_FREE(r->begin, r->lost, r);
}

/* ---- public ------------------------------------------------------------------------------- */

enum imrec_status
file_run_open(const struct file_run_options *o, struct source **out, struct imrec_error *err)
{
    static const struct source_ops ops = {run_read_at, NULL, run_drop, run_close, run_cancel};
    const uint64_t n = o->scan->file_count;
    const size_t k = strlen(o->root) + 1;
    struct file_run *r = imrec_zalloc(1, sizeof(*r) + k);
    uint64_t *begin = imrec_zalloc((size_t)n + 1, sizeof(*begin));
    *out = NULL;
    if (r == NULL || begin == NULL) {
        IMREC_FREE(r, begin);
        return IMREC_NO_MEMORY(err, "no memory for the places of %" PRIu64 " files", n);
    }
    memcpy(r->root, o->root, k);
    r->base.ops = &ops;
    r->base.at_once = source_listed_at_once(o->root);
    if (r->base.at_once < NEAR_AT_ONCE)
        r->base.at_once = NEAR_AT_ONCE;
    r->scan = o->scan;
    r->said = o->said;
    r->begin = begin;
    r->scope = store_scope();
    mutex_init(&r->lock);
    enum imrec_status st = at_once((uint32_t)ceil_div(n, MEASURED), true, measure_some, r, err);
    if (st == IMREC_OK)
        st = place_files(r, err);
    if (st == IMREC_OK)
        *out = &r->base;
    else
        run_close(&r->base);
    return st;
}

const struct file_run *file_run_of(const struct source *s)
{
    return (const struct file_run *)s;
}

uint64_t file_run_begin(const struct file_run *r, uint64_t i)
{
    return r->begin[i];
}

uint64_t file_run_find(const struct file_run *r, uint64_t offset)
{
    return first_at_least(r->begin, sizeof(*r->begin), 0, r->scan->file_count + 1, offset + 1) - 1;
}

const struct imrec_error *file_run_lost(const struct file_run *r, uint64_t i)
{
    const uint64_t k =
        first_at_least(r->lost, sizeof(*r->lost), offsetof(struct lost, file), r->lost_count, i);
    return k < r->lost_count && r->lost[k].file == i ? &r->reason[r->lost[k].reason].why : NULL;
}

uint64_t file_run_hash(const struct file_run *r, uint64_t hash)
{
    for (uint64_t i = 0; i < r->scan->file_count; i++) {
        const struct scan_file *f = r->scan->files[i];
        const char *folder = r->scan->folders[f->folder].path;
        hash = fnv1a(hash, folder, strlen(folder) + 1);
        hash = fnv1a(hash, f->name, strlen(f->name) + 1);
        hash = fnv1a(hash, &r->begin[i + 1], sizeof(r->begin[i + 1]));
    }
    for (uint64_t i = 0; i < r->lost_count; i++)
        hash = fnv1a(hash, &r->lost[i].file, sizeof(r->lost[i].file));
    return hash;
}

uint64_t file_run_memory(const struct file_run *r)
{
    return (r->scan->file_count + 1) * sizeof(*r->begin) + r->lost_room * sizeof(*r->lost);
}
