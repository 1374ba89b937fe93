/* storage/cache/cache_source.c - a source that reads through the cache.
 *
 * Missing blocks next to each other are one read of the source beneath, whole blocks. Where a block
 * cannot be kept, or cannot be read whole, just the bytes that are asked for are read: what is
 * damaged beneath stays as narrow as it is there. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "storage/cache/cache_blocks.h"

#include <string.h>

#define RUN_BYTES ((uint64_t)16 << 20) /* of a read beneath, at most */

struct cache_source {
    struct source base; /* first */
    struct source *inner;
    struct cache *cache;
    struct cache_object object;
    char *name;              /* its URI without secrets */
    struct traffic *traffic; /* of the scope that opened it */
};

static struct cache_block block_of(const struct cache_source *s, uint64_t number)
{
    const uint64_t left = s->base.size - number * BLOCK_BYTES;
    return (struct cache_block){.object = s->object,
                                .number = number,
                                .name = s->name,
                                .bytes = (uint32_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES)};
}

static enum imrec_status
read_inner(struct cache_source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    IMREC_TRY(source_read(s->inner, offset, to, n, err));
    atomic_fetch_add(&s->cache->store_bytes, n);
    atomic_fetch_add(&s->cache->store_reads, 1);
    return IMREC_OK;
}

/* The part of [offset, end) that is in the block, out of the cache. */
static enum cache_found
get(struct cache_source *s, uint64_t number, uint64_t offset, uint64_t end, uint8_t *to)
{
    const struct cache_block b = block_of(s, number);
    const uint64_t begin = number * BLOCK_BYTES, stop = begin + b.bytes,
                   from = offset > begin ? offset : begin, until = end < stop ? end : stop;
    const enum cache_found found = cache_get(s->cache, &b, (uint32_t)(from - begin),
                                             to + (from - offset), (uint32_t)(until - from));
    if (s->traffic == NULL)
        return found;
    atomic_fetch_add(found == CACHE_HIT ? &s->traffic->cache_hits : &s->traffic->cache_misses, 1);
    if (found == CACHE_HIT)
        atomic_fetch_add(&s->traffic->cache_bytes, until - from);
    return found;
}

/* Blocks [first, last) read and kept; the bytes of [offset, end) go to `to`. */
static enum imrec_status read_blocks(struct cache_source *s, uint64_t first, uint64_t last,
                                     uint64_t offset, uint64_t end, uint8_t *to)
{
    const uint64_t begin = first * BLOCK_BYTES,
                   stop = (last - 1) * BLOCK_BYTES + block_of(s, last - 1).bytes;
    const uint64_t from = offset > begin ? offset : begin, until = end < stop ? end : stop;
    const bool whole = from == begin && until == stop;
    uint8_t *p = whole ? to + (begin - offset) : imrec_realloc(NULL, (size_t)(stop - begin), 1);
    if (p == NULL)
        return IMREC_ERR_NO_MEMORY;
    const enum imrec_status st = read_inner(s, begin, p, (size_t)(stop - begin), NULL);
    for (uint64_t i = first; st == IMREC_OK && i < last; i++) {
        const struct cache_block b = block_of(s, i);
        cache_put(s->cache, &b, p + (i - first) * BLOCK_BYTES);
    }
    if (!whole) {
        if (st == IMREC_OK)
            memcpy(to + (from - offset), p + (from - begin), (size_t)(until - from));
        imrec_free(p);
    }
    return st;
}

/* A run of missing blocks, the bytes of [offset, end) in it. */
static enum imrec_status read_run(struct cache_source *s, uint64_t first, uint64_t last, bool keep,
                                  uint64_t offset, uint64_t end, uint8_t *to,
                                  struct imrec_error *err)
{
    if (keep && read_blocks(s, first, last, offset, end, to) == IMREC_OK)
        return IMREC_OK;
    const uint64_t from = offset > first * BLOCK_BYTES ? offset : first * BLOCK_BYTES;
    const uint64_t until = end < last * BLOCK_BYTES ? end : last * BLOCK_BYTES;
    return read_inner(s, from, to + (from - offset), (size_t)(until - from), err);
}

