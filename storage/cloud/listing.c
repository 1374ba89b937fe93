/* storage/cloud/listing.c - pages of ListObjectsV2 (s3, gs) and List Blobs (az). */
#include "storage/cloud/listing.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/answer.h"
#include "storage/wire/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 1,000 names (az: 5,000), each encoded, and the XML around them. */
#define PAGE_BYTES ((size_t)32 << 20)

struct page {
    struct listing *l;
    const struct cloud_place *p;
    listed_fn *found;
    void *user;
    bool encoded; /* names have %XX, and '+' for a blank */
    bool more;
    char *next;
};

/* ---- what is asked ------------------------------------------------------------------------- */

static enum imrec_status append_text(struct buf *b, const char *text)
{
    return buf_append(b, text, strlen(text), NULL);
}

static enum imrec_status append_value(struct buf *b, const char *name, const char *value)
{
    IMREC_TRY(append_text(b, name));
    return url_append_encoded(b, value, strlen(value), false, NULL);
}

/* In the order of their names, as a signature wants them. */
static enum imrec_status
query_of(const struct listing *l, const struct cloud_place *p, const char *prefix, struct buf *out)
{
    if (p->cloud == CLOUD_AZ) {
        IMREC_TRY(append_text(out, "comp=list&delimiter=%2F"));
        if (l->next != NULL)
            IMREC_TRY(append_value(out, "&marker=", l->next));
        IMREC_TRY(append_value(out, "&prefix=", prefix));
        IMREC_TRY(append_text(out, "&restype=container"));
    } else {
        if (l->next != NULL)
            IMREC_TRY(append_value(out, "continuation-token=", l->next));
        IMREC_TRY(append_text(out, l->next != NULL ? "&" : ""));
        IMREC_TRY(append_text(out, "delimiter=%2F&encoding-type=url&list-type=2"));
        IMREC_TRY(append_value(out, "&prefix=", prefix));
    }
    return buf_append(out, "", 1, NULL);
}

