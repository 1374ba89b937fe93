/* tests/support/loading.h - a loader over a data set, units in a scattered order. */
#ifndef IMREC_TESTS_LOADING_H
#define IMREC_TESTS_LOADING_H

#include "formats/recordio/record_index.h"
#include "iter/load/loader.h"

#include <check.h>
#include <string.h>

struct loading {
    struct container container;
    struct loader *loader;
    struct loader_options o;
    uint64_t per_window, stride;
    bool in_order;
};

static inline void
loading_extent(void *context, const struct window *w, uint64_t *first, uint64_t *count)
{
    const struct loading *ld = context;
    const uint64_t units = ld->container.unit_count;
    *first = w->number * ld->per_window;
    *count = units - *first < ld->per_window ? units - *first : ld->per_window;
}

/* A permutation: a step that has no factor in common with the number of units. */
static inline uint64_t loading_unit(void *context, const struct window *w, uint64_t i)
{
    const struct loading *ld = context;
    const uint64_t n = ld->container.unit_count;
    return ld->in_order ? i : (i * ld->stride + w->sweep * 3) % n;
}

/* Turns the window around. */
static inline void loading_order(void *context, struct window *w)
{
    const struct loading *ld = context;
    for (uint64_t i = 0; !ld->in_order && i < w->count / 2; i++) {
        const struct record_ref r = w->records[i];
        w->records[i] = w->records[w->count - 1 - i];
        w->records[w->count - 1 - i] = r;
    }
}

static inline uint64_t loading_gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : loading_gcd(b, a % b);
}

static inline void
loading_begin(struct loading *ld, uint64_t units, uint32_t arenas, uint32_t threads)
{
    const uint64_t n = ld->container.unit_count;
    ld->per_window = units;
    for (ld->stride = n / 3 + 1; n != 0 && loading_gcd(ld->stride, n) != 1;)
        ld->stride++;
    ld->o = (struct loader_options){.container = &ld->container,
                                    .arenas = arenas,
                                    .threads = threads,
                                    .windows = n == 0 ? 1 : (n + units - 1) / units,
                                    .arena_bytes = units * ld->container.options.cell_bytes,
                                    .context = ld,
                                    .extent = loading_extent,
                                    .unit_at = loading_unit,
                                    .order = loading_order};
}

static inline void loading_start(struct loading *ld, const struct container_options *o,
                                 uint64_t units, uint32_t arenas, uint32_t threads)
{
    struct imrec_error err;
    memset(ld, 0, sizeof(*ld));
    ck_assert_msg(container_open(o, &ld->container, &err) == IMREC_OK, "%s", err.message);
    loading_begin(ld, units, arenas, threads);
    ck_assert_msg(loader_start(&ld->o, 0, 0, &ld->loader, &err) == IMREC_OK, "%s", err.message);
}

static inline struct window *loading_take(struct loading *ld)
{
    struct imrec_error err;
    struct window *w = NULL;
    uint64_t waited = 0;
    const enum imrec_status st = loader_take(ld->loader, &w, &waited, &err);
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
    return w;
}

static inline void loading_stop(struct loading *ld)
{
    loader_stop(ld->loader);
    container_close(&ld->container);
}

static inline uint64_t loading_mix(uint64_t hash, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return hash + n;
}

/* Of everything that a window says. */
static inline uint64_t loading_hash(uint64_t hash, const struct window *w)
{
    const uint64_t facts[4] = {w->sweep, w->number, w->count, w->damage_count};
    hash = loading_mix(hash, facts, sizeof(facts));
    for (uint64_t i = 0; i < w->count; i++) {
        const struct record_ref *r = &w->records[i];
        const uint64_t place[4] = {r->shard, r->offset, r->key, r->lost};
        hash = loading_mix(hash, place, sizeof(place));
        hash = loading_mix(hash, r->bytes.p, r->bytes.n);
        if (r->lost)
            hash = loading_mix(hash, loader_lost_reason(w, r)->message,
                               strlen(loader_lost_reason(w, r)->message));
    }
    for (uint64_t i = 0; i < w->damage_count; i++) {
        const struct damage *d = &w->damages[i];
        const uint64_t place[3] = {d->shard, d->begin, d->end};
        hash = loading_mix(hash, place, sizeof(place));
        hash = loading_mix(hash, d->why.message, strlen(d->why.message));
    }
    return hash;
}
#endif
