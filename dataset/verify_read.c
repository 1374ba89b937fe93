/* dataset/verify_read.c - the serial half of a verification. */
#include "dataset/verify_read.h"

#include "base/error.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the records to be checked");
}

static enum imrec_status add_finding(const struct verify_reader *r, struct verify_batch *b,
                                     enum imrec_finding_kind kind, uint64_t begin, uint64_t end,
                                     struct verify_item **out, struct imrec_error *err)
{
    *out = verify_batch_add(b);
    if (*out == NULL)
        return no_memory(err);
    (*out)->shard = r->shard;
    (*out)->kind = kind;
    (*out)->begin = begin;
    (*out)->end = end;
    return IMREC_OK;
}

/* Where the bytes end that a mark is about: its record, or one byte where nothing says how long it
 * is. */
static uint64_t mark_end(const struct marks *m, const struct shard_index_entry *mark)
{
    return mark->offset + (m->kind == IMREC_FOUND_CHECKSUM ? mark->key >> 32 : 1);
}

/* Marks below `offset` point to no record. */
static enum imrec_status add_strays(const struct verify_reader *r, struct verify_batch *b,
                                    struct marks *m, uint64_t offset, struct imrec_error *err)
{
    const struct shard_index_entry *stray;
    struct verify_item *item;
    while ((stray = marks_stray(m, offset)) != NULL) {
        IMREC_TRY(add_finding(r, b, m->kind, stray->offset, mark_end(m, stray), &item, err));
        if (m->kind == IMREC_FOUND_CHECKSUM)
            (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, stray->offset,
                                 "the checksums have a record here, and none begins here");
        else
            (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, stray->offset,
                                 "the index has key %" PRIu64 " here, and no record begins here",
                                 stray->key);
    }
    return IMREC_OK;
}

/* Marks that no record has met when the shard is over. Several past its end are one finding: the
 * shard was cut off, or is another one, and that is what is wrong with each of them. */
static enum imrec_status add_last_strays(const struct verify_reader *r, struct verify_batch *b,
                                         struct marks *m, struct imrec_error *err)
{
    const uint64_t *begin = &r->walk.files.begin[r->shard];
    struct verify_item *item;
    IMREC_TRY(add_strays(r, b, m, begin[1] - begin[0], err));
    const uint64_t n = m->count - m->next;
    if (n < 2)
        return add_strays(r, b, m, UINT64_MAX, err);
    const struct shard_index_entry *first = &m->mark[m->next], *last = &m->mark[m->count - 1];
    IMREC_TRY(add_finding(r, b, m->kind, first->offset, mark_end(m, last), &item, err));
    m->next = m->count;
    if (m->kind == IMREC_FOUND_CHECKSUM)
        (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, first->offset,
                             "the checksums have %" PRIu64 " records past the end of the shard", n);
    else
        (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, first->offset,
                             "the index has %" PRIu64
                             " records past the end of the shard, the first with key %" PRIu64,
                             n, first->key);
    return IMREC_OK;
}

static enum imrec_status add_broken_marks(const struct verify_reader *r, struct verify_batch *b,
                                          const struct marks *m, struct imrec_error *err)
{
    struct verify_item *item;
    if (m->found || m->why.status == IMREC_OK)
        return IMREC_OK;
    IMREC_TRY(add_finding(r, b, m->kind, 0, 0, &item, err));
    item->why = m->why;
    return IMREC_OK;
}

static enum imrec_status
begin_shard(struct verify_reader *r, struct verify_batch *b, struct imrec_error *err)
{
    const char *uri = r->walk.files.shards.uri[r->shard];
    if (!r->walk.kind->side_files)
        return IMREC_OK;
    IMREC_TRY(marks_load(&r->index, IMREC_FOUND_INDEX, uri, err));
    IMREC_TRY(marks_load(&r->sums, IMREC_FOUND_CHECKSUM, uri, err));
    IMREC_TRY(add_broken_marks(r, b, &r->index, err));
    IMREC_TRY(add_broken_marks(r, b, &r->sums, err));
    source_close(r->source);
    r->source = NULL;
    return r->sums.found ? source_open(uri, &r->source, err) : IMREC_OK;
}

/* Ends shards until `shard` is the one whose marks are loaded. */
static enum imrec_status go_to_shard(struct verify_reader *r, uint32_t shard,
                                     struct verify_batch *b, struct imrec_error *err)
{
    while (!r->begun || r->shard != shard) {
        if (r->begun) {
            IMREC_TRY(add_last_strays(r, b, &r->index, err));
            IMREC_TRY(add_last_strays(r, b, &r->sums, err));
            r->shard++;
        }
        r->begun = true;
        if (r->shard == r->walk.files.shards.count)
            return IMREC_OK;
        IMREC_TRY(begin_shard(r, b, err));
    }
    return IMREC_OK;
}

static enum imrec_status add_damage(struct verify_reader *r, struct verify_batch *b,
                                    const struct imrec_finding *f, struct imrec_error *err)
{
    struct verify_item *item;
    IMREC_TRY(go_to_shard(r, f->shard, b, err));
    IMREC_TRY(add_strays(r, b, &r->index, f->begin, err));
    IMREC_TRY(add_strays(r, b, &r->sums, f->begin, err));
    marks_skip(&r->index, f->end);
    marks_skip(&r->sums, f->end);
    IMREC_TRY(add_finding(r, b, f->kind, f->begin, f->end, &item, err));
    (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, f->begin, "%s", f->reason);
    return IMREC_OK;
}