static enum imrec_status
cache_read_at(struct source *base, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct cache_source *s = (struct cache_source *)base;
    const uint64_t end = offset + n, last = (end - 1) / BLOCK_BYTES + 1;
    for (uint64_t i = offset / BLOCK_BYTES; i < last;) {
        enum cache_found found = get(s, i, offset, end, to);
        const uint64_t first = i++;
        if (found == CACHE_HIT)
            continue;
        const bool keep = found == CACHE_BROKEN || cache_has_room(s->cache);
        while (i < last && (i - first) * BLOCK_BYTES < RUN_BYTES &&
               (found = get(s, i, offset, end, to)) != CACHE_HIT)
            i++;
        IMREC_TRY(read_run(s, first, i, keep, offset, end, to, err));
        i += i < last && found == CACHE_HIT; /* it has been copied */
    }
    return IMREC_OK;
}

static void cache_source_close(struct source *base)
{
    struct cache_source *s = (struct cache_source *)base;
    source_close(s->inner);
    IMREC_FREE(s->name, s);
}

static void cache_cancel(struct source *s)
{
    source_cancel(((struct cache_source *)s)->inner);
}

static const struct source_ops cache_ops = {cache_read_at, NULL, NULL, cache_source_close,
                                            cache_cancel};

static uint64_t mixed(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) { /* the finalizer of MurmurHash3, for each byte */
        hash ^= (uint8_t)*text + 0x9e3779b97f4a7c15u;
        hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
        hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    }
    return hash ^ hash >> 33;
}

static struct cache_object object_of(const char *uri, const struct source *s)
{
    struct cache_object o = {.uri = mixed(0, uri)};
    o.whole[0] = mixed(mixed(s->size, s->identity), uri);
    o.whole[1] = fnv1a(FNV_START, uri, strlen(uri) + 1); /* its NUL parts the two */
    o.whole[1] = fnv1a(o.whole[1], s->identity, strlen(s->identity) + 1);
    o.whole[1] = fnv1a(o.whole[1], &s->size, sizeof(s->size));
    return o;
}

/* A URI as people may see it: without name and password, query and controls, its end if it is
 * long. */
static char *name_of(const char *uri)
{
    const char *host = strstr(uri, "://");
    const size_t scheme = host != NULL ? (size_t)(host - uri) + 3 : 0, all = source_name_bytes(uri);
    size_t from = scheme;
    for (size_t i = scheme; i < all && uri[i] != '/'; i++)
        from = uri[i] == '@' ? i + 1 : from;
    size_t n = all - from;
    if (scheme + n > NAME_MOST) {
        from += scheme + n - NAME_MOST;
        n = NAME_MOST - scheme;
    }
    char *name = imrec_zalloc(scheme + n + 1, 1);
    if (name == NULL)
        return NULL;
    memcpy(name, uri, scheme);
    for (size_t i = 0; i < n; i++)
        name[scheme + i] =
            (uint8_t)uri[from + i] < ' ' || uri[from + i] == 127 ? '?' : uri[from + i];
    return name;
}

enum imrec_status cache_source_open(struct cache *c, const char *uri, struct source *inner,
                                    struct source **out, struct imrec_error *err)
{
    *out = inner;
    if (inner->identity == NULL || inner->identity[0] == '\0')
        return IMREC_OK;
    struct cache_source *s = imrec_zalloc(1, sizeof(*s));
    const struct cache_object object = object_of(uri, inner);
    char *name = name_of(uri);
    if (s == NULL || name == NULL || !cache_add_mine(c, &object)) {
        IMREC_FREE(name, s);
        source_close(inner);
        *out = NULL;
        return IMREC_NO_MEMORY(err, "no memory to read through the cache");
    }
    *s = (struct cache_source){
        .base = {inner->size, &cache_ops, inner->modified, inner->identity, inner->at_once},
        .inner = inner,
        .cache = c,
        .object = object,
        .name = name,
        .traffic = store_scope_traffic()};
    *out = &s->base;
    return IMREC_OK;
}

void cache_serve(struct cache *c, struct store_scope *scope)
{
    scope->cache = c;
    scope->through = cache_source_open;
}
