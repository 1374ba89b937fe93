/* storage/source.c - the table of URI schemes, and what every source has in common. */
#include "storage/source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/plugged_table.h"
#include "storage/schemes.h"
#include "storage/store/listed.h"
#include "storage/store/scope.h"
#if IMREC_HAVE_CURL
#include "storage/wire/wire.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const struct store *const stores[] = {
    &file_store,  &mem_store,  &fault_store,
#if IMREC_HAVE_CURL
    &https_store, &http_store, &s3_store,      &gs_store,
    &az_store,    &hdfs_store, &webhdfs_store, &swebhdfs_store,
#endif
};

const char *const *source_schemes(void)
{
    static const char *const names[] = {
        "file://",
#if IMREC_HAVE_CURL
        "https://",
        "http://",
        "s3://",
        "gs://",
        "az://",
        "hdfs://",
        "webhdfs://",
        "swebhdfs://",
#endif
        NULL,
    };
    return names;
}

const char *source_curl_version(void)
{
#if IMREC_HAVE_CURL
    return wire_curl_version();
#else
    return NULL;
#endif
}

/* Length of "scheme://" in front of a URI, 0 for a path. "a:b" and "./x://y" are paths. */
static size_t scheme_bytes(const char *uri)
{
    const size_t n =
        strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-");
    return n != 0 && strncmp(uri + n, "://", 3) == 0 ? n + 3 : 0;
}

static enum imrec_status no_store(const char *uri, int scheme, struct imrec_error *err)
{
    static const char *const remote[] = {"http://", "https://", "s3://",      "gs://",
                                         "az://",   "hdfs://",  "webhdfs://", "swebhdfs://"};
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
        if (strncasecmp(uri, remote[i], strlen(remote[i])) == 0)
            return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                              "%s: this build has no libcurl, by which %.*s is read; copy the "
                              "data, or build with libcurl (docs/dependencies.md)",
                              uri, scheme, uri);
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "%s: no store knows the scheme '%.*s'; use a path or file://", uri, scheme,
                      uri);
}

enum imrec_status
store_of(const char *uri, const struct store **out, const char **name, struct imrec_error *err)
{
    const size_t n = scheme_bytes(uri);
    *out = &file_store;
    *name = uri + n;
    if (n == 0)
        return IMREC_OK;
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
        if (strncasecmp(uri, stores[i]->scheme, n) == 0 && stores[i]->scheme[n] == '\0') {
            *out = stores[i];
            return IMREC_OK;
        }
    if (plugged_is_known(uri, n - strlen("://"))) {
        *out = &plugged_store;
        *name = uri;
        return IMREC_OK;
    }
    return no_store(uri, (int)n, err);
}

enum imrec_status
store_cannot(const char *uri, const struct store *store, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED, "%s: %s cannot %s; give a path or file://", uri,
                      store->scheme, what);
}

/* In the thread's scope; `st`: of opening *out. */
static enum imrec_status
through_scope(enum imrec_status st, const char *uri, struct source **out, struct imrec_error *err)
{
    const struct store_scope *scope = store_scope();
    return st != IMREC_OK || scope == NULL || scope->cache == NULL
               ? st
               : scope->through(scope->cache, uri, *out, out, err);
}

enum imrec_status source_open(const char *uri, struct source **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    *out = NULL;
    IMREC_TRY(store_of(uri, &store, &name, err));
    return through_scope(store->open_source(name, out, err), uri, out, err);
}

enum imrec_status source_open_later(const char *uri, const struct later_check *check,
                                    struct source **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    const struct folder_entry *said;
    *out = NULL;
    if (!listed_look(uri, &said) || said == NULL || said->identity == NULL)
        return source_open(uri, out, err);
    IMREC_TRY(store_of(uri, &store, &name, err));
    return through_scope(later_source_open(store, uri, name, said, check, out, err), uri, out, err);
}

enum imrec_status source_open_said(const char *uri, const struct folder_entry *said,
                                   struct source **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    *out = NULL;
    if (said->identity == NULL)
        return source_open(uri, out, err);
    IMREC_TRY(store_of(uri, &store, &name, err));
    return through_scope(store->open_listed != NULL ? store->open_listed(name, said, out, err)
                                                    : store->open_source(name, out, err),
                         uri, out, err);
}

uint32_t source_listed_at_once(const char *uri)
{
    const struct store *store;
    const char *name;
    return store_of(uri, &store, &name, NULL) == IMREC_OK ? store->listed_at_once : 0;
}

