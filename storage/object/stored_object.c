/* storage/object/stored_object.c - a source as callers see it, with a cache of its own. */
#include "imrec/object.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "storage/cache/cache.h"
#include "storage/source.h"
#include "storage/store/scope.h"
#include "storage/uri_list.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

struct imrec_object {
    struct source *source;
    struct cache *cache;      /* NULL: none */
    struct store_scope scope; /* in which the source was opened: through the cache */
    atomic_bool cancelled;
    char uri[];
};

void imrec_object_options_init_sized(struct imrec_object_options *o, size_t size)
{
    const struct imrec_object_options preset = {0};
    sized_init(o, size, &preset, sizeof(preset));
}

static enum imrec_status options_of(const struct imrec_object_options *given,
                                    struct imrec_object_options *out, struct imrec_error *err)
{
    imrec_object_options_init(out);
    if (given != NULL)
        IMREC_TRY(sized_copy(out, sizeof(*out), given, "imrec_object_options_init", err));
    return out->cache_size >= 0
               ? IMREC_OK
               : IMREC_REFUSE(err, "cache_size must be at least 0, not %" PRId64, out->cache_size);
}

static enum imrec_status open_through(struct imrec_object *o,
                                      const struct imrec_object_options *with,
                                      struct imrec_error *err)
{
    if (with->cache != NULL && with->cache[0] != '\0') {
        IMREC_TRY(cache_open(with->cache, (uint64_t)with->cache_size, &o->cache, err));
        cache_serve(o->cache, &o->scope);
    }
    struct store_scope *before = store_scope_enter(&o->scope);
    const enum imrec_status st = source_open(o->uri, &o->source, err);
    (void)store_scope_enter(before);
    return st;
}

enum imrec_status imrec_object_open(const char *uri, const struct imrec_object_options *options,
                                    struct imrec_object **out, struct imrec_error *err)
{
    struct imrec_object_options with;
    *out = NULL;
    if (uri == NULL || uri[0] == '\0')
        return IMREC_REFUSE(err, "an object has a URI or path, not %s",
                            uri == NULL ? "NULL" : "''");
    IMREC_TRY(options_of(options, &with, err));
    struct imrec_object *o = imrec_zalloc(1, sizeof(*o) + strlen(uri) + 1);
    if (o == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", uri);
    memcpy(o->uri, uri, strlen(uri) + 1);
    const enum imrec_status st = open_through(o, &with, err);
    if (st != IMREC_OK) {
        imrec_object_close(o);
        return st;
    }
    *out = o;
    return IMREC_OK;
}

uint64_t imrec_object_size(const struct imrec_object *o)
{
    return o->source->size;
}

const char *imrec_object_identity(const struct imrec_object *o)
{
    return o->source->identity;
}

enum imrec_status imrec_object_read(struct imrec_object *o, uint64_t offset, void *to, size_t n,
                                    struct imrec_error *err)
{
    const uint64_t size = o->source->size;
    if (offset > size || n > size - offset)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, offset,
                              "%s: it has %" PRIu64 " bytes, not %zu from %" PRIu64 " on", o->uri,
                              size, n, offset);
    if (atomic_load(&o->cancelled)) /* also of what takes no time, or is in memory */
        return imrec_fail(err, IMREC_ERR_CANCELLED, "%s: reading it was cancelled", o->uri);
    return source_read(o->source, offset, to, n, err);
}

void imrec_object_cancel(struct imrec_object *o)
{
    atomic_store(&o->cancelled, true);
    source_cancel(o->source);
}

void imrec_object_close(struct imrec_object *o)
{
    if (o == NULL)
        return;
    source_close(o->source);
    cache_close(o->cache);
    imrec_free(o);
}

enum imrec_status imrec_objects_find(const char *pattern, const char *suffix,
                                     struct imrec_uris *out, struct imrec_error *err)
{
    struct uri_list found;
    *out = (struct imrec_uris){0};
    if (pattern == NULL || suffix == NULL)
        return IMREC_REFUSE(err, "objects are found by a pattern and a suffix, not NULL");
    IMREC_TRY(uri_list_expand(pattern, suffix, &found, err));
    *out = (struct imrec_uris){found.count, found.uri};
    imrec_free(found.origin);
    return IMREC_OK;
}

void imrec_uris_free(struct imrec_uris *u)
{
    for (size_t i = 0; i < u->count; i++)
        imrec_free(u->uri[i]);
    imrec_free(u->uri);
    *u = (struct imrec_uris){0};
}
