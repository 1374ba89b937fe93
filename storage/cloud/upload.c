/* storage/cloud/upload.c - an object that is uploaded in parts. */
#include "storage/cloud/upload.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/answer.h"
#include "storage/wire/url.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum imrec_status no_memory(const struct cloud_place *p, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory to upload it", p->shown);
}

/* ---- what is answered ---------------------------------------------------------------------- */

struct answer {
    const struct cloud_place *p;
    struct upload *u;
    char id[UPLOAD_ID_BYTES], etag[192], code[64], next[16];
    bool more;
};

static void copy_text(char *to, size_t room, const char *from)
{
    (void)snprintf(to, room, "%s", strlen(from) < room ? from : "");
}

static enum imrec_status
take_part(struct answer *a, const struct answer_item *item, struct imrec_error *err)
{
    const unsigned long long number = strtoull(answer_value(item, "PartNumber"), NULL, 10);
    if (a->u == NULL || number != (unsigned long long)a->u->count + 1)
        return IMREC_OK; /* after a hole: it is uploaded again */
    return upload_note(a->u, (uint32_t)number, answer_value(item, "ETag"),
                       strtoull(answer_value(item, "Size"), NULL, 10), err);
}

static enum imrec_status take(void *user, const struct answer_item *item, struct imrec_error *err)
{
    struct answer *a = user;
    const char *text = answer_value(item, item->name);
    if (strcmp(item->name, "Part") == 0)
        return take_part(a, item, err);
    if (strcmp(item->name, "UploadId") == 0)
        copy_text(a->id, sizeof(a->id), text);
    else if (strcmp(item->name, "ETag") == 0)
        copy_text(a->etag, sizeof(a->etag), text);
    else if (strcmp(item->name, "Code") == 0)
        copy_text(a->code, sizeof(a->code), text);
    else if (strcmp(item->name, "NextPartNumberMarker") == 0)
        copy_text(a->next, sizeof(a->next), text);
    else if (strcmp(item->name, "IsTruncated") == 0)
        a->more = strcmp(text, "true") == 0;
    return IMREC_OK;
}

/* Reads it; an error in it is one. */
static enum imrec_status read_answer(struct answer *a, struct bytes text, struct imrec_error *err)
{
    if (text.n != 0)
        IMREC_TRY(answer_items(a->p->shown, text, 2, take, a, err));
    if (a->code[0] == '\0')
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO, "%s: the server answers %s", a->p->shown, a->code);
    imrec_error_errno(err, strcmp(a->code, "NoSuchUpload") == 0 ? ENOENT : EIO);
    return IMREC_ERR_IO;
}

enum imrec_status
upload_check_answer(const struct cloud_place *p, struct bytes text, struct imrec_error *err)
{
    struct answer a = {.p = p};
    return read_answer(&a, text, err);
}

/* `taken`: as upload_complete() has it. */
static enum imrec_status fetch(struct cloud_place *p, const char *method, const char *key,
                               const char *query, struct bytes body, struct buf *text, bool *taken,
                               struct imrec_error *err)
{
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    *job = (struct wire_job){.method = method, .body = body.p, .body_bytes = body.n, .grow = text};
    const enum imrec_status st = taken != NULL ? cloud_do_new(p, job, key, query, taken, err)
                                               : cloud_do(p, job, key, query, err);
    imrec_free(job);
    return st;
}

/* Asks and reads. */
static enum imrec_status ask(struct cloud_place *p, const char *method, const char *key,
                             const char *query, struct bytes body, struct answer *a,
                             struct imrec_error *err)
{
    struct buf text = BUF_INIT(UPLOAD_ANSWER_BYTES);
    a->p = p;
    enum imrec_status st = fetch(p, method, key, query, body, &text, NULL, err);
    if (st == IMREC_OK)
        st = read_answer(a, (struct bytes){text.p, text.n}, err);
    buf_free(&text);
    return st;
}

/* ---- the upload ---------------------------------------------------------------------------- */

static enum imrec_status
begin(struct upload *u, const struct cloud_place *p, const char *key, struct imrec_error *err)
{
    *u = (struct upload){.key = imrec_joined(key, strlen(key), "")};
    return u->key != NULL ? IMREC_OK : no_memory(p, err);
}

