/* storage/cloud/cloud_folder.c - folders of cloud stores: what keys have in front of a '/'. A page
 * of the store's list is in memory at a time. */
#include "storage/cloud/cloud_folder.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "base/log.h"
#include "storage/cloud/listing.h"
#include "storage/store/entries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct cloud_folder {
    struct folder base; /* first */
    struct cloud_place place;
    struct listing listing;
    char *prefix; /* of its keys: "" or "a/b/" */
    struct entries page;
    uint64_t listed;   /* entries so far */
    uint64_t nameless; /* of them, such that no folder can hold */
};

static bool is_name(const char *name, size_t n)
{
    return n != 0 && memchr(name, '\0', n) == NULL && memchr(name, '/', n) == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* The ETag as a header says it, in quotes, which Azure's lists omit. "": none that can go into one.
 */
static void take_etag(const char *said, char out[OBJECT_ETAG_BYTES])
{
    const bool whole = said[0] == '"' || strncmp(said, "W/\"", 3) == 0;
    const char *quote = whole ? "" : "\"";
    const int n = snprintf(out, OBJECT_ETAG_BYTES, "%s%s%s", quote, said, quote);
    bool good = said[0] != '\0' && n > 0 && n < OBJECT_ETAG_BYTES;
    for (const char *p = out; good && *p != '\0'; p++)
        good = *p > ' ' && *p < 127;
    if (!good)
        out[0] = '\0';
}

static enum imrec_status
keep(struct cloud_folder *f, const struct listed_object *e, const char *name, size_t n)
{
    char etag[OBJECT_ETAG_BYTES];
    if (e->folder)
        return entries_add(&f->page, FOLDER_FOLDER, name, n);
    take_etag(e->etag, etag);
    return entries_add_file(&f->page, name, n, etag, e->size);
}

static enum imrec_status take(void *user, const struct listed_object *e, struct imrec_error *err)
{
    struct cloud_folder *f = user;
    const size_t head = strlen(f->prefix);
    if (e->bytes < head || memcmp(e->key, f->prefix, head) != 0)
        return imrec_fail(err, IMREC_ERR_IO, "%s: the server lists a name that is not in it",
                          f->place.shown);
    f->listed++;
    const char *name = e->key + head;
    size_t n = e->bytes - head;
    if (n == 0) /* the folder's own mark */
        return IMREC_OK;
    n -= e->folder && name[n - 1] == '/';
    char *copy = imrec_joined(name, n, "");
    enum imrec_status st = IMREC_OK;
    if (copy == NULL)
        st = IMREC_NO_MEMORY(err, "%s: no memory for a listing", f->place.shown);
    else if (!is_name(copy, n))
        f->nameless++;
    else if (keep(f, e, copy, n) != IMREC_OK)
        st = IMREC_NO_MEMORY(err, "%s: no memory for a listing", f->place.shown);
    imrec_free(copy);
    return st;
}

static enum imrec_status next_page(struct cloud_folder *f, struct imrec_error *err)
{
    f->page.bytes.n = f->page.given = 0;
    IMREC_TRY(listing_page(&f->listing, &f->place, f->prefix, take, f, err));
    if (f->listing.ended && f->nameless != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%s: %" PRIu64 " names in it are none that a folder can have ('', '.', '..', or "
                  "with a NUL), and are not listed",
                  f->place.shown, f->nameless);
    return IMREC_OK;
}

static enum imrec_status
cloud_folder_next(struct folder *base, struct folder_entry *out, struct imrec_error *err)
{
    struct cloud_folder *f = (struct cloud_folder *)base;
    while (f->page.given == f->page.bytes.n && !f->listing.ended)
        IMREC_TRY(next_page(f, err));
    return entries_next(&f->page, out);
}

static void cloud_folder_close(struct folder *base)
{
    struct cloud_folder *f = (struct cloud_folder *)base;
    listing_free(&f->listing);
    cloud_place_close(&f->place);
    buf_free(&f->page.bytes);
    IMREC_FREE(f->prefix, f);
}

static const struct folder_ops ops = {cloud_folder_next, NULL, cloud_folder_close};

/* A folder is where something is below it; a bucket may be empty. */
static enum imrec_status look(struct cloud_folder *f, struct imrec_error *err)
{
    size_t n = strlen(f->place.key);
    while (n > 0 && f->place.key[n - 1] == '/')
        n--;
    f->prefix = imrec_joined(f->place.key, n, n != 0 ? "/" : "");
    if (f->prefix == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to list it", f->place.shown);
    f->base.number = fnv1a(fnv1a(FNV_START, f->place.base, strlen(f->place.base)), f->prefix, n);
    while (f->page.bytes.n == 0 && !f->listing.ended)
        IMREC_TRY(next_page(f, err));
    if (f->listed != 0 || n == 0)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO, "%s: there is nothing of this name, and nothing below it",
               f->place.shown);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}

enum imrec_status
cloud_folder_open(enum cloud cloud, const char *name, struct folder **out, struct imrec_error *err)
{
    struct cloud_folder *f = imrec_zalloc(1, sizeof(*f));
    *out = NULL;
    if (f == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list a folder");
    f->base.ops = &ops;
    f->page = ENTRIES_INIT;
    enum imrec_status st = cloud_place_open(cloud, name, &f->place, err);
    if (st == IMREC_OK)
        st = look(f, err);
    if (st == IMREC_OK)
        *out = &f->base;
    else
        cloud_folder_close(&f->base);
    return st;
}
