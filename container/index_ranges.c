/* container/index_ranges.c - a partition's entries out of the binary indexes of a set.
 *
 * A header has the hash over all records of the shards before its own, and over these and its own.
 * Where the one ends as the next begins, in the order of the shards, the last one is the hash over
 * the set, so that nobody needs the entries of other partitions; and where a partition has very
 * many, nobody needs its own before they are read. */
#include "container/index_ranges.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/partition.h"
#include "container/shards/index_load.h"
#include "storage/at_once.h"

struct index_file {
    struct source *source; /* kept open in far stores only */
    struct index_blocks head;
    uint64_t begin; /* the number of its first record in the set */
};

struct ranges {
    struct container *c;
    char **names;
    struct index_file *file; /* of each shard */
    uint64_t first, end;     /* records of the set that are wanted, the border among them */
    bool far;
};

static struct index_shard shard_of(const struct container *c, uint32_t i)
{
    return (struct index_shard){c->shards[i].uri, c->shards[i].source, c->shards[i].size, false};
}

static enum imrec_status open_one(void *context, uint32_t i, struct imrec_error *err)
{
    const struct ranges *r = context;
    struct index_file *f = &r->file[i];
    const struct index_shard shard = shard_of(r->c, i);
    IMREC_TRY(index_open(r->names[i], &shard, &f->source, &f->head, err));
    if (!r->far) {
        source_close(f->source);
        f->source = NULL;
    }
    return IMREC_OK;
}

/* Whether the headers are those of this set, and say all that is to be known of other partitions;
 * *total: of its records, which cannot overflow, as each has bytes of a shard. */
static bool join(const struct ranges *r, uint64_t *total, uint64_t *hash)
{
    const uint32_t all = INDEX_BLOCKS_COMPLETE | INDEX_BLOCKS_PLAIN;
    *total = 0;
    *hash = INDEX_BLOCKS_HASH_BEGIN;
    for (uint32_t i = 0; i < r->c->shard_count; i++) {
        struct index_file *f = &r->file[i];
        if (f->head.number != i || f->head.hash_before != *hash || (f->head.flags & all) != all)
            return false;
        f->begin = *total;
        *total += f->head.count;
        *hash = f->head.hash_after;
    }
    return true;
}

struct filling {
    struct indexed_record *to;
    uint32_t shard;
};

static enum imrec_status
fill(void *user, const struct index_entry *e, size_t n, struct imrec_error *err)
{
    struct filling *x = user;
    (void)err;
    for (size_t i = 0; i < n; i++)
        *x->to++ =
            (struct indexed_record){.offset = e[i].offset, .key = e[i].key, .shard = x->shard};
    return IMREC_OK;
}

/* Whether there are entries that are wanted. */
static bool has_some(const struct ranges *r, const struct index_file *f)
{
    return r->first < f->begin + f->head.count && r->end > f->begin && f->head.count != 0;
}

/* The entries of shard i that are wanted: each shard fills its own part of the table. */
static enum imrec_status read_one(void *context, uint32_t i, struct imrec_error *err)
{
    const struct ranges *r = context;
    struct index_file *f = &r->file[i];
    struct index_blocks *h = &f->head, again;
    const struct index_shard shard = shard_of(r->c, i);
    const uint64_t from = r->first > f->begin ? r->first : f->begin;
    const uint64_t to = min_u64(r->end, f->begin + h->count);
    if (!has_some(r, f) || from >= to)
        return IMREC_OK;
    if (f->source == NULL)
        IMREC_TRY(index_open(r->names[i], &shard, &f->source, &again, err));
    IMREC_TRY(index_check_shard(r->names[i], &shard, h, err));
    struct filling x = {r->c->records + (from - r->first), i};
    const enum imrec_status st =
        index_read(r->names[i], f->source, h, from - f->begin, to - f->begin, fill, &x, err);
    source_close(f->source);
    f->source = NULL;
    return st;
}

