/* split/split_chunk.c - chunks of RecordIO, and the door to those of text. */
#include "split/split_chunk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "split/split_text.h"

#include <inttypes.h>
#include <stdio.h>

#define READ_BYTES  ((uint64_t)1 << 20) /* of neighbours in an index, at once */
#define MAX_REASONS 64u                 /* kept of a chunk; of more damage there is no text */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for a chunk of records");
}

/* ---- loading ------------------------------------------------------------------------------ */

static enum imrec_status
add_item(struct split_chunk *c, struct split_item item, struct imrec_error *err)
{
    if (!IMREC_GROW(c->items, c->item_room, c->count + 1))
        return no_memory(err);
    c->items[c->count++] = item;
    return IMREC_OK;
}

static enum imrec_status add_damage(struct split_chunk *c, struct unit_range bytes,
                                    const struct imrec_error *why, struct imrec_error *err)
{
    if (c->why_count < MAX_REASONS) {
        if (!IMREC_GROW(c->why, c->why_room, c->why_count + 1))
            return no_memory(err);
        c->why[c->why_count++] = *why;
    } else {
        c->why_count = MAX_REASONS + 1; /* the number of none */
    }
    return add_item(c, (struct split_item){bytes.begin, bytes.end, c->n, bytes.shard, c->why_count},
                    err);
}

/* A record as its file has it, or, where it is too long, its damage. */
static enum imrec_status add_record(struct split_chunk *c, const struct split_set *s,
                                    struct unit_range bytes, const uint8_t *p,
                                    struct imrec_error *err)
{
    const uint64_t n = bytes.end - bytes.begin;
    if (n > s->o.max_record_bytes) {
        struct imrec_error why;
        imrec_fail(&why, IMREC_ERR_LIMIT,
                   "the record needs %" PRIu64 " bytes, max_record_bytes is %" PRIu64, n,
                   s->o.max_record_bytes);
        return add_damage(c, bytes, &why, err);
    }
    if (!IMREC_GROW(c->p, c->room, c->n + n))
        return no_memory(err);
    memcpy(c->p + c->n, p, (size_t)n);
    const size_t at = c->n;
    c->n += (size_t)n;
    return add_item(c, (struct split_item){bytes.begin, bytes.end, at, bytes.shard, 0}, err);
}

/* The record at which the scan stopped: its head alone, for it may not be as long as it says. */
static enum imrec_status add_too_long(struct split_chunk *c, const struct split_set *s,
                                      uint32_t file, struct imrec_error *err)
{
    const struct walk *w = &c->scan.walk;
    const struct unit_range head = {file, w->keep, w->keep + RECORDIO_PART_HEAD_BYTES};
    struct imrec_error why;
    imrec_fail(&why, IMREC_ERR_LIMIT,
               "the record needs %" PRIu64 " bytes or more, max_record_bytes is %" PRIu64,
               w->need - w->keep, s->o.max_record_bytes);
    return add_damage(c, head, &why, err);
}

static enum imrec_status load_cell(struct split_chunk *c, const struct split_set *s,
                                   struct unit_range cell, struct imrec_error *err)
{
    struct source *source = s->files.shards[cell.shard].source;
    scan_begin(&c->scan, source, cell.begin, cell.end, cell.begin == 0);
    c->scan.limit = s->o.max_record_bytes + 2 * (uint64_t)RECORDIO_PART_HEAD_BYTES;
    for (;;) {
        struct walk_item item;
        enum walk_step step;
        const enum imrec_status st = scan_next(&c->scan, &step, &item, NULL);
        if (st == IMREC_ERR_LIMIT) {
            IMREC_TRY(add_too_long(c, s, cell.shard, err));
            scan_begin(&c->scan, source, c->scan.walk.keep + RECORDIO_ALIGN, cell.end, false);
            continue;
        }
        if (st != IMREC_OK)
            return no_memory(err);
        if (step == WALK_END)
            return IMREC_OK;
        const struct unit_range bytes = {cell.shard, item.begin, item.end};
        IMREC_TRY(step == WALK_RECORD ? add_record(c, s, bytes, scan_bytes(&c->scan, &item), err)
                                      : add_damage(c, bytes, &item.why, err));
    }
}

/* The record that an index says is at p[0..n); bytes: up to the next one, of which the first n were
 * read. */
static enum imrec_status add_listed(struct split_chunk *c, const struct split_set *s,
                                    struct unit_range bytes, const uint8_t *p, size_t n,
                                    const struct hole *holes, struct imrec_error *err)
{
    struct recordio_span span;
    struct imrec_error why;
    const enum imrec_status st = recordio_measure(p, n, bytes.begin, &span, &why);
    const uint64_t end = st == IMREC_OK ? bytes.begin + span.bytes : bytes.begin + n;
    const struct hole *h = unreadable_find(holes, bytes.begin, end);
    if (h != NULL)
        return add_damage(c, bytes, &h->why, err);
    if (st == IMREC_OK) {
        bytes.end = end;
        return add_record(c, s, bytes, p, err);
    }
    if (st == IMREC_END)
        imrec_fail(&why, IMREC_ERR_CORRUPT,
                   "the record needs %zu bytes or more, %s is %" PRIu64 " bytes on", span.bytes,
                   n < bytes.end - bytes.begin ? "the limit, max_record_bytes,"
                                               : "the next one in the index or the file's end",
                   (uint64_t)n);
    return add_damage(c, bytes, &why, err);
}

static struct unit_range listed(const struct split_set *s, uint64_t pass, uint64_t place)
{
    return container_unit(&s->files, split_set_unit(s, pass, place));
}

