/* storage/wire/object.c - one version of an object: opened, checked, its bytes by ranges. */
#include "storage/wire/object.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/wire/object_read.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ----------------------------------------------------------------------------- */

static enum imrec_status
take_head(struct wire_object *o, const struct wire_job *job, struct imrec_error *err)
{
    const struct wire_range *r = &job->range;
    if (job->status == 416 && r->given && r->total == 0)
        return IMREC_OK; /* it is empty */
    if (job->status != 200 && job->status != 206)
        return wire_error(job, o->shown, IMREC_NO_OFFSET, NULL, err);
    if (object_is_encoded(job))
        return object_refuse_encoding(o, job, err);
    o->head_bytes = o->size = job->got;
    if (job->status == 200)
        return IMREC_OK;
    if (!r->given || r->total == UINT64_MAX || r->begin != 0 || r->end != job->got ||
        r->end != (r->total < OBJECT_HEAD_BYTES ? r->total : OBJECT_HEAD_BYTES))
        return imrec_fail(err, IMREC_ERR_IO,
                          "%s: the server answers bytes 0 to %d with Content-Range %" PRIu64
                          "-%" PRIu64 " of %" PRIu64 ", or none; its size is not to be known",
                          o->shown, OBJECT_HEAD_BYTES - 1, r->begin, r->end, r->total);
    o->size = r->total;
    return IMREC_OK;
}

static void pin(struct wire_object *o, const struct wire_job *job)
{
    memcpy(o->etag, job->etag, sizeof(o->etag));
    memcpy(o->modified, job->modified, sizeof(o->modified));
    const time_t at = o->modified[0] != '\0' ? curl_getdate(o->modified, NULL) : -1;
    o->modified_ns = at > 0 ? (uint64_t)at * 1000000000u : 0;
}

static enum imrec_status
ask_for(struct wire_object *o, struct wire_job *job, struct imrec_error *err)
{
    job->traffic = o->traffic;
    IMREC_TRY(wire_headers_add(&job->headers, err, "Accept-Encoding: identity"));
    return wire_ask(job, o->shown, o->sign, o->signer, err);
}

/* What it is, without a byte of it: a cache may have them. false: HEAD does not say (URLs are
 * signed for GET, ...). */
static bool ask_size(struct wire_object *o, struct wire_job *job)
{
    *job = (struct wire_job){.method = "HEAD", .url = o->url, .redirects = o->redirects};
    if (ask_for(o, job, NULL) != IMREC_OK || job->status != 200 || object_is_encoded(job) ||
        job->length == 0 || job->length == UINT64_MAX)
        return false;
    o->size = job->length;
    pin(o, job);
    return wire_object_identity(o) != NULL;
}

/* The head comes with the first answer, so that opening and reading it is one round trip. */
static enum imrec_status
ask_head(struct wire_object *o, struct wire_job *job, struct imrec_error *err)
{
    *job = (struct wire_job){.method = "GET",
                             .url = o->url,
                             .end = OBJECT_HEAD_BYTES,
                             .to = o->head,
                             .room = OBJECT_HEAD_BYTES,
                             .redirects = o->redirects};
    enum imrec_status st = ask_for(o, job, err);
    if (job->outcome == WIRE_OVERFLOW && job->status == 200)
        st = object_no_ranges(o, job, err);
    IMREC_TRY(st);
    IMREC_TRY(take_head(o, job, err));
    pin(o, job);
    return IMREC_OK;
}

static enum imrec_status
make(const struct wire_object_options *from, struct wire_object **out, struct imrec_error *err)
{
    struct wire_object *o = imrec_zalloc(1, sizeof(*o));
    *out = NULL;
    if (o != NULL) {
        o->url = imrec_joined(from->url, strlen(from->url), "");
        o->shown = imrec_joined(from->shown, strlen(from->shown), "");
        o->redirects = from->redirects;
        o->sign = from->sign;
        o->signer = from->signer;
    }
    if (o == NULL || o->url == NULL || o->shown == NULL) {
        wire_object_close(o);
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", from->shown);
    }
    *out = o;
    return IMREC_OK;
}

static enum imrec_status ask_what(struct wire_object *o, bool bare, struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    enum imrec_status st = IMREC_OK;
    if (job == NULL) {
        st = IMREC_NO_MEMORY(err, "%s: no memory to open it", o->shown);
    } else if (!bare || !ask_size(o, job)) {
        o->head = imrec_realloc(NULL, OBJECT_HEAD_BYTES, 1);
        st = o->head != NULL ? ask_head(o, job, err)
                             : IMREC_NO_MEMORY(err, "%s: no memory to open it", o->shown);
    }
    imrec_free(job);
    return st;
}

