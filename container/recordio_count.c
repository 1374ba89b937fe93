/* container/recordio_count.c - how many records each partition holds, without an index.
 *
 * The manifest next to a shard has the number of its records, and the index that the manifest
 * confirms has their places; only a shard without either is read from end to end. */
#include "container/recordio_kind.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/metadata.h"
#include "container/partition.h"
#include "container/shards/manifest_beside.h"
#include "container/walk/recordio_scan.h"
#include "formats/crc32c.h"
#include "formats/recordio/record_index.h"
#include "formats/set/set_names.h"

#include <string.h>

#define INDEX_MOST ((size_t)1 << 32) /* bytes of an index that is loaded for counting */

struct counting {
    const struct container *container;
    uint64_t *counts;
    struct scan scan;
    struct manifest_beside beside;
    struct imrec_error *err;
};

/* The part that holds a byte of the concatenation. */
static uint64_t part_of(const struct container *s, uint64_t offset)
{
    const uint64_t step = partition_begin(s, 1), part = step != 0 ? offset / step : 0;
    return part < s->options.num_parts ? part : s->options.num_parts - 1;
}

/* ---- files of the packer ------------------------------------------------------------------ */

/* Counts the lines of an index that is what the manifest says; false when it is not. */
static bool count_index(struct counting *c, const struct shard *h, const struct manifest_shard *m,
                        const char *name, uint64_t *counts)
{
    uint8_t *text;
    size_t n;
    struct index_cursor cursor;
    uint64_t key, offset, lines = 0;
    if (m->idx.name == NULL || source_load(name, INDEX_MOST, &text, &n, NULL) != IMREC_OK)
        return false;
    bool good = n == m->idx.bytes && crc32c(0, text, n) == m->idx.crc32c;
    record_index_begin(&cursor, name, (struct bytes){text, n});
    while (good && record_index_next(&cursor, &key, &offset, NULL) == IMREC_OK) {
        good = offset < h->size;
        if (good)
            counts[part_of(c->container, h->begin + offset)]++;
        lines++;
    }
    imrec_free(text);
    return good && lines == m->records;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status scan_range(struct counting *c, struct unit_range r, uint64_t *count)
{
    struct walk_item item;
    enum walk_step step;
    scan_begin(&c->scan, c->container->shards[r.shard].source, r.begin, r.end, r.begin == 0);
    do {
        IMREC_TRY(stop_check(&c->container->stop, c->err));
        IMREC_TRY(scan_next(&c->scan, &step, &item, c->err));
        *count += step == WALK_RECORD;
    } while (step != WALK_END);
    return IMREC_OK;
}

static enum imrec_status
scan_shard(struct counting *c, uint32_t shard, uint64_t first, uint64_t last)
{
    for (uint64_t p = first; p <= last; p++) {
        const uint64_t begin = partition_begin(c->container, p);
        const uint64_t end = partition_begin(c->container, p + 1);
        const struct unit_range r = partition_clip(c->container, shard, begin, end);
        if (r.begin < r.end)
            IMREC_TRY(scan_range(c, r, &c->counts[p]));
    }
    return IMREC_OK;
}

/* ---- counting ----------------------------------------------------------------------------- */

static enum imrec_status count_shard(struct counting *c, uint32_t shard)
{
    const struct shard *h = &c->container->shards[shard];
    if (h->size == 0)
        return IMREC_OK;
    const uint64_t first = part_of(c->container, h->begin);
    const uint64_t last = part_of(c->container, h->begin + h->size - 1);
    const struct manifest_shard *m;
    IMREC_TRY(manifest_beside_shard(&c->beside, h->uri, h->size, &m, c->err));
    if (m != NULL && first == last) {
        c->counts[first] += m->records;
        return IMREC_OK;
    }
    if (m != NULL) {
        char *name = set_path(h->uri, SET_INDEX);
        uint64_t *counts = imrec_zalloc((size_t)last + 1, sizeof(*counts));
        const bool memory = name != NULL && counts != NULL;
        const bool counted = memory && count_index(c, h, m, name, counts);
        for (uint64_t p = first; counted && p <= last; p++)
            c->counts[p] += counts[p];
        IMREC_FREE(name, counts);
        if (!memory)
            return IMREC_NO_MEMORY(c->err, "no memory to count the records of %zu partitions",
                                   (size_t)(last - first + 1));
        if (counted)
            return IMREC_OK;
    }
    return scan_shard(c, shard, first, last);
}

static enum imrec_status count_all(struct counting *c)
{
    const struct container *s = c->container;
    memset(c->counts, 0, (size_t)s->options.num_parts * sizeof(*c->counts));
    for (uint32_t i = 0; i < s->shard_count; i++)
        IMREC_TRY(count_shard(c, i));
    for (uint64_t i = 0; i < s->metadata_count; i++) { /* no samples, and counted all the same */
        const struct metadata_record *m = &s->metadata[i];
        uint64_t *count = &c->counts[part_of(s, s->shards[m->shard].begin + m->offset)];
        *count -= *count != 0;
    }
    return IMREC_OK;
}

enum imrec_status
recordio_count(const struct container *s, uint64_t *counts, struct imrec_error *err)
{
    struct counting c = {.container = s, .counts = counts, .err = err};
    const enum imrec_status st = count_all(&c);
    scan_end(&c.scan);
    manifest_beside_free(&c.beside);
    return st;
}
