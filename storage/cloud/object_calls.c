/* storage/cloud/object_calls.c - whole small objects: put, get, delete, copy. */
#include "storage/cloud/object_calls.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/upload.h"
#include "storage/wire/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COPY_WHOLE_MOST ((uint64_t)1 << 30) /* S3 copies up to 5 GiB at once, and answers late */

static enum imrec_status no_memory(const struct cloud_place *p, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory for a request", p->shown);
}

enum imrec_status
cloud_put(struct cloud_place *p, const char *key, struct bytes content, struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    *job = (struct wire_job){.method = "PUT", .body = content.p, .body_bytes = content.n};
    const enum imrec_status st = cloud_do(p, job, key, "", err);
    imrec_free(job);
    return st;
}

static enum imrec_status
answered(struct cloud_place *p, const struct wire_job *job, bool *found, struct imrec_error *err)
{
    *found = job->status == 200;
    if (*found || job->status == 404)
        return IMREC_OK;
    return cloud_error(p, job, err);
}

/* One request about an object that need not be there; *size: Content-Length. */
static enum imrec_status look(struct cloud_place *p, const char *method, const char *key,
                              struct buf *to, uint64_t *size, bool *found, struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    *job = (struct wire_job){.method = method, .grow = to};
    enum imrec_status st = cloud_ask(p, job, key, "", err);
    if (st == IMREC_OK)
        st = answered(p, job, found, err);
    *size = job->length;
    imrec_free(job);
    return st;
}

enum imrec_status cloud_get(struct cloud_place *p, const char *key, struct buf *to, bool *found,
                            struct imrec_error *err)
{
    uint64_t size;
    return look(p, "GET", key, to, &size, found, err);
}

enum imrec_status cloud_size(struct cloud_place *p, const char *key, uint64_t *size, bool *found,
                             struct imrec_error *err)
{
    return look(p, "HEAD", key, NULL, size, found, err);
}

enum imrec_status cloud_delete(struct cloud_place *p, const char *key, struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    *job = (struct wire_job){.method = "DELETE"};
    enum imrec_status st = cloud_ask(p, job, key, "", err);
    if (st == IMREC_OK && job->status != 404 && (job->status < 200 || job->status > 299))
        st = cloud_error(p, job, err);
    imrec_free(job);
    return st;
}

/* ---- copies -------------------------------------------------------------------------------- */

/* "/BUCKET/KEY", encoded. */
static enum imrec_status add_origin(const struct cloud_place *p, const char *from,
                                    struct wire_job *job, struct imrec_error *err)
{
    struct buf text = BUF_INIT((size_t)8 << 10);
    enum imrec_status st = url_append_encoded(&text, p->bucket, strlen(p->bucket), false, err);
    if (st == IMREC_OK)
        st = buf_append(&text, "/", 1, err);
    if (st == IMREC_OK)
        st = url_append_encoded(&text, from, strlen(from), true, err);
    if (st == IMREC_OK)
        st = wire_headers_add(&job->headers, err, "x-amz-copy-source: /%.*s", (int)text.n,
                              (const char *)text.p);
    buf_free(&text);
    return st;
}

static enum imrec_status copy_whole(struct cloud_place *p, struct wire_job *job, const char *from,
                                    const char *to, struct imrec_error *err)
{
    struct buf answer = BUF_INIT(UPLOAD_ANSWER_BYTES);
    *job = (struct wire_job){.method = "PUT", .grow = &answer};
    enum imrec_status st = add_origin(p, from, job, err);
    if (st == IMREC_OK)
        st = cloud_do(p, job, to, "", err);
    if (st == IMREC_OK)
        st = upload_check_answer(p, (struct bytes){answer.p, answer.n}, err);
    buf_free(&answer);
    return st;
}

static enum imrec_status copy_part(struct cloud_place *p, struct wire_job *job, const char *from,
                                   struct upload *u, uint64_t begin, uint64_t end,
                                   struct imrec_error *err)
{
    char query[UPLOAD_QUERY_BYTES];
    struct buf answer = BUF_INIT(UPLOAD_ANSWER_BYTES);
    *job = (struct wire_job){.method = "PUT", .grow = &answer};
    enum imrec_status st = add_origin(p, from, job, err);
    if (st == IMREC_OK)
        st =
            wire_headers_add(&job->headers, err,
                             "x-amz-copy-source-range: bytes=%" PRIu64 "-%" PRIu64, begin, end - 1);
    if (st == IMREC_OK)
        st = upload_query(u, u->count + 1, query, err);
    if (st == IMREC_OK)
        st = cloud_do(p, job, u->key, query, err);
    if (st == IMREC_OK)
        st = upload_note_copied(u, p, (struct bytes){answer.p, answer.n}, end - begin, err);
    buf_free(&answer);
    return st;
}

static enum imrec_status copy_parts(struct cloud_place *p, struct wire_job *job, const char *from,
                                    const char *to, uint64_t size, struct imrec_error *err)
{
    struct upload u = {0};
    IMREC_TRY(upload_begin(&u, p, to, err));
    enum imrec_status st = IMREC_OK;
    for (uint64_t at = 0; at < size && st == IMREC_OK; at += COPY_WHOLE_MOST)
        st = copy_part(p, job, from, &u, at,
                       size - at < COPY_WHOLE_MOST ? size : at + COPY_WHOLE_MOST, err);
    if (st == IMREC_OK)
        st = upload_complete(&u, p, NULL, err);
    else
        (void)upload_abort(&u, p, NULL);
    upload_free(&u);
    return st;
}

enum imrec_status cloud_copy(struct cloud_place *p, const char *from, const char *to, uint64_t size,
                             struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    const enum imrec_status st = size <= COPY_WHOLE_MOST ? copy_whole(p, job, from, to, err)
                                                         : copy_parts(p, job, from, to, size, err);
    imrec_free(job);
    return st;
}
