/* dataset/checked_reader.c - imrec_checked_*: records that match their checksums; findings for
 * everything else.
 *
 * Checksums follow the shard's order. So checksums without a record that precede a record or a
 * damaged range are of lost records; they are reported first, while the record read is held back.
 */
#include "dataset/checked_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "dataset/dataset_set.h"
#include "dataset/record_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IDS_SAID 8 /* of a damaged range */

/* ---- what is reported ----------------------------------------------------------------------- */

/* Entries of the index next to the shard, which is loaded at the first loss. */
static const struct shard_index_entry *
indexed(struct imrec_checked *c, uint64_t begin, uint64_t end, uint64_t *count)
{
    struct imrec_error why;
    const char *uri = c->walk.files.shards.uri[c->shard];
    if (!c->index_asked && c->walk.kind->side_files &&
        shard_index_load(uri, &c->index, &why) != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "%s", why.message); /* ids are not said then */
    c->index_asked = true;
    return shard_index_in(&c->index, begin, end, count);
}

/* Reports [begin, end) as lost; `id` is from the record itself. */
static enum imrec_status tell(struct imrec_checked *c, enum imrec_finding_kind kind, uint64_t begin,
                              uint64_t end, uint64_t id)
{
    uint64_t ids;
    const struct shard_index_entry *first = indexed(c, begin, begin + 1, &ids);
    c->found = (struct imrec_finding){.kind = kind,
                                      .uri = c->walk.files.shards.uri[c->shard],
                                      .shard = c->shard,
                                      .begin = begin,
                                      .end = end,
                                      .id = ids != 0 ? first->key : id,
                                      .reason = c->why.message};
    c->lost = 1;
    return IMREC_ERR_DATA;
}

/* Appends to the reason the ids that the index has in a damaged range, if they are more than the
 * finding's own. */
static void say_ids(struct imrec_checked *c, const struct shard_index_entry *first, uint64_t count)
{
    const size_t room = sizeof(c->why.message);
    size_t n = strnlen(c->why.message, room - 1);
    const char *before = "; by the index it held the ids";
    for (uint64_t i = 0; count > 1 && i < count && i < IDS_SAID && n < room - 1; i++) {
        const int more =
            snprintf(c->why.message + n, room - n, "%s %" PRIu64, before, first[i].key);
        n += more > 0 ? (size_t)more : 0;
        before = ",";
    }
    if (count > IDS_SAID && n < room - 1)
        (void)snprintf(c->why.message + n, room - n, ", ... (%" PRIu64 ")", count);
}

static enum imrec_status tell_damage(struct imrec_checked *c)
{
    const struct imrec_finding damage = c->walk.damage;
    struct checksum sum;
    uint64_t ids, lost = 0;
    const struct shard_index_entry *first = indexed(c, damage.begin, damage.end, &ids);
    for (; c->sums.found && c->next < c->sums.table.file.records; c->next++, lost++) {
        sum = checksum_table_entry(&c->sums.table, c->next);
        if (sum.offset >= damage.end)
            break;
    }
    (void)imrec_error_at(&c->why, IMREC_ERR_DATA, damage.begin, "%s", damage.reason);
    say_ids(c, first, ids);
    (void)tell(c, damage.kind, damage.begin, damage.end, ids != 0 ? first->key : 0);
    c->lost = c->sums.found ? lost : c->index.found ? ids : 1;
    return IMREC_ERR_DATA;
}

/* A record that the checksums have before `offset` and that was not met; false: there is none. */
static bool tell_stray(struct imrec_checked *c, uint64_t offset)
{
    if (!c->begun || !c->sums.found || c->next == c->sums.table.file.records)
        return false;
    const struct checksum sum = checksum_table_entry(&c->sums.table, c->next);
    if (sum.offset >= offset)
        return false;
    c->next++;
    (void)imrec_error_at(&c->why, IMREC_ERR_DATA, sum.offset,
                         "the checksums have a record here, and none begins here");
    (void)tell(c, IMREC_FOUND_CHECKSUM, sum.offset, sum.offset + sum.framed_bytes, 0);
    return true;
}

/* ---- shards ------------------------------------------------------------------------------- */

static void warn_once(struct imrec_checked *c, const char *uri)
{
    if (!c->warned)
        imrec_log(IMREC_LOG_WARNING,
                  "%s has no checksums next to it (.crc): damage to its images cannot be found, "
                  "and its records are returned unchecked",
                  uri);
    c->warned = true;
}

static enum imrec_status
load_sums(struct imrec_checked *c, const char *uri, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st = shard_sums_load(uri, &c->sums, &why);
    if (st == IMREC_OK)
        return st;
    imrec_error_at(err, st, why.offset, "%.400s%s", why.message,
                   st == IMREC_ERR_CORRUPT
                       ? "; no record can be compared with it: imrec repair writes new ones"
                       : "");
    imrec_error_same(err, &why);
    return st;
}

static void leave_shard(struct imrec_checked *c)
{
    shard_index_free(&c->index);
    shard_sums_free(&c->sums);
}

static enum imrec_status begin_shard(struct imrec_checked *c, struct imrec_error *err)
{
    const char *uri = c->walk.files.shards.uri[c->shard];
    c->next = 0;
    c->index_asked = false;
    leave_shard(c);
    if (c->walk.kind->side_files)
        IMREC_TRY(load_sums(c, uri, err));
    c->known = c->sums.found || c->walk.kind->own_sums;
    if (!c->known)
        IMREC_TRY(dataset_check_file(uri, SET_REC, &c->known, err));
    if (!c->known)
        warn_once(c, uri);
    return IMREC_OK;
}

/* Ends shards until `shard` is the one whose checksums are loaded. IMREC_ERR_DATA: a loss of
 * those before it must be reported first. */
