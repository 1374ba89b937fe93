/* storage/http_store.c - objects on web servers, for reading.
 *
 * The URL is used as it is given, with its query: a signed URL of any store works. A name and a
 * password in it ("https://name:password@host/...") go to that host alone. */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/schemes.h"
#include "storage/wire/object.h"
#include "storage/wire/url.h"

#define REDIRECTS_MOST 5

struct http_source {
    struct source base; /* first */
    struct wire_object *object;
};

static enum imrec_status
http_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    return wire_object_read(((struct http_source *)s)->object, offset, to, n, err);
}

static void http_close(struct source *s)
{
    wire_object_close(((struct http_source *)s)->object);
    imrec_free(s);
}

static void http_cancel(struct source *s)
{
    wire_object_cancel(((struct http_source *)s)->object);
}

static const struct source_ops http_ops = {http_read_at, NULL, NULL, http_close, http_cancel};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to open a URL");
}

static enum imrec_status
open_object(const char *scheme, const char *name, struct wire_object **out, struct imrec_error *err)
{
    char *url = url_of_user(scheme, name), *shown = url != NULL ? url_shown(url) : NULL;
    const struct wire_object_options o = {.url = url, .shown = shown, .redirects = REDIRECTS_MOST};
    const enum imrec_status st = shown == NULL ? no_memory(err) : wire_object_open(&o, out, err);
    IMREC_FREE(shown, url);
    return st;
}

static enum imrec_status
open_source(const char *scheme, const char *name, struct source **out, struct imrec_error *err)
{
    *out = NULL;
    struct http_source *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return no_memory(err);
    const enum imrec_status st = open_object(scheme, name, &s->object, err);
    if (st != IMREC_OK) {
        imrec_free(s);
        return st;
    }
    s->base =
        (struct source){wire_object_size(s->object), &http_ops, wire_object_modified(s->object),
                        wire_object_identity(s->object), WIRE_AT_ONCE};
    *out = &s->base;
    return IMREC_OK;
}

static enum imrec_status
exists(const char *scheme, const char *name, bool *there, struct imrec_error *err)
{
    char *url = url_of_user(scheme, name), *shown = url != NULL ? url_shown(url) : NULL;
    const struct wire_object_options o = {.url = url, .shown = shown, .redirects = REDIRECTS_MOST};
    const enum imrec_status st =
        shown == NULL ? no_memory(err) : wire_object_exists(&o, there, err);
    IMREC_FREE(shown, url);
    return st;
}

static enum imrec_status http_source(const char *name, struct source **out, struct imrec_error *err)
{
    return open_source("http://", name, out, err);
}

static enum imrec_status
https_source(const char *name, struct source **out, struct imrec_error *err)
{
    return open_source("https://", name, out, err);
}

static enum imrec_status http_exists(const char *name, bool *there, struct imrec_error *err)
{
    return exists("http://", name, there, err);
}

static enum imrec_status https_exists(const char *name, bool *there, struct imrec_error *err)
{
    return exists("https://", name, there, err);
}

const struct store http_store = {
    .scheme = "http://", .open_source = http_source, .exists = http_exists};
const struct store https_store = {
    .scheme = "https://", .open_source = https_source, .exists = https_exists};
