/* container/listed_shards.c */
#include "container/listed_shards.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "container/shards/extents.h"
#include "storage/at_once.h"

#include <inttypes.h>

#define SHARDS_AT_ONCE 64u
#define SHARDS_MANY    16u /* of this machine: heads of fewer are read one shard after the other */
#define RECORD_MOST    ((uint64_t)UINT32_MAX - 512)
#define LONG_NS        ((uint64_t)2000000000) /* to walk all: an index would be worth it */
#define EVEN_SHARE     16u /* a partition has this part more than the mean, or less than that */
#define HASH_BEGIN     0xcbf29ce484222325u
#define HASH_PRIME     0x100000001b3u

/* Of the first shard, if it was looked for already: a store is not asked twice. */
struct first_index {
    bool known;
    char *name; /* NULL: there is none */
};

struct listing {
    struct container *c;
    struct listed_losses *losses;
    const struct first_index *asked;
    uint32_t first; /* shard of found[0] */
    struct shard_found found[SHARDS_AT_ONCE];
    uint64_t capacity, hash; /* of the table */
    atomic_bool walked;      /* a shard, or more */
};

/* ---- a shard ------------------------------------------------------------------------------- */

static enum imrec_status
add(struct shard_found *f, uint64_t begin, uint32_t bytes, struct imrec_error *err)
{
    if (!IMREC_GROW(f->records, f->room, f->count + 1))
        return IMREC_NO_MEMORY(err, "no memory to list a shard");
    f->records[f->count++] = (struct indexed_record){.offset = begin, .bytes = bytes};
    return IMREC_OK;
}

enum imrec_status
shard_found_lost(struct shard_found *f, const struct imrec_error *why, struct imrec_error *err)
{
    IMREC_TRY(listed_losses_add(&f->losses, f->count, why, err));
    return add(f, why->offset, RECORD_LOST, err);
}

enum imrec_status shard_found_add(struct shard_found *f, uint64_t begin, uint64_t bytes,
                                  const char *record, struct imrec_error *err)
{
    struct imrec_error why;
    if (bytes <= RECORD_MOST)
        return add(f, begin, (uint32_t)bytes, err);
    (void)imrec_error_at(&why, IMREC_ERR_LIMIT, begin,
                         "the %s has %" PRIu64 " bytes, at most 4 GiB can be read", record, bytes);
    return shard_found_lost(f, &why, err);
}

void shard_found_free(struct shard_found *f)
{
    imrec_free(f->records);
    listed_losses_free(&f->losses);
    *f = (struct shard_found){0};
}

static enum imrec_status walk_shard(const struct container *c, uint32_t shard,
                                    struct shard_found *out, struct imrec_error *err)
{
    const struct shard *s = &c->shards[shard];
    struct record_walk w = {s->source, s->size, source_is_far(s->uri), 0, s->size};
    return c->kind->walk(c, &w, out, err);
}

struct taking {
    const struct container_kind *kind;
    const char *name; /* of the index */
    struct shard_found *found;
};

/* Its checksums say nothing about who has written it. */
static enum imrec_status take_extent(void *user, struct extent e, struct imrec_error *err)
{
    const struct taking *t = user;
    if (e.begin % t->kind->align != 0 || e.bytes < t->kind->least)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s: no record of a %s has %" PRIu64 " bytes at %" PRIu64, t->name,
                          t->kind->name, e.bytes, e.begin);
    return shard_found_add(t->found, e.begin, e.bytes, "record", err);
}

/* *name: the index of a shard, as path_imgidx says where; NULL: there is none. An iterator to
 * which nothing was said ("") looks next to the shard, too: order and records are the same. Tools
 * that check shards (NULL) walk. */
