/* iter/split/record_table.c - imrec_reader_count() and _get(): any record by its number. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "formats/set_names.h"
#include "iter/split/index_table.h"
#include "iter/split/record_reader.h"

#include <inttypes.h>
#include <string.h>

#define NAMES_MAX_BYTES ((size_t)1 << 30)

/* ---- the index files ---------------------------------------------------------------------- */

/* Appends the name of the index beside a shard; *there: the file exists. */
static enum imrec_status
append_name(struct buf *names, const char *shard, bool *there, struct imrec_error *err)
{
    struct source *source = NULL;
    char *name = imrec_realloc(NULL, SET_NAME_ROOM(strlen(shard)), 1);
    if (name == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a name");
    set_name(shard, SET_INDEX, name);
    *there = strcmp(name, shard) != 0 && source_open(name, &source, NULL) == IMREC_OK;
    source_close(source);
    enum imrec_status st = names->n != 0 ? buf_append(names, ";", 1, err) : IMREC_OK;
    if (st == IMREC_OK)
        st = buf_append(names, name, strlen(name), err);
    imrec_free(name);
    return st;
}

static void forget(struct split *s)
{
    imrec_free(s->records);
    s->records = NULL;
    s->record_total = 0;
}

/* Leaves s->records NULL where not every shard has an index that can be used. */
static enum imrec_status load_indexes(struct split *s, struct imrec_error *err)
{
    struct buf names = BUF_INIT(NAMES_MAX_BYTES);
    enum imrec_status st = IMREC_OK;
    bool there = true;
    for (uint32_t i = 0; i < s->shard_count && st == IMREC_OK && there; i++)
        st = append_name(&names, s->shards[i].uri, &there, err);
    if (st == IMREC_OK && there)
        st = buf_append(&names, "", 1, err);
    if (st == IMREC_OK && there && index_table_load(s, (const char *)names.p, NULL) != IMREC_OK)
        forget(s);
    buf_free(&names);
    return st;
}

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
    IMREC_TRY(load_indexes(&r->split, err));
    if (r->split.records == NULL) {
        const enum imrec_status st = scan_heads(r, err);
        if (st != IMREC_OK) {
            forget(&r->split);
            return st;
        }
    }
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
        picture_reader_seek(&r->pictures, at.shard, r->split.records[number].offset);
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
                              "%s: pictures of a CBF file are not at offsets of their own",
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