/* The record's own bytes in the shard, to be compared with its checksum. */
static enum imrec_status load_framed(const struct verify_reader *r, struct verify_batch *b,
                                     struct verify_item *item, const struct shard_index_entry *sum,
                                     struct imrec_error *err)
{
    item->framed_bytes = (uint32_t)(sum->key >> 32);
    item->crc = (uint32_t)sum->key;
    if (item->begin + item->framed_bytes > r->source->size)
        return IMREC_OK; /* summed stays false: cannot be the same record */
    if (!verify_batch_room(b, item->framed_bytes, &item->framed))
        return no_memory(err);
    item->summed = true;
    return source_read(r->source, item->begin, b->arena + item->framed, item->framed_bytes, err);
}

static enum imrec_status meet_marks(struct verify_reader *r, struct verify_batch *b,
                                    uint64_t offset, uint64_t end,
                                    const struct shard_index_entry **sum, struct imrec_error *err)
{
    struct verify_item *item;
    IMREC_TRY(add_strays(r, b, &r->index, offset, err));
    IMREC_TRY(add_strays(r, b, &r->sums, offset, err));
    *sum = marks_meet(&r->sums, offset);
    if (r->sums.found && *sum == NULL) {
        IMREC_TRY(add_finding(r, b, IMREC_FOUND_CHECKSUM, offset, end, &item, err));
        (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, offset,
                             "the checksums have no record here");
    }
    if (marks_meet(&r->index, offset) != NULL) {
        r->indexed++;
    } else if (r->index.found) {
        IMREC_TRY(add_finding(r, b, IMREC_FOUND_INDEX, offset, end, &item, err));
        (void)imrec_error_at(&item->why, IMREC_ERR_CORRUPT, offset,
                             "the index lacks the record here");
    }
    return IMREC_OK;
}

/* `framed`: its mask is what follows the image, and a wrong trailer a finding. */
static void place_image(struct verify_item *item, const struct imrec_record *r, bool framed)
{
    item->image = (size_t)((const uint8_t *)r->image - (const uint8_t *)r->data);
    item->image_bytes = framed ? r->size - item->image : r->image_size;
}

/* A mask that is not after its image in the record. False: no memory. */
static bool add_mask(const struct verify_reader *r, struct verify_batch *b,
                     const struct imrec_record *record, struct verify_item *item)
{
    if (!record->is_image || record->mask == NULL || r->walk.kind->side_files)
        return true;
    if (!verify_batch_room(b, record->mask_size, &item->mask))
        return false;
    memcpy(b->arena + item->mask, record->mask, record->mask_size);
    item->mask_bytes = record->mask_size;
    return true;
}

static enum imrec_status add_record(struct verify_reader *r, struct verify_batch *b,
                                    const struct imrec_record *record, struct imrec_error *err)
{
    const struct shard_index_entry *sum;
    size_t at;
    IMREC_TRY(go_to_shard(r, record->shard, b, err));
    const uint64_t end = dataset_record_end(&r->walk, record);
    IMREC_TRY(meet_marks(r, b, record->offset, end, &sum, err));
    struct verify_item *item = verify_batch_add(b);
    if (item == NULL || !verify_batch_room(b, record->size, &at))
        return no_memory(err);
    if (record->size != 0)
        memcpy(b->arena + at, record->data, record->size);
    *item = (struct verify_item){.is_record = true,
                                 .shard = record->shard,
                                 .begin = record->offset,
                                 .end = end,
                                 .id = record->is_image ? record->id : 0,
                                 .record = at,
                                 .record_bytes = record->size,
                                 .is_image = record->is_image,
                                 .is_metadata = record->metadata != IMREC_NO_METADATA};
    if (record->is_image)
        place_image(item, record, r->walk.kind->side_files);
    if (!add_mask(r, b, record, item))
        return no_memory(err);
    return sum != NULL ? load_framed(r, b, item, sum, err) : IMREC_OK;
}

enum imrec_status
verify_reader_fill(struct verify_reader *r, struct verify_batch *b, struct imrec_error *err)
{
    struct imrec_record record;
    verify_batch_clear(b);
    while (!r->ended && !verify_batch_full(b)) {
        const enum imrec_status st = dataset_walk_next(&r->walk, &record, err);
        if (st == IMREC_OK) {
            IMREC_TRY(add_record(r, b, &record, err));
        } else if (st == IMREC_ERR_DATA) {
            IMREC_TRY(add_damage(r, b, &r->walk.damage, err));
        } else if (st == IMREC_END) {
            r->ended = true;
            IMREC_TRY(go_to_shard(r, (uint32_t)r->walk.files.shards.count, b, err));
        } else {
            return st;
        }
    }
    return IMREC_OK;
}

void verify_reader_close(struct verify_reader *r)
{
    source_close(r->source);
    marks_free(&r->index);
    marks_free(&r->sums);
    dataset_walk_close(&r->walk);
}
