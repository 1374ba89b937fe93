/*
 * storage/hdfs/hdfs_object.c - reads as parts that are under way at once, then checked.
 *
 * A part is OPEN with offset and length: the NameNode redirects to a DataNode that has the bytes.
 * One that broke off continues after the bytes that came. After an error that lasts, the others are
 * cancelled and waited for: nobody writes to the caller's memory after its return.
 */
#include "storage/hdfs/hdfs_object.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/threads.h"
#include "storage/hdfs/hdfs_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PART_BYTES ((size_t)4 << 20) /* each costs two requests and a connection */
#define PARTS_MOST 8
/* Small reads one after the other, as records are walked: more is read ahead, a little at first. */
#define AHEAD_MOST  ((size_t)2 << 20)
#define AHEAD_FIRST ((size_t)64 << 10)

struct hdfs_object {
    struct hdfs_place place;
    struct hdfs_status status; /* as it was opened */
    char identity[64];
    struct mutex lock;   /* of what follows */
    uint64_t next;       /* where a read continues the last small one */
    size_t ahead;        /* bytes that the next one reads; 0: those that are asked for */
    uint8_t *block;      /* AHEAD_MOST bytes, once it is needed */
    uint64_t begin, end; /* of the object, that are in it */
};

struct part {
    struct wire_job job; /* first; its begin and end are what is still to come */
    struct hdfs_try at;
    struct buf url;
    uint64_t begin, end;
    uint64_t due_ns; /* when it is to be tried again; 0: it is under way, or unused */
    bool used;
};

struct reading {
    struct hdfs_object *o;
    struct wire_group group;
    struct part *parts;
    uint32_t count; /* of parts */
    uint64_t next, end;
    uint8_t *to; /* of byte `next` */
};

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status open_status(struct hdfs_object *o, struct imrec_error *err)
{
    IMREC_TRY(hdfs_stat(&o->place, &o->status, err));
    (void)snprintf(o->identity, sizeof(o->identity), "%" PRIu64 "-%" PRIu64 "-%" PRIu64,
                   o->status.modified_ms, o->status.size, o->status.id);
    if (o->status.kind == HDFS_FILE)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO, "%s: is a %s; a file is needed", o->place.shown,
               o->status.kind == HDFS_FOLDER ? "folder" : "link");
    if (err != NULL)
        err->sys_errno = o->status.kind == HDFS_FOLDER ? EISDIR : EINVAL;
    return IMREC_ERR_IO;
}

enum imrec_status
hdfs_object_open(struct hdfs_place *p, struct hdfs_object **out, struct imrec_error *err)
{
    struct hdfs_object *o = imrec_zalloc(1, sizeof(*o));
    *out = NULL;
    enum imrec_status st;
    if (o == NULL) {
        st = IMREC_NO_MEMORY(err, "%s: no memory to open it", p->shown);
        hdfs_place_free(p);
        return st;
    }
    mutex_init(&o->lock);
    o->place = *p;
    *p = (struct hdfs_place){0};
    st = open_status(o, err);
    if (st != IMREC_OK)
        hdfs_object_close(o);
    else
        *out = o;
    return st;
}

uint64_t hdfs_object_size(const struct hdfs_object *o)
{
    return o->status.size;
}

uint64_t hdfs_object_modified(const struct hdfs_object *o)
{
    return o->status.modified_ms * 1000000u;
}

const char *hdfs_object_identity(const struct hdfs_object *o)
{
    return o->identity;
}

void hdfs_object_close(struct hdfs_object *o)
{
    if (o == NULL)
        return;
    hdfs_place_free(&o->place);
    mutex_destroy(&o->lock);
    IMREC_FREE(o->block, o);
}

/* ---- parts -------------------------------------------------------------------------------- */

static enum imrec_status begin(struct reading *r, struct part *p, struct imrec_error *err)
{
    char query[96];
    (void)snprintf(query, sizeof(query), "op=OPEN&offset=%" PRIu64 "&length=%" PRIu64, p->begin,
                   p->end - p->begin);
    p->due_ns = 0;
    IMREC_TRY(hdfs_submit(&r->o->place, &p->at, query, &p->url, &r->group, &p->job, err));
    p->used = true;
    return IMREC_OK;
}

