/* dataset/dataset_walk.c - every record of a data set in file order, damage reported as findings.
 */
#include "dataset/dataset_walk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/shown.h"
#include "dataset/record_reader.h"
#include "formats/recordio/magic_scan.h"
#include "formats/recordio/recordio.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS_A_CALL = 256 }; /* of the progress callback */

enum imrec_status dataset_walk_open(const struct container_options *o, imrec_progress_fn *progress,
                                    void *user, struct dataset_walk *out, struct imrec_error *err)
{
    *out = (struct dataset_walk){.progress = progress, .user = user};
    IMREC_TRY(imrec_reader_open_as(o, &out->reader, err));
    out->kind = out->reader->container.kind;
    const enum imrec_status st = dataset_files_of(&out->reader->container, &out->files, err);
    if (st == IMREC_OK)
        out->at.total_bytes = out->files.begin[out->files.shards.count];
    else
        dataset_walk_close(out);
    return st;
}

static bool show(struct dataset_walk *w)
{
    w->called_at = w->at.done;
    return w->progress == NULL || w->progress(w->user, &w->at);
}

/* The finding names shard and bytes itself: its reason begins after them. */
static void note_damage(struct dataset_walk *w)
{
    struct imrec_finding *f = &w->damage;
    *f = (struct imrec_finding){.kind = w->kind->apart ? IMREC_FOUND_FILE : IMREC_FOUND_DAMAGE};
    imrec_reader_damage(w->reader, &f->shard, &f->begin, &f->end);
    f->uri = f->shard < w->files.shards.count ? w->files.shards.uri[f->shard] : "";
    f->reason = w->kind->own_index ? imrec_error_after(&w->why, "%.160s: ", f->uri)
                                   : imrec_error_after(&w->why,
                                                       "%s: bytes %" PRIu64 " to %" PRIu64
                                                       " hold no readable record: ",
                                                       f->uri, f->begin, f->end - 1);
}

/* Bytes of the shard that a record of one part takes. */
static uint64_t framed_bytes(const struct imrec_record *r)
{
    return RECORDIO_PART_HEAD_BYTES + ((uint64_t)r->size + 3) / 4 * 4;
}

/* Words of the record that are the magic: places where parts were joined, unless a damaged
 * length has swallowed records. */
static size_t count_magics(const struct imrec_record *r)
{
    const uint8_t *p = r->data;
    size_t n = 0;
    for (size_t i = magic_scan(p, r->size); i < r->size; n++)
        i += 4 + magic_scan(p + i + 4, r->size - i - 4);
    return n;
}

/* Where in its own bytes the record has swallowed another one; 0: nowhere. */
static size_t look_inside(const uint8_t *framed, size_t n, uint64_t at)
{
    struct recordio_span span;
    if (recordio_measure(framed, n, at, &span, NULL) != IMREC_OK)
        return 0;
    const size_t first = recordio_swallowed(framed, &span);
    return first < span.bytes ? first : 0;
}

static enum imrec_status find_swallowed(struct dataset_walk *w, const struct imrec_record *r,
                                        size_t *inside, struct imrec_error *err)
{
    struct source *s;
    const size_t magics = count_magics(r);
    *inside = 0;
    if (magics == 0)
        return IMREC_OK;
    /* Every part after the first has a head of 8 bytes in place of 4 of the record. */
    IMREC_TRY(source_open(w->files.shards.uri[r->shard], &s, err));
    const uint64_t most = framed_bytes(r) + 4 * (uint64_t)magics;
    const uint64_t left = s->size > r->offset ? s->size - r->offset : 0;
    const size_t n = (size_t)(most < left ? most : left);
    uint8_t *framed = imrec_realloc(NULL, n + 1, 1);
    enum imrec_status st = framed != NULL
                               ? source_read(s, r->offset, framed, n, err)
                               : imrec_error_at(err, IMREC_ERR_NO_MEMORY, r->offset,
                                                "no memory for a record of %zu bytes", n);
    if (st == IMREC_OK)
        *inside = look_inside(framed, n, r->offset);
    imrec_free(framed);
    source_close(s);
    return st;
}

/* The record is damage up to the first one that it swallowed; reading continues there. */
static enum imrec_status
leave_swallowing(struct dataset_walk *w, const struct imrec_record *r, size_t inside)
{
    w->damage = (struct imrec_finding){
        .kind = IMREC_FOUND_DAMAGE,
        .uri = w->files.shards.uri[r->shard],
        .shard = r->shard,
        .begin = r->offset,
        .end = r->offset + inside,
        .reason = "the record's length is damaged: another record begins inside it"};
    IMREC_TRY(imrec_reader_seek(w->reader, r->shard, w->damage.end, &w->why));
    imrec_error_at(&w->why, IMREC_ERR_DATA, r->offset,
                   "%s: bytes %" PRIu64 " to %" PRIu64 " hold no readable record: %s",
                   w->damage.uri, w->damage.begin, w->damage.end - 1, w->damage.reason);
    imrec_error_file(&w->why, w->damage.uri);
    return IMREC_ERR_DATA;
}

static enum imrec_status next(struct dataset_walk *w, struct imrec_record *out)
{
    size_t inside = 0;
    const enum imrec_status st = imrec_reader_next(w->reader, out, &w->why);
    if (st == IMREC_ERR_DATA)
        note_damage(w);
    if (st != IMREC_OK)
        return st;
    if (w->kind->side_files) /* framed */
        IMREC_TRY(find_swallowed(w, out, &inside, &w->why));
    if (inside != 0)
        return leave_swallowing(w, out, inside);
    w->at.done++;
    w->at.bytes = w->files.begin[out->shard] + dataset_record_end(w, out);
    return IMREC_OK;
}

uint64_t dataset_record_end(const struct dataset_walk *w, const struct imrec_record *r)
{
    return w->kind->own_index ? container_unit(&w->reader->container, w->reader->table.unit - 1).end
                              : r->offset + framed_bytes(r);
}

enum imrec_status
dataset_walk_next(struct dataset_walk *w, struct imrec_record *out, struct imrec_error *err)
{
    const enum imrec_status st = next(w, out);
    if (st == IMREC_END)
        w->at.bytes = w->at.total_bytes;
    if ((st == IMREC_END || w->at.done - w->called_at >= RECORDS_A_CALL) && !show(w))
        return imrec_fail(err, IMREC_ERR_CANCELLED, "ended by its caller after %" PRIu64 " records",
                          w->at.done);
    if (st != IMREC_OK && st != IMREC_END && err != NULL)
        *err = w->why;
    return st;
}

void dataset_walk_close(struct dataset_walk *w)
{
    imrec_reader_close(w->reader);
    dataset_files_close(&w->files);
    w->reader = NULL;
}