static enum imrec_status check_one(void *context, uint32_t i, struct imrec_error *err)
{
    const struct ranges *r = context;
    struct index_file *f = &r->file[i];
    const struct index_shard shard = shard_of(r->c, i);
    struct index_blocks again;
    if (!has_some(r, f))
        return IMREC_OK;
    if (f->source == NULL)
        IMREC_TRY(index_open(r->names[i], &shard, &f->source, &again, err));
    return index_check_shard(r->names[i], &shard, &f->head, err);
}

/* No entry is read before it is asked for. */
static enum imrec_status look_up(struct ranges *r, struct imrec_error *err)
{
    struct container *c = r->c;
    IMREC_TRY(at_once(c->shard_count, r->far, check_one, r, err));
    IMREC_TRY(index_lookup_new(c->shard_count, r->first, r->far, &c->lookup, err));
    for (uint32_t i = 0; i < c->shard_count; i++) {
        struct index_file *f = &r->file[i];
        struct source *source = f->source;
        f->source = NULL;
        if (!has_some(r, f)) { /* of another partition, in a far store */
            source_close(source);
            source = NULL;
        }
        IMREC_TRY(index_lookup_add(c->lookup, r->names[i], source, &f->head, f->begin, err));
    }
    return IMREC_OK;
}

/* Which records are wanted: those of the partition. */
static void cut(struct ranges *r, uint64_t total)
{
    struct container *c = r->c;
    const uint64_t parts = c->options.num_parts;
    c->record_total = r->end = total;
    if (parts > 1) {
        r->first = partition_first_record(c, c->options.part_index);
        r->end = partition_first_record(c, c->options.part_index + 1);
    }
    c->unit_count = r->end - r->first;
}

/* A table of the partition, and the place of the border, which has no shard unless it is read. */
static enum imrec_status make_room(struct ranges *r, struct imrec_error *err)
{
    struct container *c = r->c;
    c->records = imrec_realloc(NULL, (size_t)c->unit_count + 1, sizeof(*c->records));
    if (c->records == NULL)
        return IMREC_NO_MEMORY(err, "no memory for an index of %llu records",
                               (unsigned long long)c->unit_count);
    c->records[c->unit_count] = (struct indexed_record){.shard = UINT32_MAX};
    r->end += r->end < c->record_total;
    return IMREC_OK;
}

static bool is_small(const struct ranges *r)
{
    const uint64_t most = r->c->options.table_most;
    return most == 0 || r->c->unit_count <= (r->far ? most * TABLE_FAR : most);
}

static enum imrec_status
load(struct ranges *r, uint64_t *counts, bool *done, struct imrec_error *err)
{
    const uint32_t n = r->c->shard_count;
    uint64_t total, hash;
    IMREC_TRY(at_once(n, r->far, open_one, r, err));
    *done = join(r, &total, &hash);
    if (!*done)
        return IMREC_OK;
    for (uint32_t i = 0; i < n; i++)
        counts[i] = r->file[i].head.count;
    r->c->index_hash = hash;
    cut(r, total);
    if (!is_small(r))
        return look_up(r, err);
    IMREC_TRY(make_room(r, err));
    return at_once(n, r->far, read_one, r, err);
}

enum imrec_status index_ranges_load(struct container *s, char **names, uint64_t *counts, bool *done,
                                    struct imrec_error *err)
{
    const uint32_t n = s->shard_count;
    struct ranges r = {s, names, imrec_zalloc((size_t)n + 1, sizeof(*r.file)), 0, 0, false};
    *done = false;
    if (r.file == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the headers of %u indexes", n);
    for (uint32_t i = 0; i < n; i++)
        r.far |= source_is_far(names[i]);
    const enum imrec_status st = load(&r, counts, done, err);
    for (uint32_t i = 0; i < n; i++)
        source_close(r.file[i].source);
    imrec_free(r.file);
    return st;
}
