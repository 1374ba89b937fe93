/* container/metadata.c - which records of a shard are metadata.
 *
 * insightface's script writes images under the keys 1 to N, then a header of key 0, whose range
 * holds the keys of the identities, then the identities, each with the range of its images. All of
 * these take 40 bytes of the shard. The header may also come first, as in files that were sorted by
 * key. */
#include "container/metadata.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/record_table.h"
#include "container/walk/recordio_scan.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/index_blocks.h"
#include "formats/recordio/recordio.h"
#include "storage/at_once.h"

#include <stdlib.h>

#define FRAMED_BYTES (RECORDIO_PART_HEAD_BYTES + IMAGE_RECORD_HEADER_BYTES + 8u) /* two labels */
_Static_assert(FRAMED_BYTES == INDEX_BLOCKS_HEADER_BYTES, "a binary index says where none is");
#define AHEAD_BYTES ((uint64_t)64 << 10)

struct finding {
    struct container *s;
    const struct shard *h;
    uint32_t shard;
    const struct indexed_record *r; /* all of the shard, by offset */
    uint64_t count, room;           /* of these; of s->metadata */
    uint64_t *keys;                 /* of these, ascending */
    uint8_t *buffer;                /* bytes [begin, end) of the shard */
    uint64_t begin, end;
    struct imrec_error *err;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the identities of a shard");
}

/* ---- ranges ------------------------------------------------------------------------------ */

struct range {
    uint64_t first, end;
};

/* The range that a framed record of FRAMED_BYTES names, if it is one that may. */
static bool read_range(const uint8_t *p, struct range *out)
{
    struct recordio_span span;
    struct image_record r;
    const struct bytes record = {p + RECORDIO_PART_HEAD_BYTES,
                                 FRAMED_BYTES - RECORDIO_PART_HEAD_BYTES};
    return recordio_measure(p, FRAMED_BYTES, 0, &span, NULL) == IMREC_OK && span.parts == 1 &&
           span.size == record.n && image_record_parse(record, &r, NULL) == IMREC_OK &&
           image_record_range(&r, &out->first, &out->end);
}

/* By how much a key may be off: labels are float32, whose steps grow from 2^24 on. */
static uint64_t slack(uint64_t key)
{
    uint64_t step = 1;
    for (; key >> 24 != 0; key >>= 1)
        step *= 2;
    return step / 2;
}

/* The range of image keys must not reach into that of the identities. Both ends are rounded. */
static bool apart(const struct range *images, const struct range *identities)
{
    return images->first != 0 && (images->end <= identities->first + 2 * slack(identities->first) ||
                                  images->first + 2 * slack(identities->end) >= identities->end);
}

/* Whether a key is in the range of the identities, as far as the range is known. */
static bool holds(const struct range *identities, uint64_t key)
{
    return key + slack(identities->first) >= identities->first &&
           key < identities->end + slack(identities->end);
}

/* ---- keys -------------------------------------------------------------------------------- */

/* What only shards with a header pay for. */
static enum imrec_status begin_search(struct finding *f)
{
    f->keys = imrec_realloc(NULL, (size_t)f->count + 1, sizeof(*f->keys));
    if (f->buffer == NULL)
        f->buffer = imrec_realloc(NULL, AHEAD_BYTES, 1);
    if (f->keys == NULL || f->buffer == NULL)
        return no_memory(f->err);
    for (uint64_t i = 0; i < f->count; i++)
        f->keys[i] = f->r[i].key;
    qsort(f->keys, (size_t)f->count, sizeof(*f->keys), by_u64);
    return IMREC_OK;
}

/* How many keys are below this one. */
static uint64_t keys_below(const struct finding *f, uint64_t key)
{
    return first_at_least(f->keys, sizeof(*f->keys), 0, f->count, key);
}

/* ---- heads ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct finding *f, uint64_t i)
{
    return (i + 1 < f->count ? f->r[i + 1].offset : f->h->size) - f->r[i].offset;
}

/* Reads ahead: identities are contiguous. A record that cannot be read is not metadata. */
static bool see_range(struct finding *f, uint64_t at, struct range *out)
{
    if (at < f->begin || at + FRAMED_BYTES > f->end) {
        const uint64_t left = f->h->size - at, n = left < AHEAD_BYTES ? left : AHEAD_BYTES;
        f->begin = f->end = at;
        if (source_read_again(f->h->source, at, f->buffer, (size_t)n, NULL) != IMREC_OK)
            return false;
        f->end += n;
    }
    return at + FRAMED_BYTES <= f->end && read_range(f->buffer + (at - f->begin), out);
}