/* Reads records from `place` on, below `end`, that follow each other in a file, in one go. *used:
 * how many. */
static enum imrec_status load_neighbours(struct split_chunk *c, const struct split_set *s,
                                         uint64_t pass, uint64_t place, uint64_t end,
                                         uint64_t *used, struct imrec_error *err)
{
    struct unit_range all = listed(s, pass, place), one = all;
    struct hole *holes = NULL;
    for (*used = 1; place + *used < end && all.end - all.begin < READ_BYTES; ++*used) {
        one = listed(s, pass, place + *used);
        if (one.shard != all.shard || one.begin != all.end || one.end - all.begin > READ_BYTES)
            break;
        all.end = one.end;
    }
    const uint64_t n = min_u64(all.end - all.begin, max_u64(s->o.max_record_bytes, READ_BYTES));
    if (n > SIZE_MAX || !IMREC_GROW(c->read, c->read_room, n))
        return no_memory(err);
    enum imrec_status st = unreadable_read(s->files.shards[all.shard].source, all.begin, c->read,
                                           (size_t)n, &holes, err);
    for (uint64_t i = 0; st == IMREC_OK && i < *used; i++) {
        one = listed(s, pass, place + i);
        const uint64_t at = one.begin - all.begin;
        st = add_listed(c, s, one, c->read + at, (size_t)min_u64(one.end - one.begin, n - at),
                        holes, err);
    }
    unreadable_free(&holes);
    return st;
}

static enum imrec_status load_listed(struct split_chunk *c, const struct split_set *s,
                                     uint64_t pass, uint64_t i, struct imrec_error *err)
{
    const uint64_t begin = i * s->chunk_records;
    const uint64_t end = min_u64(begin + s->chunk_records, s->files.unit_count);
    for (uint64_t at = begin, used; at < end; at += used)
        IMREC_TRY(load_neighbours(c, s, pass, at, end, &used, err));
    return IMREC_OK;
}

enum imrec_status split_chunk_load(struct split_chunk *c, const struct split_set *s, uint64_t pass,
                                   uint64_t i, struct imrec_error *err)
{
    c->n = c->count = c->next = 0;
    c->why_count = 0;
    if (split_set_indexed(s))
        return load_listed(c, s, pass, i, err);
    const struct unit_range cell = container_unit(&s->files, split_set_unit(s, pass, i));
    if (s->o.type != IMREC_SPLIT_TEXT)
        return load_cell(c, s, cell, err);
    IMREC_TRY(split_text_load(c, s, cell, err));
    c->next = c->begin;
    return IMREC_OK;
}

/* ---- taking apart ------------------------------------------------------------------------- */

static enum imrec_status give_damage(const struct split_chunk *c, const struct split_set *s,
                                     const struct split_item *item, struct imrec_error *err)
{
    const struct imrec_error *why = item->why <= MAX_REASONS ? &c->why[item->why - 1] : NULL;
    return split_set_damage(s, item->file, item->offset, item->end, "hold no readable record", why,
                            err);
}

static void give(const struct split_set *s, const struct split_item *item, struct bytes b,
                 struct imrec_split_bytes *out)
{
    *out = (struct imrec_split_bytes){.data = b.p,
                                      .size = b.n,
                                      .uri = s->files.shards[item->file].uri,
                                      .file = item->file,
                                      .offset = item->offset};
}

enum imrec_status split_chunk_next(struct split_chunk *c, const struct split_set *s,
                                   struct imrec_split_bytes *out, struct imrec_error *err)
{
    struct recordio_span span;
    if (s->o.type == IMREC_SPLIT_TEXT)
        return split_text_next(c, s, out, err);
    if (c->next >= c->count)
        return IMREC_END;
    const struct split_item *item = &c->items[c->next++];
    if (item->why != 0)
        return give_damage(c, s, item, err);
    uint8_t *p = c->p + item->at;
    IMREC_TRY(recordio_measure(p, (size_t)(item->end - item->offset), item->offset, &span, err));
    give(s, item, recordio_join(p, &span), out);
    return IMREC_OK;
}

enum imrec_status split_chunk_rest(struct split_chunk *c, const struct split_set *s,
                                   struct imrec_split_bytes *out, struct imrec_error *err)
{
    if (s->o.type == IMREC_SPLIT_TEXT)
        return split_text_rest(c, s, out, err);
    if (c->next >= c->count)
        return IMREC_END;
    const struct split_item *first = &c->items[c->next], *item = first;
    if (first->why != 0) {
        c->next++;
        return give_damage(c, s, first, err);
    }
    while (c->next < c->count && c->items[c->next].why == 0)
        item = &c->items[c->next++];
    const size_t n = item->at + (size_t)(item->end - item->offset) - first->at;
    give(s, first, (struct bytes){c->p + first->at, n}, out);
    return IMREC_OK;
}

enum imrec_status split_chunk_seek(struct split_chunk *c, const struct split_set *s, uint64_t place,
                                   struct imrec_error *err)
{
    const bool text = s->o.type == IMREC_SPLIT_TEXT;
    if (text ? !split_text_is_begin(c, place) : place > c->count)
        return IMREC_REFUSE(err, "position: no record begins at place %" PRIu64 " of its chunk",
                            place);
    c->next = (size_t)place;
    return IMREC_OK;
}

void split_chunk_free(struct split_chunk *c)
{
    IMREC_FREE(c->p, c->items, c->why, c->read);
    scan_end(&c->scan);
    unreadable_free(&c->holes);
    *c = (struct split_chunk){0};
}
