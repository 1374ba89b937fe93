/*
 * storage/hdfs/hdfs_object.c - reads in parts, then checked.
 *
 * A part is OPEN with offset and length: the NameNode redirects to a DataNode that has the bytes.
 * One that broke off continues after the bytes that came.
 */
#include "storage/hdfs/hdfs_object.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/threads.h"
#include "storage/hdfs/hdfs_request.h"
#include "storage/wire/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Small reads one after the other, as records are walked: more is read ahead, a little at first. */
#define AHEAD_MOST  ((size_t)2 << 20)
#define AHEAD_FIRST ((size_t)64 << 10)

struct hdfs_object {
    struct hdfs_place place;
    struct hdfs_status status; /* as it was opened */
    char identity[HDFS_IDENTITY_BYTES];
    atomic_bool cancelled; /* hdfs_object_cancel() */
    struct mutex lock;     /* of what follows */
    uint64_t next;         /* where a read continues the last small one */
    size_t ahead;          /* bytes that the next one reads; 0: those that are asked for */
    uint8_t *block;        /* AHEAD_MOST bytes, once it is needed */
    uint64_t begin, end;   /* of the object, that are in it */
};

struct part {
    struct wire_part part; /* first */
    struct hdfs_try at;
    struct buf url, hedge_url; /* of its requests that are under way */
};

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status open_status(struct hdfs_object *o, struct imrec_error *err)
{
    IMREC_TRY(hdfs_stat(&o->place, &o->status, err));
    hdfs_identity(&o->status, o->identity);
    if (o->status.kind == HDFS_FILE)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO, "%s: is a %s; a file is needed", o->place.shown,
               o->status.kind == HDFS_FOLDER ? "folder" : "link");
    imrec_error_errno(err, o->status.kind == HDFS_FOLDER ? EISDIR : EINVAL);
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

void hdfs_object_cancel(struct hdfs_object *o)
{
    atomic_store(&o->cancelled, true);
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

static void make(void *user, struct wire_part *base)
{
    struct hdfs_object *o = user;
    struct part *p = (struct part *)base;
    p->at = (struct hdfs_try){.node = atomic_load(&o->place.active)};
    p->url.max = p->hedge_url.max = HDFS_URL_BYTES * 2;
}

static enum imrec_status ask(void *user, struct wire_part *base, struct wire_job *job, uint8_t *to,
                             struct wire_group *group, struct imrec_error *err)
{
    struct hdfs_object *o = user;
    struct part *p = (struct part *)base;
    char query[96];
    (void)snprintf(query, sizeof(query), "op=OPEN&offset=%" PRIu64 "&length=%" PRIu64, base->begin,
                   base->end - base->begin);
    *job = (struct wire_job){.method = "GET",
                             .to = to,
                             .room = (size_t)(base->end - base->begin),
                             .redirects = HDFS_REDIRECTS};
    return hdfs_submit(&o->place, &p->at, query, job == &base->job ? &p->url : &p->hedge_url, group,
                       job, err);
}

/* Bytes that came in a 2xx are those from p->begin on, however the answer ended. */
static void keep_what_came(struct wire_part *p)
{
    struct wire_job *job = &p->job;
    if (job->status != 200 || job->outcome == WIRE_OVERFLOW)
        return;
    p->begin += job->got;
    p->to += job->got;
    if (job->outcome == WIRE_ANSWERED && p->begin != p->end) { /* without a length, cut off */
        job->outcome = WIRE_BROKEN;
        (void)snprintf(job->reason, sizeof(job->reason), "it ends after %" PRIu64 " bytes",
                       job->got);
    }
}

static enum imrec_status
finish(void *user, struct wire_part *base, bool *again, uint64_t *wait_ms, struct imrec_error *err)
{
    struct hdfs_object *o = user;
    struct part *p = (struct part *)base;
    struct hdfs_refusal why;
    keep_what_came(base);
    const enum hdfs_then then = hdfs_judge(&o->place, &p->at, &base->job, &why, wait_ms);
    *again = then == HDFS_AGAIN;
    if (then == HDFS_FAILED)
        return hdfs_error(&o->place, &base->job, &why, &p->at.retry, base->begin, err);
    if (*again || base->job.status == 200)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_IO, base->begin,
                          "%s: the server answers %d when it is asked for bytes; 200 is right",
                          o->place.shown, base->job.status);
}

static bool is_good(const void *user, const struct wire_job *job)
{
    (void)user;
    return job->outcome == WIRE_ANSWERED && job->status == 200 && job->got == job->room;
}

static void free_part(struct wire_part *p)
{
    buf_free(&((struct part *)p)->url);
    buf_free(&((struct part *)p)->hedge_url);
}

static enum imrec_status
read_parts(struct hdfs_object *o, uint64_t offset, uint8_t *to, size_t n, struct imrec_error *err)
{
    static const struct wire_parts_ops ops = {
        sizeof(struct part), HDFS_PART_BYTES, make, ask, finish, is_good, free_part};
    const struct wire_reading how = {
        &ops, o, o->place.shown, &o->cancelled, wire_pace_of(o->place.node[0]), o->place.traffic};
    return wire_read_parts(&how, offset, to, n, err);
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
    imrec_error_errno(err, ESTALE);
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