static enum imrec_status open_object(const struct wire_object_options *from, bool bare,
                                     struct traffic *traffic, struct wire_object **out,
                                     struct imrec_error *err)
{
    struct wire_object *o;
    *out = NULL;
    IMREC_TRY(make(from, &o, err));
    o->traffic = traffic;
    const enum imrec_status st = ask_what(o, bare, err);
    if (st != IMREC_OK) {
        wire_object_close(o);
        return st;
    }
    if (wire_object_identity(o) != NULL)
        o->pace = wire_pace_of(o->url);
    *out = o;
    return IMREC_OK;
}

enum imrec_status wire_object_open(const struct wire_object_options *from, struct wire_object **out,
                                   struct imrec_error *err)
{
    const struct store_scope *scope = store_scope();
    return open_object(from, scope != NULL && scope->cache != NULL, store_scope_traffic(), out,
                       err);
}

enum imrec_status wire_object_listed(const struct wire_object_options *from, uint64_t size,
                                     const char *etag, struct wire_object **out,
                                     struct imrec_error *err)
{
    struct wire_object *o;
    IMREC_TRY(make(from, &o, err));
    o->traffic = store_scope_traffic();
    o->listed = true;
    o->size = size;
    (void)snprintf(o->etag, sizeof(o->etag), "%s", etag);
    o->pace = wire_pace_of(o->url);
    *out = o;
    return IMREC_OK;
}

static enum imrec_status take_existence(const struct wire_object_options *o,
                                        const struct wire_job *job, bool *there,
                                        struct imrec_error *err)
{
    *there = job->status == 200;
    if (*there || job->status == 404 || job->status == 410)
        return IMREC_OK;
    return wire_error(job, o->shown, IMREC_NO_OFFSET, NULL, err);
}

enum imrec_status
wire_object_exists(const struct wire_object_options *o, bool *there, struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    *there = false;
    if (job == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to look for it", o->shown);
    *job = (struct wire_job){.method = "HEAD", .url = o->url, .redirects = o->redirects};
    enum imrec_status st = wire_ask(job, o->shown, o->sign, o->signer, err);
    if (st == IMREC_OK)
        st = take_existence(o, job, there, err);
    imrec_free(job);
    return st;
}

void wire_object_close(struct wire_object *o)
{
    if (o != NULL)
        IMREC_FREE(o->head, o->shown, o->url, o);
}

void wire_object_cancel(struct wire_object *o)
{
    atomic_store(&o->cancelled, true);
}

uint64_t wire_object_size(const struct wire_object *o)
{
    return o->size;
}

uint64_t wire_object_modified(const struct wire_object *o)
{
    return o->modified_ns;
}

const char *wire_object_identity(const struct wire_object *o)
{
    return o->etag[0] != '\0' ? o->etag : o->modified[0] != '\0' ? o->modified : NULL;
}

/* Of a small one that was opened without its bytes: a server that knows no ranges has it, too. */
static enum imrec_status
read_small(struct wire_object *o, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct wire_object_options same = {o->url, o->shown, o->redirects, o->sign, o->signer};
    struct wire_object *now;
    enum imrec_status st = IMREC_OK;
    IMREC_TRY(open_object(&same, false, o->traffic, &now, err));
    if (now->size != o->size || strcmp(now->etag, o->etag) != 0 ||
        strcmp(now->modified, o->modified) != 0)
        st = object_changed(o, offset, err);
    else
        memcpy(to, now->head + offset, n);
    wire_object_close(now);
    return st;
}

enum imrec_status wire_object_read(struct wire_object *o, uint64_t offset, void *to, size_t n,
                                   struct imrec_error *err)
{
    size_t have = 0;
    if (o->head == NULL && !o->listed && o->size <= OBJECT_HEAD_BYTES)
        return read_small(o, offset, to, n, err);
    if (offset < o->head_bytes) {
        have = (size_t)(o->head_bytes - offset) < n ? (size_t)(o->head_bytes - offset) : n;
        memcpy(to, o->head + offset, have);
    }
    return have == n ? IMREC_OK
                     : object_read_ranges(o, offset + have, (uint8_t *)to + have, n - have, err);
}
