/* storage/store/scope.c - for whom a thread opens objects, and what it counts. */
#include "storage/store/scope.h"

#include "base/clock.h"

#include <string.h>

static _Thread_local struct store_scope *g_scope;

struct store_scope *store_scope_enter(struct store_scope *s)
{
    struct store_scope *before = g_scope;
    g_scope = s;
    return before;
}

struct store_scope *store_scope(void)
{
    return g_scope;
}

struct traffic *store_scope_traffic(void)
{
    return g_scope != NULL ? &g_scope->traffic : NULL;
}

void traffic_request(struct traffic *t, uint64_t bytes)
{
    if (t == NULL)
        return;
    atomic_fetch_add(&t->requests, 1);
    atomic_fetch_add(&t->store_bytes, bytes);
}

void traffic_retry(struct traffic *t)
{
    if (t != NULL)
        atomic_fetch_add(&t->retries, 1);
}

void traffic_hedge(struct traffic *t)
{
    if (t != NULL)
        atomic_fetch_add(&t->hedges, 1);
}

void traffic_waited(struct traffic *t, uint64_t since_ns)
{
    if (t != NULL)
        atomic_fetch_add(&t->wait_ns, clock_ns() - since_ns);
}

void traffic_read(struct traffic *t, struct imrec_traffic *out, size_t size)
{
    struct imrec_traffic all = {.struct_size = size,
                                .store_bytes = t->store_bytes,
                                .cache_bytes = t->cache_bytes,
                                .requests = t->requests,
                                .retries = t->retries,
                                .hedges = t->hedges,
                                .wait_ns = t->wait_ns,
                                .cache_hits = t->cache_hits,
                                .cache_misses = t->cache_misses};
    memcpy(out, &all, size < sizeof(all) ? size : sizeof(all));
}