enum imrec_status
upload_begin(struct upload *u, struct cloud_place *p, const char *key, struct imrec_error *err)
{
    struct answer a = {0};
    IMREC_TRY(begin(u, p, key, err));
    enum imrec_status st = ask(p, "POST", key, "uploads=", (struct bytes){0}, &a, err);
    if (st == IMREC_OK && a.id[0] == '\0')
        st =
            imrec_fail(err, IMREC_ERR_IO,
                       "%s: the server begins an upload and does not name it (UploadId)", p->shown);
    memcpy(u->id, a.id, sizeof(u->id));
    if (st != IMREC_OK)
        upload_free(u);
    return st;
}

static enum imrec_status
encode_id(const struct upload *u, char out[UPLOAD_QUERY_BYTES], struct imrec_error *err)
{
    struct buf text = BUF_INIT(UPLOAD_QUERY_BYTES);
    const enum imrec_status st = url_append_encoded(&text, u->id, strlen(u->id), false, err);
    (void)snprintf(out, UPLOAD_QUERY_BYTES, "%.*s", (int)text.n, (const char *)text.p);
    buf_free(&text);
    return st;
}

enum imrec_status upload_query(const struct upload *u, uint32_t number,
                               char out[UPLOAD_QUERY_BYTES], struct imrec_error *err)
{
    char id[UPLOAD_QUERY_BYTES];
    if (number > UPLOAD_PARTS_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "an upload has at most %d parts; make smaller shards (shard_size)",
                          UPLOAD_PARTS_MOST);
    IMREC_TRY(encode_id(u, id, err));
    (void)snprintf(out, UPLOAD_QUERY_BYTES, "partNumber=%" PRIu32 "&uploadId=%.*s", number,
                   3 * UPLOAD_ID_BYTES, id);
    return IMREC_OK;
}

enum imrec_status upload_note_listed(struct upload *u, const struct cloud_place *p,
                                     struct bytes answer, uint32_t *next, struct imrec_error *err)
{
    struct answer a = {.p = p, .u = u};
    IMREC_TRY(read_answer(&a, answer, err));
    const unsigned long long marker = a.more ? strtoull(a.next, NULL, 10) : 0;
    *next = marker <= UPLOAD_PARTS_MOST ? (uint32_t)marker : 0;
    return IMREC_OK;
}

static enum imrec_status
find_parts(struct upload *u, struct cloud_place *p, struct imrec_error *err)
{
    char id[UPLOAD_QUERY_BYTES], query[UPLOAD_QUERY_BYTES + 64], marker[48] = "";
    uint32_t next = 0, before;
    IMREC_TRY(encode_id(u, id, err));
    do {
        struct buf text = BUF_INIT(UPLOAD_ANSWER_BYTES);
        before = next;
        (void)snprintf(query, sizeof(query), "%suploadId=%.*s", marker, 3 * UPLOAD_ID_BYTES, id);
        enum imrec_status st = fetch(p, "GET", u->key, query, (struct bytes){0}, &text, NULL, err);
        if (st == IMREC_OK)
            st = upload_note_listed(u, p, (struct bytes){text.p, text.n}, &next, err);
        buf_free(&text);
        IMREC_TRY(st);
        (void)snprintf(marker, sizeof(marker), "part-number-marker=%" PRIu32 "&", next);
    } while (next > before); /* a server that goes back would never come to an end */
    return IMREC_OK;
}

enum imrec_status upload_find(struct upload *u, struct cloud_place *p, const char *key,
                              const char *id, uint32_t count, struct imrec_error *err)
{
    IMREC_TRY(begin(u, p, key, err));
    copy_text(u->id, sizeof(u->id), id);
    enum imrec_status st = count != 0 ? find_parts(u, p, err) : IMREC_OK;
    if (st == IMREC_OK && u->count < count)
        st = imrec_fail(err, IMREC_ERR_IO,
                        "%s: %" PRIu32 " parts of it were uploaded, and the store has %" PRIu32
                        "; force begins again",
                        p->shown, count, u->count);
    if (st == IMREC_OK)
        u->count = count;
    else
        upload_free(u);
    return st;
}

