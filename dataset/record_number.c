/* dataset/record_number.c - imrec_reader_count() and _get(): any record by its number. */
#include "base/error.h"
#include "container/record_table.h"
#include "dataset/record_reader.h"

#include <inttypes.h>

/* ---- without them ------------------------------------------------------------------------- */

static enum imrec_status scan_heads(struct imrec_reader *r, struct imrec_error *err)
{
    struct imrec_record record;
    uint64_t capacity = 0;
    enum imrec_status st = IMREC_OK;
    r->begun = false;
    r->shard = 0;
    while (st == IMREC_OK || st == IMREC_ERR_DATA) {
        st = imrec_reader_next(r, &record, err);
        if (st == IMREC_OK)
            st = record_table_add(&r->container, &capacity,
                                  (struct indexed_record){.offset = record.offset,
                                                          .key = record.id,
                                                          .shard = record.shard},
                                  err);
    }
    r->begun = false; /* next() begins with the first record */
    r->shard = 0;
    return st == IMREC_END ? record_table_seal(&r->container, err) : st;
}

static enum imrec_status find_records(struct imrec_reader *r, struct imrec_error *err)
{
    if (r->container.options.num_parts != 1)
        return IMREC_REFUSE(err,
                            "records have numbers in the whole data set only, not in a partition");
    if (record_table_find(&r->container, NULL) != IMREC_OK) /* what is doubtful is not believed */
        record_table_forget(&r->container);
    if (r->container.records == NULL) {
        const enum imrec_status st = scan_heads(r, err);
        if (st != IMREC_OK) {
            record_table_forget(&r->container);
            return st;
        }
    }
    metadata_drop(&r->container);
    record_table_cut(&r->container);
    return IMREC_OK;
}

/* The record at the beginning of a range of a shard, and nothing else, is read. IMREC_END: there is
 * none that can be read. */
static enum imrec_status read_at(struct imrec_reader *r, uint32_t shard, struct unit_range at,
                                 struct imrec_record *out, struct imrec_error *err)
{
    r->shard = shard;
    r->begun = true;
    scan_begin(&r->scan, r->container.shards[shard].source, at.begin, at.end, true);
    const enum imrec_status st = imrec_reader_next(r, out, err);
    r->begun = false; /* next() begins with the shard's first record again */
    if (st == IMREC_OK && out->shard == shard && out->offset == at.begin)
        return IMREC_OK;
    if (st == IMREC_ERR_DATA && r->container.options.label_offset != 0 &&
        r->damage.begin == at.begin) { /* *err says what is wrong with it: it may be its label */
        if (err != NULL)
            err->status = IMREC_ERR_CORRUPT;
        return IMREC_ERR_CORRUPT;
    }
    return st == IMREC_OK || st == IMREC_ERR_DATA ? IMREC_END : st;
}

/* ---- public ------------------------------------------------------------------------------- */

enum imrec_status
imrec_reader_count(struct imrec_reader *r, uint64_t *count, struct imrec_error *err)
{
    if (r->container.records == NULL)
        IMREC_TRY(find_records(r, err));
    *count = r->container.unit_count;
    return IMREC_OK;
}

enum imrec_status imrec_reader_get(struct imrec_reader *r, uint64_t number,
                                   struct imrec_record *out, struct imrec_error *err)
{
    uint64_t count;
    IMREC_TRY(imrec_reader_count(r, &count, err));
    if (number >= count)
        return IMREC_REFUSE(err, "there is no record %" PRIu64 ", there are %" PRIu64, number,
                            count);
    const struct unit_range at = container_unit(&r->container, number);
    if (r->container.kind->own_index) {
        table_reader_seek(&r->table, at.shard, r->container.records[number].offset);
        return imrec_reader_next(r, out, err);
    }
    const enum imrec_status st = read_at(r, at.shard, at, out, err);
    return st != IMREC_END ? st
                           : imrec_error_at(err, IMREC_ERR_CORRUPT, at.begin,
                                            "%s: no readable record begins at byte %" PRIu64
                                            ", where record %" PRIu64 " should",
                                            r->container.shards[at.shard].uri, at.begin, number);
}

enum imrec_status imrec_reader_at(struct imrec_reader *r, uint32_t shard, uint64_t begin,
                                  uint64_t end, struct imrec_record *out, struct imrec_error *err)
{
    if (r->container.kind->own_index)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s: images of a %s are not at offsets of their own",
                          r->container.shards[0].uri, r->container.kind->name);
    IMREC_TRY(imrec_reader_seek(r, shard, begin, err));
    const struct shard *s = &r->container.shards[shard];
    const struct unit_range at = {.begin = begin, .end = end < s->size ? end : s->size};
    const enum imrec_status st = read_at(r, shard, at, out, err);
    if (st != IMREC_END)
        return st;
    imrec_error_at(err, IMREC_ERR_CORRUPT, begin, "%s: no readable record begins at byte %" PRIu64,
                   s->uri, begin);
    imrec_error_file(err, s->uri);
    return IMREC_ERR_CORRUPT;
}