/* A single one. */
static bool load_range(const struct shard *h, uint64_t at, struct range *out)
{
    uint8_t record[FRAMED_BYTES];
    return source_read_again(h->source, at, record, sizeof(record), NULL) == IMREC_OK &&
           read_range(record, out);
}

/* The record of key 0, if its range can be that of identities; f->count: there is none. */
static uint64_t find_header(const struct finding *f, struct range *out)
{
    for (uint64_t i = 0; i < f->count; i++)
        if (f->r[i].key == 0 && bytes_of(f, i) == FRAMED_BYTES &&
            load_range(f->h, f->r[i].offset, out) && out->first != 0)
            return i;
    return f->count;
}

static enum imrec_status add(struct finding *f, uint64_t i, bool header, uint64_t images)
{
    struct container *s = f->s;
    if (!IMREC_GROW(s->metadata, f->room, s->metadata_count + 1))
        return no_memory(f->err);
    s->metadata[s->metadata_count++] = (struct metadata_record){
        .offset = f->r[i].offset, .images = images, .shard = f->shard, .header = header};
    return IMREC_OK;
}

/* Keys of a range that the shard has; at least one where rounding may have moved them out. */
static uint64_t count_images(const struct finding *f, const struct range *images)
{
    const uint64_t first = slack(images->first), end = slack(images->end);
    const uint64_t n = keys_below(f, images->end) - keys_below(f, images->first);
    return n != 0 ? n : keys_below(f, images->end + end) > keys_below(f, images->first - first);
}

static enum imrec_status add_identities(struct finding *f, const struct range *identities)
{
    for (uint64_t i = 0; i < f->count; i++) {
        struct range images;
        if (f->r[i].key == 0 || !holds(identities, f->r[i].key) || bytes_of(f, i) != FRAMED_BYTES ||
            !see_range(f, f->r[i].offset, &images) || !apart(&images, identities))
            continue;
        const uint64_t n = count_images(f, &images);
        if (n != 0)
            IMREC_TRY(add(f, i, false, n));
    }
    return IMREC_OK;
}

/* What of the shard's records is metadata. A header that names no identity is none. */
static enum imrec_status look_at(struct finding *f)
{
    struct range identities;
    const uint64_t before = f->s->metadata_count, header = find_header(f, &identities);
    if (header == f->count)
        return IMREC_OK;
    IMREC_TRY(begin_search(f));
    IMREC_TRY(add_identities(f, &identities));
    return f->s->metadata_count == before ? IMREC_OK : add(f, header, true, 0);
}

static enum imrec_status
look_at_records(struct finding *f, uint32_t shard, const struct indexed_record *r, uint64_t count)
{
    f->shard = shard;
    f->h = &f->s->shards[shard];
    f->r = r;
    f->count = count;
    f->begin = f->end = 0;
    const enum imrec_status st = look_at(f);
    imrec_free(f->keys);
    f->keys = NULL;
    return st;
}

/* ---- shards ------------------------------------------------------------------------------ */

/* Whether the record that begins, or ends, a shard may be metadata. */
static bool begins_like_it(const struct shard *h)
{
    struct range range;
    return h->size >= 2 * FRAMED_BYTES &&
           (load_range(h, 0, &range) || load_range(h, h->size - FRAMED_BYTES, &range));
}

/* Ids of the records, by one scan. */
static enum imrec_status scan_ids(struct finding *f, uint32_t shard, struct container *table)
{
    const struct shard *h = &f->s->shards[shard];
    struct scan scan = {0};
    struct walk_item item;
    struct image_record r;
    enum walk_step step = WALK_RECORD;
    uint64_t capacity = 0;
    enum imrec_status st = IMREC_OK;
    scan_begin(&scan, h->source, 0, h->size, true);
    while (st == IMREC_OK && step != WALK_END) {
        st = scan_next(&scan, &step, &item, f->err);
        if (st != IMREC_OK || step != WALK_RECORD)
            continue;
        const struct bytes b = recordio_join(scan_bytes(&scan, &item), &item.span);
        if (image_record_parse(b, &r, NULL) == IMREC_OK)
            st = record_table_add(table, &capacity,
                                  (struct indexed_record){.offset = item.begin, .key = r.id},
                                  f->err);
    }
    scan_end(&scan);
    return st;
}