static enum imrec_status
find_index(const struct container *c, const struct shard *s, char **name, struct imrec_error *err)
{
    const char *const path = c->options.path_imgidx;
    const enum index_wish wish = path != NULL && path[0] == '\0' ? INDEX_AUTO : index_wish(path);
    *name = NULL;
    if (wish == INDEX_NONE)
        return IMREC_OK;
    *name = wish == INDEX_NAMED && index_is_binary(path)
                ? imrec_joined(path, 0, path)
                : extents_name(wish == INDEX_NAMED ? path : NULL, s->uri);
    if (*name == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the name of an index");
    bool there = true;
    const enum imrec_status st =
        wish == INDEX_AUTO ? extents_are_there(*name, &there, err) : IMREC_OK;
    if (st != IMREC_OK || !there) {
        imrec_free(*name);
        *name = NULL;
    }
    return st;
}

static enum imrec_status read_index(const struct container *c, const struct shard *s,
                                    const char *name, struct shard_found *out,
                                    struct imrec_error *err)
{
    const struct index_shard of = {s->uri, s->source, s->size, true};
    struct taking t = {c->kind, name, out};
    const enum imrec_status st = extents_read(name, &of, take_extent, &t, err);
    return index_wish(c->options.path_imgidx) == INDEX_NAMED ? st : index_advise(false, st, err);
}

static enum imrec_status list_one(void *context, uint32_t i, struct imrec_error *err)
{
    struct listing *l = context;
    const uint32_t shard = l->first + i;
    const bool asked = shard == 0 && l->asked->known;
    char *found = NULL;
    if (!asked)
        IMREC_TRY(find_index(l->c, &l->c->shards[shard], &found, err));
    const char *name = asked ? l->asked->name : found;
    if (name == NULL)
        atomic_store(&l->walked, true);
    const enum imrec_status st =
        name == NULL ? walk_shard(l->c, shard, &l->found[i], err)
                     : read_index(l->c, &l->c->shards[shard], name, &l->found[i], err);
    imrec_free(found);
    return st;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Appends the records of a shard to the table. */
static enum imrec_status join(struct listing *l, uint32_t i, struct imrec_error *err)
{
    struct container *c = l->c;
    const struct shard_found *f = &l->found[i];
    for (uint64_t k = 0; k < f->losses.count; k++)
        IMREC_TRY(listed_losses_add(l->losses, c->record_total + f->losses.p[k].number,
                                    &f->losses.p[k].why, err));
    for (uint64_t k = 0; k < f->count; k++) {
        struct indexed_record r = f->records[k];
        r.key = c->record_total;
        r.shard = l->first + i;
        l->hash = (l->hash ^ r.bytes) * HASH_PRIME;
        IMREC_TRY(record_table_add(c, &l->capacity, r, err));
    }
    return IMREC_OK;
}

/* Up to SHARDS_AT_ONCE, from l->first on. */
static enum imrec_status list_some(struct listing *l, struct imrec_error *err)
{
    const uint32_t left = l->c->shard_count - l->first;
    const uint32_t n = left < SHARDS_AT_ONCE ? left : SHARDS_AT_ONCE;
    bool together = n >= SHARDS_MANY;
    for (uint32_t i = 0; i < n; i++)
        together |= source_is_far(l->c->shards[l->first + i].uri);
    enum imrec_status st = at_once(n, together, list_one, l, err);
    for (uint32_t i = 0; i < n; i++) {
        if (st == IMREC_OK)
            st = join(l, i, err);
        shard_found_free(&l->found[i]);
    }
    l->first += n;
    return st;
}

/* Who names no index at all makes one: imrec index. */
static void warn_of_time(const struct container *c, uint64_t ns)
{
    if (ns > LONG_NS && c->options.path_imgidx != NULL)
        imrec_log(IMREC_LOG_WARNING,
                  "%.300s: it took %.1f s to find the records of %" PRIu32
                  " shards, which have no index: 'imrec index' with the same shards makes one "
                  "next to each, and spares that",
                  c->options.path_imgrec, (double)ns / 1e9, c->shard_count);
}

static enum imrec_status list_all(struct container *c, const struct first_index *asked,
                                  struct listed_losses *losses, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    struct listing *l = imrec_zalloc(1, sizeof(*l));
    enum imrec_status st = IMREC_OK;
    if (l == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list shards");
    l->c = c;
    l->losses = losses;
    l->asked = asked;
    l->hash = HASH_BEGIN;
    while (st == IMREC_OK && l->first < c->shard_count)
        st = list_some(l, err);
    if (st == IMREC_OK)
        st = record_table_end(c, l->hash, err);
    if (st == IMREC_OK && l->walked)
        warn_of_time(c, clock_ns() - begin);
    imrec_free(l);
    return st;
}

/* ---- or none of them ------------------------------------------------------------------------ */

/* Whether no partition of whole shards has much more bytes than others: with equal_batches those
 * repeat what they lack. */
static bool is_even(const struct container *c)
{
    const uint64_t parts = c->options.num_parts;
    uint64_t most = 0;
    for (uint64_t p = 0; p < parts; p++)
        most = max_u64(most, partition_begin(c, p + 1) - partition_begin(c, p));
    return most <= (c->total_bytes + c->total_bytes / EVEN_SHARE) / parts;
}

static bool is_large(const struct container *c)
{
    return c->shard_count >= LIST_MOST_SHARDS && c->shard_count >= c->options.num_parts &&
           c->total_bytes > LIST_MOST_BYTES;
}

/* Not to list is said, or the set is large and its first shard has no index: one is asked about,
 * as there may be thousands, in a bucket. */
static enum imrec_status is_unlisted(const struct container *c, struct first_index *asked,
                                     bool *out, struct imrec_error *err)
{
    const struct container_options *o = &c->options;
    *out = o->listing == LISTING_NONE;
    if (o->listing != LISTING_SMALL || !is_large(c) || (o->even && !is_even(c)))
        return IMREC_OK;
    IMREC_TRY(find_index(c, &c->shards[0], &asked->name, err));
    asked->known = true;
    *out = asked->name == NULL;
    return IMREC_OK;
}

static enum imrec_status check_unlisted(const struct container *c, struct imrec_error *err)
{
    const struct container_options *o = &c->options;
    if (index_wish(o->path_imgidx) == INDEX_NAMED)
        return IMREC_REFUSE(err,
                            "list_shards=never: path_imgidx=%.200s lists records: leave one of "
                            "both out",
                            o->path_imgidx);
    if (c->shard_count >= o->num_parts)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "list_shards=never: a partition has whole shards, but %.200s has %" PRIu32
                        " for num_parts=%" PRIu64 ": use list_shards=always, or make more shards",
                        o->path_imgrec, c->shard_count, o->num_parts);
}

enum imrec_status
listed_shards(struct container *c, struct listed_losses *losses, struct imrec_error *err)
{
    bool unlisted;
    struct first_index asked = {false, NULL};
    IMREC_TRY(is_unlisted(c, &asked, &unlisted, err));
    const enum imrec_status st =
        unlisted ? check_unlisted(c, err) : list_all(c, &asked, losses, err);
    imrec_free(asked.name);
    return st;
}

struct walk_count {
    const struct container *c;
    uint64_t *records; /* of each shard */
};

static enum imrec_status count_one(void *context, uint32_t i, struct imrec_error *err)
{
    const struct walk_count *w = context;
    struct shard_found found = {0};
    const enum imrec_status st = walk_shard(w->c, i, &found, err);
    w->records[i] = found.count - found.losses.count;
    shard_found_free(&found);
    return st;
}

enum imrec_status
listed_shards_count(const struct container *c, uint64_t *counts, struct imrec_error *err)
{
    struct walk_count w = {c, imrec_zalloc(c->shard_count, sizeof(*w.records))};
    if (w.records == NULL)
        return IMREC_NO_MEMORY(err, "no memory to count the records of %" PRIu32 " shards",
                               c->shard_count);
    const enum imrec_status st =
        at_once(c->shard_count, c->shard_count >= SHARDS_MANY || source_is_far(c->shards[0].uri),
                count_one, &w, err);
    for (uint64_t p = 0; st == IMREC_OK && p < c->options.num_parts; p++) {
        counts[p] = 0;
        for (uint32_t i = partition_first_shard(c, p); i < partition_first_shard(c, p + 1); i++)
            counts[p] += w.records[i];
    }
    imrec_free(w.records);
    return st;
}