/* The next part of the read into an unused place. */
static enum imrec_status deal(struct reading *r, struct part *p, struct imrec_error *err)
{
    const size_t n = r->end - r->next < PART_BYTES ? (size_t)(r->end - r->next) : PART_BYTES;
    p->job =
        (struct wire_job){.method = "GET", .to = r->to, .room = n, .redirects = HDFS_REDIRECTS};
    p->at = (struct hdfs_try){.node = atomic_load(&r->o->place.active)};
    p->url.max = HDFS_URL_BYTES * 2;
    p->begin = r->next;
    p->end = r->next + n;
    r->next += n;
    r->to += n;
    return begin(r, p, err);
}

/* Bytes that came in a 2xx are those from p->begin on, however the answer ended. */
static void keep_what_came(struct part *p)
{
    if (p->job.status != 200 || p->job.outcome == WIRE_OVERFLOW)
        return;
    p->begin += p->job.got;
    p->job.to += p->job.got;
    p->job.room -= (size_t)p->job.got;
    if (p->job.outcome == WIRE_ANSWERED && p->begin != p->end) { /* without a length, cut off */
        p->job.outcome = WIRE_BROKEN;
        (void)snprintf(p->job.reason, sizeof(p->job.reason), "it ends after %" PRIu64 " bytes",
                       p->job.got);
    }
}

static enum imrec_status finish(struct reading *r, struct part *p, struct imrec_error *err)
{
    struct hdfs_refusal why;
    uint64_t wait_ms;
    p->used = false;
    keep_what_came(p);
    const enum hdfs_then then = hdfs_judge(&r->o->place, &p->at, &p->job, &why, &wait_ms);
    if (then == HDFS_FAILED)
        return hdfs_error(&r->o->place, &p->job, &why, &p->at.retry, p->begin, err);
    if (then == HDFS_ANSWERED && p->job.status == 200)
        return IMREC_OK;
    if (then == HDFS_ANSWERED)
        return imrec_error_at(err, IMREC_ERR_IO, p->begin,
                              "%s: the server answers %d when it is asked for bytes; 200 is right",
                              r->o->place.shown, p->job.status);
    p->used = true;
    p->due_ns = clock_ns() + wait_ms * 1000000u;
    return IMREC_OK;
}

/* Deals out what there is room for; *wait_ms: until a part is due, *busy: whether any is left. */
static enum imrec_status
deal_all(struct reading *r, uint32_t *wait_ms, bool *busy, struct imrec_error *err)
{
    const uint64_t now = clock_ns();
    *wait_ms = WIRE_FOREVER;
    *busy = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct part *p = &r->parts[i];
        if (!p->used && r->next < r->end) {
            IMREC_TRY(deal(r, p, err));
        } else if (p->used && p->due_ns != 0 && p->due_ns <= now) {
            IMREC_TRY(begin(r, p, err));
        } else if (p->used && p->due_ns != 0) {
            const uint64_t ms = (p->due_ns - now) / 1000000u + 1;
            *wait_ms = ms < *wait_ms ? (uint32_t)ms : *wait_ms;
        }
        *busy |= p->used;
    }
    return IMREC_OK;
}

static enum imrec_status run(struct reading *r, struct imrec_error *err)
{
    for (;;) {
        uint32_t wait_ms;
        bool busy;
        IMREC_TRY(deal_all(r, &wait_ms, &busy, err));
        if (!busy)
            return IMREC_OK;
        struct part *p = (struct part *)wire_wait(&r->group, wait_ms);
        if (p != NULL)
            IMREC_TRY(finish(r, p, err));
        else if (wait_ms != WIRE_FOREVER && r->group.pending == 0)
            clock_sleep_ms(wait_ms); /* all of them wait for their next try */
    }
}

static void end(struct reading *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->parts[i].used && r->parts[i].due_ns == 0)
            wire_cancel(&r->parts[i].job);
    while (wire_wait(&r->group, WIRE_FOREVER) != NULL)
        ;
    for (uint32_t i = 0; i < r->count; i++)
        buf_free(&r->parts[i].url);
    wire_group_destroy(&r->group);
    imrec_free(r->parts);
}

