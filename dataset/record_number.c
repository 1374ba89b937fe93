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
            st = index_table_add(&r->split, &capacity,
                                 (struct indexed_record){.offset = record.offset,
                                                         .key = record.id,
                                                         .shard = record.shard},
                                 err);
    }
    return st == IMREC_END ? index_table_seal(&r->split, err) : st;
}

static enum imrec_status find_records(struct imrec_reader *r, struct imrec_error *err)
{
    if (r->split.options.num_parts != 1)
        return imrec_error_at(
            err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
            "records have numbers in the whole data set only, not in a partition");
    if (index_table_find(&r->split, NULL) != IMREC_OK) /* what is doubtful is not believed */
        index_table_forget(&r->split);
    if (r->split.records == NULL) {
        const enum imrec_status st = scan_heads(r, err);
        if (st != IMREC_OK) {
            index_table_forget(&r->split);
            return st;
        }
    }
    metadata_drop(&r->split);
    index_table_cut(&r->split, 0, r->split.record_total);
    return IMREC_OK;
}

/* The record at the beginning of a range of a shard, and nothing else, is read. IMREC_END: there is
 * none that can be read. */
static enum imrec_status read_at(struct imrec_reader *r, uint32_t shard, struct split_range at,
                                 struct imrec_record *out, struct imrec_error *err)
{
    r->shard = shard;
    r->begun = true;
    scan_begin(&r->scan, r->split.shards[shard].source, at.begin, at.end, true);
    const enum imrec_status st = imrec_reader_next(r, out, err);
    r->begun = false; /* next() begins with the shard's first record again */
    if (st == IMREC_OK && out->shard == shard && out->offset == at.begin)
        return IMREC_OK;
    return st == IMREC_OK || st == IMREC_ERR_DATA ? IMREC_END : st;
}

/* ---- public ------------------------------------------------------------------------------- */

enum imrec_status
imrec_reader_count(struct imrec_reader *r, uint64_t *count, struct imrec_error *err)
{
    if (r->split.records == NULL)
        IMREC_TRY(find_records(r, err));
    *count = r->split.unit_count;
    return IMREC_OK;
}

enum imrec_status imrec_reader_get(struct imrec_reader *r, uint64_t number,
                                   struct imrec_record *out, struct imrec_error *err)
{
    uint64_t count;
    IMREC_TRY(imrec_reader_count(r, &count, err));
    if (number >= count)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "there is no record %" PRIu64 ", there are %" PRIu64, number, count);
    const struct split_range at = split_unit(&r->split, number);
    if (r->split.cbf != NULL) {
        image_reader_seek(&r->images, at.shard, r->split.records[number].offset);
        return imrec_reader_next(r, out, err);
    }
    const enum imrec_status st = read_at(r, at.shard, at, out, err);
    return st != IMREC_END ? st
                           : imrec_error_at(err, IMREC_ERR_CORRUPT, at.begin,
                                            "%s: no readable record begins at byte %" PRIu64
                                            ", where record %" PRIu64 " should",
                                            r->split.shards[at.shard].uri, at.begin, number);
}

enum imrec_status imrec_reader_at(struct imrec_reader *r, uint32_t shard, uint64_t begin,
                                  uint64_t end, struct imrec_record *out, struct imrec_error *err)
{
    if (r->split.cbf != NULL)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, IMREC_NO_OFFSET,
                              "%s: images of a CBF file are not at offsets of their own",
                              r->split.shards[0].uri);
    IMREC_TRY(imrec_reader_seek(r, shard, begin, err));
    const struct shard *s = &r->split.shards[shard];
    const struct split_range at = {.begin = begin, .end = end < s->size ? end : s->size};
    const enum imrec_status st = read_at(r, shard, at, out, err);
    return st != IMREC_END
               ? st
               : imrec_error_at(err, IMREC_ERR_CORRUPT, begin,
                                "%s: no readable record begins at byte %" PRIu64, s->uri, begin);
}
