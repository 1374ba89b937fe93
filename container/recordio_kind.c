/* container/recordio_kind.c - the kind of dmlc's RecordIO: cells that are walked, or records that
 * an index lists. */
#include "container/recordio_kind.h"

#include "base/error.h"
#include "container/empty_set.h"
#include "container/kinds.h"
#include "container/metadata.h"
#include "container/record_table.h"
#include "container/room_labels.h"
#include "container/set_sums.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_fields.h"
#include "formats/recordio/recordio.h"

#include <inttypes.h>

static bool recognize(struct bytes first)
{
    return recordio_sync(first.p, first.n) == 0;
}

/* The index that path_imgidx names, or, where it allows them, those next to the shards. */
static enum imrec_status load_index(struct container *c, struct imrec_error *err)
{
    switch (index_wish(c->options.path_imgidx)) {
    case INDEX_NAMED:
        return record_table_load(c, c->options.path_imgidx, err);
    case INDEX_AUTO:
        return record_table_find(c, err);
    default:
        return IMREC_OK;
    }
}

static enum imrec_status
list(struct container *c, const struct shard_list *l, struct imrec_error *err)
{
    IMREC_TRY(load_index(c, err));
    if (!container_is_listed(c))
        return metadata_find(c, err);
    if (c->record_total == 0)
        IMREC_TRY(empty_set(c, l, "its index has no entry", err));
    if (c->index_cut) /* and no record is metadata */
        return IMREC_OK;
    IMREC_TRY(metadata_find(c, err));
    metadata_drop(c);
    record_table_cut(c);
    return IMREC_OK;
}

/* Up to the next one that the index lists, or to metadata before that. */
static struct unit_range extent(const struct container *c, uint64_t unit)
{
    const struct indexed_record *r = &c->records[unit]; /* one more follows the last */
    const uint64_t size = c->shards[r->shard].size;
    return (struct unit_range){r->shard, r->offset,
                               r->bytes != 0            ? r->offset + r->bytes
                               : r[1].shard == r->shard ? r[1].offset
                                                        : size};
}

static enum imrec_status measure(const struct container *c, const struct record_place *all,
                                 const uint8_t *p, size_t n, struct recordio_span *span,
                                 uint64_t *used, struct imrec_error *err)
{
    const uint64_t bytes = all->end - all->begin;
    const enum imrec_status st = recordio_measure(p, n, all->begin, span, err);
    *used = st == IMREC_OK || st == IMREC_END ? span->bytes : 0;
    if (st == IMREC_END && span->bytes > bytes) {
        *used = 0;
        return imrec_error_at(err, IMREC_ERR_CORRUPT, all->begin,
                              "the record needs %zu bytes or more, the next one in the index "
                              "or the shard's end is %" PRIu64 " bytes on",
                              span->bytes, bytes);
    }
    if (st == IMREC_OK && c->shards[all->shard].complete != NULL && span->bytes != bytes) {
        *used = 0;
        return imrec_error_at(err, IMREC_ERR_CORRUPT, all->begin,
                              "the record has %zu bytes, the index %" PRIu64, span->bytes, bytes);
    }
    return st;
}

/* An index that has every record was not made of this shard, or the shard was damaged since. */
static enum imrec_status
blame(const struct container *c, uint32_t shard, enum imrec_status st, struct imrec_error *err)
{
    const char *index = c->shards[shard].complete;
    if (st == IMREC_OK || st == IMREC_END || index == NULL || err == NULL)
        return st;
    const struct imrec_error why = *err;
    return imrec_error_at(err, st, why.offset, "%.300s, where %.200s has a record of %.200s",
                          why.message, index, c->shards[shard].uri);
}

static enum imrec_status open_record(const struct container *c, const struct record_place *at,
                                     uint8_t *p, size_t n, struct bytes *out, uint64_t *used,
                                     struct imrec_error *err)
{
    struct recordio_span span;
    uint64_t next;
    const enum imrec_status st = measure(c, at, p, n, &span, used, err);
    if (st != IMREC_OK)
        return blame(c, at->shard, st, err);
    const struct bytes framed = {p, span.bytes};
    IMREC_TRY(set_sums_compare(c, at->shard, at->begin, framed, &next, err));
    *out = recordio_join(p, &span);
    return IMREC_OK;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    (void)c;
    struct image_record head;
    *out = (struct record){0}; /* an id that cannot be read is none of the index's */
    IMREC_TRY(image_record_parse(r->bytes, &head, err));
    *out = (struct record){.id = head.id,
                           .id2 = head.id2,
                           .label_count = head.label_count,
                           .labels = head.labels,
                           .image = head.image};
    if ((parts & (RECORD_MASK | RECORD_FIELDS)) == 0)
        return IMREC_OK;
    struct record_payload payload;
    const enum imrec_status st = record_payload_split(head.image, &payload, err);
    out->image = payload.image;
    out->mask = payload.mask;
    if (st != IMREC_OK || (parts & RECORD_FIELDS) == 0)
        return st;
    return room_fields(&payload, room, out, err);
}

const struct container_kind recordio_kind = {
    .name = "RecordIO shard",
    .record = "record",
    .suffix = ".rec",
    .align = RECORDIO_ALIGN,
    .side_files = true,
    .masks = true,
    .fields = true,
    .recognize = recognize,
    .list = list,
    .extent = extent,
    .open = open_record,
    .parse = parse,
    .count = recordio_count,
    .widest_label = recordio_widest_label,
};