static enum imrec_status
read_parts(struct hdfs_object *o, uint64_t offset, uint8_t *to, size_t n, struct imrec_error *err)
{
    const size_t parts = n / PART_BYTES + (n % PART_BYTES != 0);
    const uint64_t since_ns = clock_ns();
    struct reading r = {.o = o, .next = offset, .end = offset + n, .to = to};
    r.count = parts < PARTS_MOST ? (uint32_t)parts : PARTS_MOST;
    r.parts = imrec_zalloc(r.count, sizeof(*r.parts));
    if (r.parts == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for requests", o->place.shown);
    wire_group_init(&r.group);
    const enum imrec_status st = run(&r, err);
    end(&r);
    traffic_waited(o->place.traffic, since_ns);
    return st;
}

/* ---- the version -------------------------------------------------------------------------- */

static enum imrec_status
changed(const struct hdfs_object *o, uint64_t offset, const char *how, struct imrec_error *err)
{
    const enum imrec_status st =
        imrec_error_at(err, IMREC_ERR_IO, offset,
                       "%s: %s since it was opened (%" PRIu64 " bytes, changed at %" PRIu64
                       " ms); nothing of another version is used",
                       o->place.shown, how, o->status.size, o->status.modified_ms);
    if (err != NULL)
        err->sys_errno = ESTALE;
    return st;
}

static enum imrec_status
check_version(struct hdfs_object *o, uint64_t offset, struct imrec_error *err)
{
    struct hdfs_status now;
    struct imrec_error why;
    const enum imrec_status st = hdfs_stat(&o->place, &now, &why);
    if (st == IMREC_ERR_IO && why.sys_errno == ENOENT)
        return changed(o, offset, "was removed or renamed", err);
    if (st != IMREC_OK) {
        if (err != NULL)
            *err = why;
        return st;
    }
    if (now.kind != o->status.kind || now.size != o->status.size ||
        now.modified_ms != o->status.modified_ms || now.id != o->status.id)
        return changed(o, offset, "was changed", err);
    return IMREC_OK;
}

static enum imrec_status
read_checked(struct hdfs_object *o, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st = read_parts(o, offset, to, n, err);
    if (st != IMREC_OK && st != IMREC_ERR_IO)
        return st;
    const enum imrec_status seen = check_version(o, offset, &why);
    /* A read that failed has its own reason, unless that is another version. */
    if (seen == IMREC_OK || (st != IMREC_OK && why.sys_errno != ESTALE))
        return st;
    if (err != NULL)
        *err = why;
    return seen;
}

/* ---- small reads; the lock is held -------------------------------------------------------- */

static bool is_in_block(const struct hdfs_object *o, uint64_t offset, size_t n)
{
    return offset >= o->begin && offset <= o->end && n <= o->end - offset;
}

/* Fills the block from `offset` on, with at least n bytes; false: it is as if there were none. */
static bool read_ahead(struct hdfs_object *o, uint64_t offset, size_t n)
{
    const uint64_t left = o->status.size - offset;
    const size_t want = o->ahead > n ? o->ahead : n, bytes = left < want ? (size_t)left : want;
    if (o->block == NULL)
        o->block = imrec_realloc(NULL, AHEAD_MOST, 1);
    o->begin = o->end = 0;
    if (o->block == NULL || read_checked(o, offset, o->block, bytes, NULL) != IMREC_OK)
        return false;
    o->begin = offset;
    o->end = offset + bytes;
    return true;
}

/* Whether the block has the bytes, now. */
static bool block_has(struct hdfs_object *o, uint64_t offset, size_t n)
{
    const bool there = is_in_block(o, offset, n);
    if (there)
        return true;
    if (offset != o->next)
        o->ahead = 0;
    else if (o->ahead != 0 && read_ahead(o, offset, n))
        o->ahead = o->ahead < AHEAD_MOST / 4 ? o->ahead * 4 : AHEAD_MOST;
    else
        o->ahead = o->ahead == 0 ? AHEAD_FIRST : 0;
    return is_in_block(o, offset, n);
}

enum imrec_status hdfs_object_read(struct hdfs_object *o, uint64_t offset, void *to, size_t n,
                                   struct imrec_error *err)
{
    bool there = false;
    if (n <= AHEAD_MOST / 2) {
        mutex_lock(&o->lock);
        there = block_has(o, offset, n);
        if (there)
            memcpy(to, o->block + (offset - o->begin), n);
        o->next = offset + n;
        mutex_unlock(&o->lock);
    }
    return there ? IMREC_OK : read_checked(o, offset, to, n, err);
}