static enum imrec_status
go_to_shard(struct imrec_checked *c, uint32_t shard, struct imrec_error *err)
{
    while (!c->begun || c->shard != shard) {
        if (tell_stray(c, UINT64_MAX))
            return IMREC_ERR_DATA;
        c->shard += c->begun;
        c->begun = true;
        if (c->shard < c->walk.files.shards.count)
            IMREC_TRY(begin_shard(c, err));
    }
    return IMREC_OK;
}

/* ---- records ------------------------------------------------------------------------------ */

static enum imrec_status judge(struct imrec_checked *c)
{
    const struct imrec_record *r = &c->record;
    const struct bytes framed = c->walk.reader->framed;
    const uint64_t end = dataset_record_end(&c->walk, r), id = r->is_image ? r->id : 0;
    c->summed = false;
    if (c->sums.found) {
        if (c->next < c->sums.table.file.records)
            c->next += checksum_table_entry(&c->sums.table, c->next).offset == r->offset;
        if (shard_sums_compare(&c->sums, r->offset, framed, &c->sum, &c->why) != IMREC_OK)
            return tell(c, IMREC_FOUND_CHECKSUM, r->offset, end, id);
        c->summed = true;
    }
    if (!r->is_image) {
        (void)imrec_error_at(&c->why, IMREC_ERR_DATA, r->offset,
                             "%zu bytes begin with no well-formed image record header", r->size);
        return tell(c, IMREC_FOUND_RECORD, r->offset, end, 0);
    }
    c->unchecked += !c->known && r->metadata == IMREC_NO_METADATA;
    return IMREC_OK;
}

/* Returns the last record read, or a finding that precedes it. */
static enum imrec_status give(struct imrec_checked *c, struct imrec_error *err)
{
    const bool damage = c->status == IMREC_ERR_DATA, end = c->status == IMREC_END;
    const uint64_t offset = damage ? c->walk.damage.begin : c->record.offset;
    const uint32_t shard = end      ? (uint32_t)c->walk.files.shards.count
                           : damage ? c->walk.damage.shard
                                    : c->record.shard;
    IMREC_TRY(go_to_shard(c, shard, err));
    if (end)
        return IMREC_END;
    if (tell_stray(c, offset))
        return IMREC_ERR_DATA;
    c->held = false;
    return damage ? tell_damage(c) : judge(c);
}

static enum imrec_status say(const struct imrec_checked *c, struct imrec_error *err)
{
    const struct imrec_finding *f = &c->found;
    char id[40] = "", place[64] = "";
    if (f->id != 0)
        snprintf(id, sizeof(id), " (id %" PRIu64 ")", f->id);
    if (f->kind != IMREC_FOUND_FILE) /* which the reason names */
        snprintf(place, sizeof(place), "bytes %" PRIu64 " to %" PRIu64 ": ", f->begin, f->end - 1);
    imrec_error_at(err, IMREC_ERR_DATA, f->begin, "%.160s: %s%s: %.250s%s", f->uri, place,
                   imrec_finding_name(f->kind), f->reason, id);
    if (f->id != 0)
        imrec_error_record(err, f->uri, f->id);
    else
        imrec_error_file(err, f->uri);
    return IMREC_ERR_DATA;
}

enum imrec_status
imrec_checked_next(struct imrec_checked *c, struct imrec_record *out, struct imrec_error *err)
{
    if (!c->held) {
        c->status = dataset_walk_next(&c->walk, &c->record, err);
        if (c->status != IMREC_OK && c->status != IMREC_ERR_DATA && c->status != IMREC_END)
            return c->status;
        c->held = true;
    }
    const enum imrec_status st = give(c, err);
    if (st == IMREC_OK)
        *out = c->record;
    return st == IMREC_ERR_DATA ? say(c, err) : st;
}

const struct imrec_finding *imrec_checked_found(const struct imrec_checked *c)
{
    return &c->found;
}

uint64_t imrec_checked_unchecked(const struct imrec_checked *c)
{
    return c->unchecked;
}

bool checked_framed(const struct imrec_checked *c, struct bytes *framed, uint32_t *crc)
{
    *framed = c->walk.reader->framed;
    *crc = c->sum.crc;
    return c->summed;
}

/* ---- opening ------------------------------------------------------------------------------ */

enum imrec_status checked_open_as(const struct container_options *o, imrec_progress_fn *progress,
                                  void *user, struct imrec_checked **out, struct imrec_error *err)
{
    *out = NULL;
    struct imrec_checked *c = imrec_zalloc(1, sizeof(*c));
    if (c == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read %s", o->path_imgrec);
    const enum imrec_status st = dataset_walk_open(o, progress, user, &c->walk, err);
    if (st != IMREC_OK) {
        imrec_free(c);
        return st;
    }
    c->walk.reader->keep_framed = true;
    *out = c;
    return IMREC_OK;
}

enum imrec_status imrec_checked_open(const char *uri, imrec_progress_fn *progress, void *user,
                                     struct imrec_checked **out, struct imrec_error *err)
{
    return imrec_checked_open_with(uri, NULL, progress, user, out, err);
}

enum imrec_status imrec_checked_open_with(const char *uri, const struct imrec_reader_options *o,
                                          imrec_progress_fn *progress, void *user,
                                          struct imrec_checked **out, struct imrec_error *err)
{
    struct container_options set = {.path_imgrec = uri, .num_parts = 1};
    *out = NULL;
    IMREC_TRY(reader_options_take(o, &set, err));
    return checked_open_as(&set, progress, user, out, err);
}

void imrec_checked_close(struct imrec_checked *c)
{
    if (c == NULL)
        return;
    leave_shard(c);
    dataset_walk_close(&c->walk);
    imrec_free(c);
}
