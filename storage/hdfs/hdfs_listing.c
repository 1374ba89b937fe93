/* storage/hdfs/hdfs_listing.c - LISTSTATUS_BATCH, and LISTSTATUS of servers that know no pages. */
#include "storage/hdfs/hdfs_listing.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "storage/hdfs/hdfs_request.h"
#include "storage/wire/url.h"

#include <errno.h>
#include <string.h>

struct hdfs_listing {
    struct hdfs_place place;
    struct hdfs_page page;
    size_t next; /* entry of the page */
    char *last;  /* the name after which the next page begins; NULL: none yet */
};

static enum imrec_status ask(struct hdfs_listing *l, const char *query, struct hdfs_page *out,
                             bool *unknown, struct imrec_error *err)
{
    const struct hdfs_call call = {"GET", query, HDFS_PAGE_BYTES};
    struct hdfs_reply *r;
    enum imrec_status st = hdfs_ask(&l->place, &call, &r, err);
    *unknown = st == IMREC_ERR_IO && r->job.status == 400;
    if (st == IMREC_OK)
        st = hdfs_answer_page(hdfs_reply_body(r), l->place.shown, out, err);
    hdfs_reply_free(r);
    return st;
}

static enum imrec_status
ask_page(struct hdfs_listing *l, struct hdfs_page *out, bool *unknown, struct imrec_error *err)
{
    static const char head[] = "op=LISTSTATUS_BATCH&startAfter=";
    struct buf query = BUF_INIT(HDFS_URL_BYTES);
    if (l->last == NULL)
        return ask(l, "op=LISTSTATUS_BATCH", out, unknown, err);
    enum imrec_status st = buf_append(&query, head, strlen(head), err);
    if (st == IMREC_OK)
        st = url_append_encoded(&query, l->last, strlen(l->last), false, err);
    if (st == IMREC_OK)
        st = buf_append(&query, "", 1, err);
    if (st == IMREC_OK)
        st = ask(l, (const char *)query.p, out, unknown, err);
    buf_free(&query);
    return st;
}

static enum imrec_status no_folder(const struct hdfs_listing *l, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO, "%s: is a file; a folder is needed", l->place.shown);
    imrec_error_errno(err, ENOTDIR);
    return IMREC_ERR_IO;
}

static enum imrec_status first_page(struct hdfs_listing *l, struct imrec_error *err)
{
    bool unknown;
    enum imrec_status st = ask_page(l, &l->page, &unknown, err);
    if (unknown)
        st = ask(l, "op=LISTSTATUS", &l->page, &unknown, err);
    return st == IMREC_OK && l->page.alone ? no_folder(l, err) : st;
}

enum imrec_status
hdfs_listing_open(struct hdfs_place *p, struct hdfs_listing **out, struct imrec_error *err)
{
    struct hdfs_listing *l = imrec_zalloc(1, sizeof(*l));
    *out = NULL;
    enum imrec_status st;
    if (l == NULL) {
        st = IMREC_NO_MEMORY(err, "%s: no memory to list it", p->shown);
        hdfs_place_free(p);
        return st;
    }
    l->place = *p;
    *p = (struct hdfs_place){0};
    st = first_page(l, err);
    if (st != IMREC_OK)
        hdfs_listing_close(l);
    else
        *out = l;
    return st;
}

/* The names of a page come after those of the page before: a server that repeats itself would be
 * asked for ever. */
static enum imrec_status next_page(struct hdfs_listing *l, struct imrec_error *err)
{
    struct hdfs_entry last;
    bool unknown;
    IMREC_TRY(hdfs_page_entry(&l->page, l->page.count - 1, l->place.shown, &last, err));
    const char *name = last.name;
    if (l->last != NULL && strcmp(name, l->last) <= 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: the server lists '%.100s' after '%.100s'; its pages do not continue",
                          l->place.shown, name, l->last);
    imrec_free(l->last);
    l->last = imrec_joined(name, strlen(name), "");
    if (l->last == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to list it", l->place.shown);
    hdfs_page_free(&l->page);
    l->next = 0;
    return ask_page(l, &l->page, &unknown, err);
}

enum imrec_status
hdfs_listing_next(struct hdfs_listing *l, struct hdfs_entry *out, struct imrec_error *err)
{
    if (l->next == l->page.count && l->page.more)
        IMREC_TRY(next_page(l, err));
    if (l->next == l->page.count)
        return IMREC_END;
    return hdfs_page_entry(&l->page, l->next++, l->place.shown, out, err);
}

uint64_t hdfs_listing_number(const struct hdfs_listing *l)
{
    const uint64_t of_host = fnv1a(FNV_START, l->place.node[0], strlen(l->place.node[0]));
    return fnv1a(of_host, l->place.path, strlen(l->place.path));
}

void hdfs_listing_close(struct hdfs_listing *l)
{
    if (l == NULL)
        return;
    hdfs_page_free(&l->page);
    hdfs_place_free(&l->place);
    IMREC_FREE(l->last, l);
}