static enum imrec_status look_at_shard(struct finding *f, uint32_t shard)
{
    struct container table = {0};
    const uint64_t before = f->s->metadata_count;
    enum imrec_status st =
        record_table_beside(&f->s->shards[shard], &table.records, &table.record_total, f->err);
    if (st == IMREC_OK && table.records != NULL)
        st = look_at_records(f, shard, table.records, table.record_total);
    if (st == IMREC_OK && f->s->metadata_count == before) { /* no index, or one of other keys */
        imrec_free(table.records);
        table = (struct container){0};
        st = scan_ids(f, shard, &table);
        if (st == IMREC_OK)
            st = look_at_records(f, shard, table.records, table.record_total);
    }
    imrec_free(table.records);
    return st;
}

/* ---- public ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct metadata_record *x = a, *y = b;
    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

struct likeness {
    const struct shard *shards;
    bool *like; /* of each: it may have metadata */
};

static enum imrec_status see_shard(void *context, uint32_t i, struct imrec_error *err)
{
    struct likeness *l = context;
    (void)err;
    l->like[i] = begins_like_it(&l->shards[i]);
    return IMREC_OK;
}

/* Whether shards that are opened late may have it: where the first one has none, the others are not
 * asked. */
static bool is_like_the_first(const struct container *s)
{
    uint32_t first = 0;
    while (first < s->shard_count && s->shards[first].size == 0)
        first++;
    return s->late == NULL || (first < s->shard_count && begins_like_it(&s->shards[first]));
}

static enum imrec_status find_in_cells(struct finding *f)
{
    const struct container *s = f->s;
    if (!is_like_the_first(s))
        return IMREC_OK;
    struct likeness l = {s->shards, imrec_zalloc((size_t)s->shard_count + 1, sizeof(*l.like))};
    if (l.like == NULL)
        return no_memory(f->err);
    enum imrec_status st =
        at_once(s->shard_count, s->shard_count != 0 && s->shards[0].source->at_once != 0, see_shard,
                &l, f->err);
    for (uint32_t i = 0; st == IMREC_OK && i < s->shard_count; i++)
        if (l.like[i])
            st = look_at_shard(f, i);
    imrec_free(l.like);
    return st;
}

static enum imrec_status find_all(struct finding *f)
{
    const struct container *s = f->s;
    if (s->records == NULL)
        IMREC_TRY(find_in_cells(f));
    for (uint64_t i = 0, n; s->records != NULL && i < s->record_total; i += n) {
        for (n = 1; i + n < s->record_total && s->records[i + n].shard == s->records[i].shard;)
            n++;
        IMREC_TRY(look_at_records(f, s->records[i].shard, s->records + i, n));
    }
    if (s->metadata_count != 0)
        qsort(s->metadata, (size_t)s->metadata_count, sizeof(*s->metadata), by_place);
    return IMREC_OK;
}

enum imrec_status metadata_find(struct container *s, struct imrec_error *err)
{
    struct finding f = {.s = s, .err = err};
    const enum imrec_status st = find_all(&f);
    imrec_free(f.buffer);
    return st;
}

void metadata_drop(struct container *s)
{
    uint64_t kept = 0, m = 0;
    for (uint64_t i = 0; i < s->record_total; i++) {
        const struct indexed_record r = s->records[i];
        while (m < s->metadata_count &&
               (s->metadata[m].shard < r.shard ||
                (s->metadata[m].shard == r.shard && s->metadata[m].offset < r.offset)))
            m++;
        if (m < s->metadata_count && s->metadata[m].shard == r.shard &&
            s->metadata[m].offset == r.offset) {
            struct indexed_record *before = kept != 0 ? &s->records[kept - 1] : NULL;
            if (before != NULL && before->shard == r.shard && before->bytes == 0 &&
                r.offset - before->offset <= UINT32_MAX)
                before->bytes = (uint32_t)(r.offset - before->offset); /* it ends here still */
            continue;
        }
        s->records[kept++] = r;
    }
    s->record_total = kept;
    s->records[kept] = (struct indexed_record){.shard = UINT32_MAX};
}

const struct metadata_record *
metadata_at(const struct container *s, uint32_t shard, uint64_t offset)
{
    const struct metadata_record key = {.offset = offset, .shard = shard};
    return s->metadata_count != 0 ? bsearch(&key, s->metadata, (size_t)s->metadata_count,
                                            sizeof(*s->metadata), by_place)
                                  : NULL;
}
