/* storage/store/scope.h - for whom a thread opens objects: who reads them counts there what came
 * over the network, and reads through its cache.
 *
 *     struct store_scope *before = store_scope_enter(&reader->scope);
 *     ... open everything ...
 *     store_scope_enter(before);
 *
 * An object belongs to the scope of the thread that opened it, in any thread: the scope lives as
 * long as its objects. */
#ifndef IMREC_STORAGE_STORE_SCOPE_H
#define IMREC_STORAGE_STORE_SCOPE_H

#include "imrec/error.h"
#include "imrec/traffic.h"

#include <stdatomic.h>

struct source;
struct cache;

struct traffic { /* as in struct imrec_traffic */
    atomic_uint_least64_t store_bytes, cache_bytes, requests, retries, hedges, wait_ns, cache_hits,
        cache_misses;
};

struct store_scope { /* zeroed at first */
    struct traffic traffic;
    struct cache *cache; /* NULL: none */
    /* A source over `inner`, which it owns, also on failure. */
    enum imrec_status (*through)(struct cache *c, const char *uri, struct source *inner,
                                 struct source **out, struct imrec_error *err);
};

/* NULL: none. Returns the one before. */
struct store_scope *store_scope_enter(struct store_scope *s);
struct store_scope *store_scope(void);     /* of this thread */
struct traffic *store_scope_traffic(void); /* its counts; NULL: nobody counts */

/* Each of NULL counts nothing. */
void traffic_request(struct traffic *t, uint64_t bytes);
void traffic_retry(struct traffic *t);
void traffic_hedge(struct traffic *t);
void traffic_waited(struct traffic *t, uint64_t since_ns); /* clock_ns() before */
void traffic_read(struct traffic *t, struct imrec_traffic *out, size_t size);
#endif