enum imrec_status source_measure(const char *uri, uint64_t *size, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    struct source *s;
    *size = 0;
    IMREC_TRY(store_of(uri, &store, &name, err));
    if (store->measure != NULL)
        return store->measure(name, size, err);
    IMREC_TRY(store->open_source(name, &s, err));
    *size = s->size;
    source_close(s);
    return IMREC_OK;
}

const char *source_path(const char *uri)
{
    const size_t n = scheme_bytes(uri);
    return n != 0 && strncasecmp(uri, file_store.scheme, n) == 0 ? uri + n : uri;
}

size_t source_name_bytes(const char *uri)
{
    const bool web = strncasecmp(uri, "http://", 7) == 0 || strncasecmp(uri, "https://", 8) == 0;
    return web ? strcspn(uri, "?#") : strlen(uri);
}

bool source_is_remote(const char *uri)
{
    const struct store *store;
    const char *name;
    return store_of(uri, &store, &name, NULL) == IMREC_OK && store != &file_store;
}

bool source_is_far(const char *uri)
{
    const struct store *store;
    const char *name;
    return store_of(uri, &store, &name, NULL) == IMREC_OK && store != &file_store &&
           store != &mem_store && store != &fault_store && store != &plugged_store;
}

enum imrec_status source_check_local(const char *uri, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    IMREC_TRY(store_of(uri, &store, &name, err));
    if (store == &file_store)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "%s is not a file or folder of this machine, which is needed here", uri);
}

enum imrec_status
source_read(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    if (offset > s->size || n > s->size - offset)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, offset,
                              "%zu bytes at %" PRIu64 " are asked of a source of %" PRIu64, n,
                              offset, s->size);
    return n == 0 ? IMREC_OK : s->ops->read_at(s, offset, to, n, err);
}

enum imrec_status
source_read_again(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    return source_read(s, offset, to, n, NULL) == IMREC_OK ? IMREC_OK
                                                           : source_read(s, offset, to, n, err);
}

/* Cuts a hint to what there is; 0 when nothing is left of it. */
static uint64_t hint_bytes(const struct source *s, uint64_t offset, uint64_t n)
{
    if (offset >= s->size)
        return 0;
    return n < s->size - offset ? n : s->size - offset;
}

void source_will_need(struct source *s, uint64_t offset, uint64_t n)
{
    n = hint_bytes(s, offset, n);
    if (n != 0 && s->ops->will_need != NULL)
        s->ops->will_need(s, offset, n);
}

void source_drop(struct source *s, uint64_t offset, uint64_t n)
{
    n = hint_bytes(s, offset, n);
    if (n != 0 && s->ops->drop != NULL)
        s->ops->drop(s, offset, n);
}

void source_cancel(struct source *s)
{
    if (s != NULL && s->ops->cancel != NULL)
        s->ops->cancel(s);
}

void source_close(struct source *s)
{
    if (s != NULL)
        s->ops->close(s);
}

static enum imrec_status load_all(const char *uri, struct source *s, size_t max, uint8_t **out,
                                  size_t *n, struct imrec_error *err)
{
    if (s->size > max)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%s: has %" PRIu64 " bytes, at most %zu are expected", uri, s->size, max);
    uint8_t *p = imrec_realloc(NULL, (size_t)s->size + 1, 1);
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for its %" PRIu64 " bytes", uri, s->size);
    const enum imrec_status st = source_read(s, 0, p, (size_t)s->size, err);
    if (st != IMREC_OK) {
        imrec_free(p);
        return st;
    }
    p[s->size] = '\0';
    *out = p;
    *n = (size_t)s->size;
    return IMREC_OK;
}

enum imrec_status
source_load(const char *uri, size_t max, uint8_t **out, size_t *n, struct imrec_error *err)
{
    struct source *s;
    *out = NULL;
    *n = 0;
    IMREC_TRY(source_open(uri, &s, err));
    const enum imrec_status st = load_all(uri, s, max, out, n, err);
    source_close(s);
    return st;
}

enum imrec_status
source_load_if_there(const char *uri, size_t max, uint8_t **out, size_t *n, struct imrec_error *err)
{
    struct imrec_error why;
    const struct folder_entry *file;
    *out = NULL;
    *n = 0;
    if (listed_look(uri, &file) && file == NULL)
        return IMREC_OK;
    const enum imrec_status st = source_load(uri, max, out, n, &why);
    if (st == IMREC_ERR_IO && (why.sys_errno == ENOENT || why.sys_errno == ENOTDIR))
        return IMREC_OK;
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}