/* ---- what is answered ---------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes in place: it only gets shorter. */
static size_t decode(char *text)
{
    char *to = text;
    for (const char *p = text; *p != '\0'; p++) {
        const int high = *p == '%' ? digit(p[1]) : -1, low = high >= 0 ? digit(p[2]) : -1;
        *to++ = (char)(low >= 0 ? high * 16 + low : *p == '+' ? ' ' : *p);
        p += low >= 0 ? 2 : 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* false: the list does not say it, or what no object has. */
static bool read_size(const char *text, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *out <= INT64_MAX;
}

/* `e`: what else is known of it. */
static enum imrec_status
give(struct page *g, const char *name, struct listed_object e, struct imrec_error *err)
{
    char *key = imrec_joined(name, strlen(name), "");
    if (key == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for a listing", g->p->shown);
    e.key = key;
    e.bytes = g->encoded ? decode(key) : strlen(key);
    const enum imrec_status st = g->found(g->user, &e, err);
    imrec_free(key);
    return st;
}

static enum imrec_status give_folder(struct page *g, const char *name, struct imrec_error *err)
{
    return give(g, name, (struct listed_object){.folder = true, .etag = ""}, err);
}

static enum imrec_status give_object(struct page *g, const struct answer_item *item,
                                     const char *name, const char *size, const char *etag,
                                     struct imrec_error *err)
{
    struct listed_object e = {.etag = answer_value(item, etag)};
    if (!read_size(answer_value(item, size), &e.size))
        e.etag = "";
    return give(g, answer_value(item, name), e, err);
}

static enum imrec_status keep_next(struct page *g, const char *value, struct imrec_error *err)
{
    if (value[0] == '\0')
        return IMREC_OK;
    imrec_free(g->next);
    g->next = imrec_joined(value, strlen(value), "");
    return g->next != NULL ? IMREC_OK
                           : IMREC_NO_MEMORY(err, "%s: no memory for a listing", g->p->shown);
}

static enum imrec_status
take_item(void *user, const struct answer_item *item, struct imrec_error *err)
{
    struct page *g = user;
    const char *name = item->name;
    if (strcmp(name, "Contents") == 0)
        return give_object(g, item, "Key", "Size", "ETag", err);
    if (strcmp(name, "CommonPrefixes") == 0)
        return give_folder(g, answer_value(item, "Prefix"), err);
    if (strcmp(name, "Blob") == 0)
        return give_object(g, item, "Name", "Content-Length", "Etag", err);
    if (strcmp(name, "BlobPrefix") == 0)
        return give_folder(g, answer_value(item, "Name"), err);
    if (strcmp(name, "NextContinuationToken") == 0 || strcmp(name, "NextMarker") == 0)
        return keep_next(g, answer_value(item, name), err);
    if (strcmp(name, "IsTruncated") == 0)
        g->more = strcmp(answer_value(item, name), "true") == 0;
    return IMREC_OK;
}

/* It is said anywhere in the answer, and must be known before the first name. */
static enum imrec_status
take_encoding(void *user, const struct answer_item *item, struct imrec_error *err)
{
    struct page *g = user;
    (void)err;
    if (strcmp(item->name, "EncodingType") == 0)
        g->encoded = strcmp(answer_value(item, item->name), "url") == 0;
    return IMREC_OK;
}

static enum imrec_status read_page(struct page *g, struct bytes text, struct imrec_error *err)
{
    const bool az = g->p->cloud == CLOUD_AZ;
    if (!az)
        IMREC_TRY(answer_items(g->p->shown, text, 2, take_encoding, g, err));
    IMREC_TRY(answer_items(g->p->shown, text, az ? 3 : 2, take_item, g, err));
    struct listing *l = g->l;
    if (!az && g->more && g->next == NULL)
        return imrec_fail(err, IMREC_ERR_IO,
                          "%s: the server says that its list continues, and not where "
                          "(NextContinuationToken)",
                          g->p->shown);
    if (g->next != NULL && l->next != NULL && strcmp(g->next, l->next) == 0)
        return imrec_fail(err, IMREC_ERR_IO, "%s: the server gives the same page of its list again",
                          g->p->shown);
    l->ended = g->next == NULL || (!az && !g->more);
    imrec_free(l->next);
    l->next = g->next;
    g->next = NULL;
    return IMREC_OK;
}

enum imrec_status listing_read(struct listing *l, const struct cloud_place *p, struct bytes answer,
                               listed_fn *found, void *user, struct imrec_error *err)
{
    struct page g = {.l = l, .p = p, .found = found, .user = user};
    const enum imrec_status st = read_page(&g, answer, err);
    imrec_free(g.next);
    return st;
}

enum imrec_status listing_page(struct listing *l, struct cloud_place *p, const char *prefix,
                               listed_fn *found, void *user, struct imrec_error *err)
{
    struct buf query = BUF_INIT((size_t)32 << 10), text = BUF_INIT(PAGE_BYTES);
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    enum imrec_status st = IMREC_OK;
    if (job == NULL || query_of(l, p, prefix, &query) != IMREC_OK)
        st = IMREC_NO_MEMORY(err, "%s: no memory for a listing", p->shown);
    if (st == IMREC_OK) {
        *job = (struct wire_job){.method = "GET", .grow = &text};
        st = cloud_do(p, job, "", (const char *)query.p, err);
        if (st == IMREC_ERR_IO && job->status == 404) /* where nothing is, the list is empty */
            imrec_error_errno(err, EIO);
    }
    if (st == IMREC_OK)
        st = listing_read(l, p, (struct bytes){text.p, text.n}, found, user, err);
    imrec_free(job);
    buf_free(&query);
    buf_free(&text);
    return st;
}

void listing_free(struct listing *l)
{
    imrec_free(l->next);
    *l = (struct listing){0};
}