enum imrec_status upload_note(struct upload *u, uint32_t number, const char *etag, uint64_t bytes,
                              struct imrec_error *err)
{
    if (number == 0 || number > UPLOAD_PARTS_MOST || !IMREC_GROW(u->part, u->room, number))
        return IMREC_NO_MEMORY(err, "no memory for the parts of an upload");
    struct upload_part *part = &u->part[number - 1];
    copy_text(part->etag, sizeof(part->etag), etag);
    part->bytes = bytes;
    u->count = number > u->count ? number : u->count;
    return IMREC_OK;
}

enum imrec_status upload_note_copied(struct upload *u, const struct cloud_place *p,
                                     struct bytes text, uint64_t bytes, struct imrec_error *err)
{
    struct answer a = {.p = p};
    IMREC_TRY(read_answer(&a, text, err));
    return upload_note(u, u->count + 1, a.etag, bytes, err);
}

enum imrec_status
upload_put(struct upload *u, struct cloud_place *p, struct bytes content, struct imrec_error *err)
{
    char query[UPLOAD_QUERY_BYTES];
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return no_memory(p, err);
    *job = (struct wire_job){.method = "PUT", .body = content.p, .body_bytes = content.n};
    enum imrec_status st = upload_query(u, u->count + 1, query, err);
    if (st == IMREC_OK)
        st = cloud_do(p, job, u->key, query, err);
    if (st == IMREC_OK)
        st = upload_note(u, u->count + 1, job->etag, content.n, err);
    imrec_free(job);
    return st;
}

/* ETags hold no markup but the quotes, which stay. */
static enum imrec_status list_parts(const struct upload *u, struct buf *body)
{
    char line[320];
    IMREC_TRY(buf_append(body, "<CompleteMultipartUpload>", 25, NULL));
    for (uint32_t i = 0; i < u->count; i++) {
        const bool plain = strpbrk(u->part[i].etag, "<>&") == NULL;
        const int n = snprintf(line, sizeof(line),
                               "<Part><PartNumber>%" PRIu32 "</PartNumber><ETag>%s</ETag></Part>",
                               i + 1, plain ? u->part[i].etag : "");
        IMREC_TRY(buf_append(body, line, (size_t)n, NULL));
    }
    return buf_append(body, "</CompleteMultipartUpload>", 26, NULL);
}

static enum imrec_status end(const struct upload *u, struct cloud_place *p, const char *method,
                             struct bytes body, bool *taken, struct imrec_error *err)
{
    char id[UPLOAD_QUERY_BYTES], query[UPLOAD_QUERY_BYTES + 16];
    struct buf text = BUF_INIT(UPLOAD_ANSWER_BYTES);
    IMREC_TRY(encode_id(u, id, err));
    (void)snprintf(query, sizeof(query), "uploadId=%s", id);
    enum imrec_status st = fetch(p, method, u->key, query, body, &text, taken, err);
    if (st == IMREC_OK)
        st = upload_check_answer(p, (struct bytes){text.p, text.n}, err);
    buf_free(&text);
    return st;
}

enum imrec_status
upload_complete(struct upload *u, struct cloud_place *p, bool *taken, struct imrec_error *err)
{
    struct buf body = BUF_INIT(UPLOAD_ANSWER_BYTES);
    enum imrec_status st = list_parts(u, &body);
    st = st != IMREC_OK ? no_memory(p, err)
                        : end(u, p, "POST", (struct bytes){body.p, body.n}, taken, err);
    buf_free(&body);
    return st;
}

enum imrec_status
upload_abort(const struct upload *u, struct cloud_place *p, struct imrec_error *err)
{
    struct imrec_error why = {0};
    if (u->id[0] == '\0')
        return IMREC_OK;
    const enum imrec_status st = end(u, p, "DELETE", (struct bytes){0}, NULL, &why);
    if (st == IMREC_ERR_IO && why.sys_errno == ENOENT)
        return IMREC_OK;
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}

void upload_free(struct upload *u)
{
    IMREC_FREE(u->key, u->part);
    *u = (struct upload){0};
}
