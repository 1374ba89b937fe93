/* im2rec/set/writer.c */
#include "im2rec/set/writer.h"
#include "im2rec/item/read_file.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/crc32c.h"
#include "formats/set/image_list.h"
#include "formats/set/set_names.h"
#include "im2rec/item/skip_limit.h"
#include "im2rec/item/skip_report.h"
#include "im2rec/set/journal.h"
#include "im2rec/set/run_ends.h"
#include "im2rec/set/set_files.h"
#include "im2rec/set/stale_parts.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A mark every few MiB, but where storage is slow not so often that it takes more than a
 * twentieth of the time. */
#define MARK_BYTES ((uint64_t)8 << 20)
#define MARK_SHARE 20
#define LINE_MAX   ((size_t)64 << 20)

struct writer {
    struct writer_options o;
    struct set_files files;
    struct journal journal;
    struct tally tally;
    struct shard_writer shard;
    struct sink *list, *report;
    struct buf text, line;      /* of .lst and report */
    struct written_shard *done; /* finished shards */
    uint64_t done_count, done_room;
    uint64_t next, packed, number; /* images, records, the shard being written */
    uint64_t label_width;          /* most labels of a record */
    struct skip_limit limit;
    uint64_t most_skips; /* that the run may have; UINT64_MAX: any number */
    struct shard_shape shape;
    char *tables; /* that JPEGs share, as text; or NULL */
    uint32_t list_crc;
    uint64_t unmarked; /* bytes since the last mark */
    uint64_t quiet_until_ns;
    bool complete;
    bool sound; /* the files hold whole records: a mark may be made */
    bool begun, publishing, committed;
};

/* ---- marks ------------------------------------------------------------------------------ */

static enum imrec_status mark(struct writer *w, struct imrec_error *err)
{
    const uint64_t begin = clock_ns();
    if (w->o.once)
        return IMREC_OK;
    struct journal_mark m = {.next = w->next,
                             .packed = w->packed,
                             .label_width = w->label_width,
                             .shard = {.number = w->number},
                             .list_bytes = w->list != NULL ? sink_size(w->list) : 0,
                             .list_crc = w->list_crc,
                             .complete = w->complete};
    shard_writer_sums(&w->shard, &m.shard);
    IMREC_TRY(shard_writer_sync(&w->shard, err));
    if (w->list != NULL)
        IMREC_TRY(sink_sync(w->list, err));
    IMREC_TRY(journal_mark(&w->journal, &m, err));
    const uint64_t end = clock_ns();
    w->unmarked = 0;
    w->quiet_until_ns = end + (end - begin) * MARK_SHARE;
    return IMREC_OK;
}

static enum imrec_status maybe_mark(struct writer *w, struct imrec_error *err)
{
    return w->unmarked >= MARK_BYTES && shard_writer_is_even(&w->shard) &&
                   clock_ns() >= w->quiet_until_ns
               ? mark(w, err)
               : IMREC_OK;
}

/* ---- shards ----------------------------------------------------------------------------- */

static enum imrec_status
open_shard(struct writer *w, const struct written_shard *from, struct imrec_error *err)
{
    char name[NAME_BYTES];
    set_work_name(&w->files, w->number, name);
    IMREC_TRY(shard_writer_open(&w->shard, w->files.kind, name, &w->shape, from, err));
    shard_writer_stop_with(&w->shard, w->o.stop);
    return IMREC_OK;
}

static enum imrec_status
note_shard(struct writer *w, const struct written_shard *s, struct imrec_error *err)
{
    if (!IMREC_GROW(w->done, w->done_room, w->done_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " shards", w->done_count + 1);
    w->done[w->done_count++] = *s;
    return IMREC_OK;
}

static enum imrec_status end_shard(struct writer *w, struct imrec_error *err)
{
    const struct written_shard nothing = {0};
    IMREC_TRY(stop_check(w->o.stop, err)); /* there may be very many */
    if (!shard_writer_is_open(&w->shard))  /* no record at all: an empty shard all the same */
        IMREC_TRY(open_shard(w, &nothing, err));
    struct written_shard s = {.number = w->number};
    IMREC_TRY(shard_writer_finish(&w->shard, &s, err));
    IMREC_TRY(note_shard(w, &s, err));
    if (!w->o.once)
        IMREC_TRY(journal_end_shard(&w->journal, &s, err));
    w->number++;
    return mark(w, err);
}

enum imrec_status
writer_end_made(struct writer *w, const struct written_shard *s, struct imrec_error *err)
{
    IMREC_TRY(stop_check(w->o.stop, err));
    IMREC_TRY(note_shard(w, s, err));
    IMREC_TRY(journal_end_shard(&w->journal, s, err));
    w->number++;
    return mark(w, err);
}

/* Ends shards until the image belongs into the one being written. */
static enum imrec_status
right_shard(struct writer *w, const struct pack_item *p, struct imrec_error *err)
{
    const uint64_t n = (uint64_t)w->o.pack->shards, size = (uint64_t)w->o.pack->shard_size;
    while (n > 1 && w->number + 1 < n &&
           p->outcome.index >= share_begin(w->o.job->total, w->number + 1, n))
        IMREC_TRY(end_shard(w, err));
    if (size != 0 && shard_writer_is_open(&w->shard) &&
        shard_writer_size(&w->shard) + p->record.n > size)
        return end_shard(w, err);
    return IMREC_OK;
}

static struct bytes line_of(const struct writer *w)
{
    return (struct bytes){w->line.p, w->line.n};
}

/* ---- images --------------------------------------------------------------------------- */

static enum imrec_status
report(struct writer *w, const struct report_line *l, struct imrec_error *err)
{
    w->line.n = 0;
    IMREC_TRY(report_write(&w->line, l, err));
    if (w->report == NULL)
        return IMREC_OK;
    IMREC_TRY(sink_append(w->report, w->line.p, w->line.n, err));
    return sink_append(w->report, "\n", 1, err);
}

/* The first record says how many labels each has, where nothing else does. */
static enum imrec_status
begin_shard(struct writer *w, const struct pack_item *p, struct imrec_error *err)
{
    const struct written_shard nothing = {0};
    if (w->shape.label_count == 0)
        w->shape.label_count = p->label_count;
    return open_shard(w, &nothing, err);
}

/* The shard that the record goes into is open, and has room for it. */
static enum imrec_status make_room(struct writer *w, const struct pack_item *p,
                                   const struct shard_record *r, struct imrec_error *err)
{
    IMREC_TRY(right_shard(w, p, err));
    if (!shard_writer_is_open(&w->shard))
        IMREC_TRY(begin_shard(w, p, err));
    if (w->shard.kind->room == NULL)
        return IMREC_OK;
    IMREC_TRY(w->shard.kind->room(&w->shard, r, err));
    return maybe_mark(w, err);
}

static enum imrec_status
put_record(struct writer *w, const struct pack_item *p, struct imrec_error *err)
{
    const float *labels = (const float *)(const void *)p->labels.p;
    char room[IMAGE_PATH_MAX];
    const struct image_list_entry e = {p->id, labels, p->label_count,
                                       file_public_name(p->path, room)};
    const struct shard_record r = {.id = p->id,
                                   .labels = labels,
                                   .label_count = p->label_count,
                                   .path = p->path,
                                   .bytes = {p->record.p, p->record.n},
                                   .crc = p->crc};
    if (w->o.marks == NULL)
        IMREC_TRY(make_room(w, p, &r, err));
    w->text.n = 0;
    IMREC_TRY(image_list_write(&w->text, &e, err));
    IMREC_TRY(sink_append(w->list, w->text.p, w->text.n, err));
    if (w->o.marks == NULL)
        IMREC_TRY(shard_writer_put(&w->shard, &r, err));
    w->list_crc = crc32c(w->list_crc, w->text.p, w->text.n);
    w->packed++;
    if (w->o.pack->pack_label && p->label_count > w->label_width)
        w->label_width = p->label_count;
    return IMREC_OK;
}

/* Counts an image that is in neither the list nor a shard, and ends a run that has too many. */
static enum imrec_status count_skip(struct writer *w, const struct outcome *o,
                                    const struct report_line *l, struct imrec_error *err)
{
    tally_add(&w->tally, o);
    tally_note_skip(&w->tally, line_of(w));
    if (w->tally.skipped <= w->most_skips)
        return IMREC_OK;
    return end_too_many(&w->tally, w->o.pack->max_skipped, w->most_skips,
                        w->o.once || w->o.planned ? "" : "; resume tries them again", l, err);
}

/* Pixels have no bytes of their own; a sound is never encoded. */
static bool was_encoded(const struct imrec_pack_options *o, const struct outcome *of)
{
    if (o->pixels || strcmp(of->kind, "wav") == 0)
        return false;
    return !o->pass_through || of->rewritten ||
           strncmp(of->kind, "pixels ", strlen("pixels ")) == 0;
}

static void count(struct writer *w, struct outcome o)
{
    o.encoded = was_encoded(w->o.pack, &o);
    tally_add(&w->tally, &o);
}

static enum imrec_status put(struct writer *w, const struct pack_item *p, struct imrec_error *err)
{
    const struct outcome *o = &p->outcome;
    const struct report_line l = {p->path, p->why, o->reason, p->line, o->warnings};
    const bool told = o->reason != REASON_NONE || o->warnings != 0;
    if (told)
        IMREC_TRY(report(w, &l, err));
    if (o->reason != REASON_NONE && w->o.pack->on_error == IMREC_ON_ERROR_STOP)
        return end_stopped_at(&l, err);
    if (o->reason == REASON_NONE)
        IMREC_TRY(put_record(w, p, err));
    if (!w->o.once)
        IMREC_TRY(journal_image(&w->journal, o, told ? line_of(w) : (struct bytes){0}, err));
    w->next++;
    w->unmarked += p->record.n + 64;
    if (o->reason != REASON_NONE)
        IMREC_TRY(count_skip(w, o, &l, err));
    else
        count(w, *o);
    return maybe_mark(w, err);
}

enum imrec_status writer_put(struct writer *w, const struct pack_item *p, struct imrec_error *err)
{
    const enum imrec_status st = put(w, p, err);
    w->sound = st == IMREC_OK || st == IMREC_ERR_DATA; /* else maybe half a record is written */
    return st;
}

/* The skips of the scan of a folder. Share 0 reports them. */
static enum imrec_status put_scan_skips(struct writer *w, struct imrec_error *err)
{
    const struct scan *s = &w->o.job->scan;
    for (size_t i = 0; w->o.pack->part.index == 0 && i < s->skip_count; i++) {
        const struct report_line l =
            report_line_of(s->skips[i].path, s->skips[i].why, s->skips[i].reason);
        const struct outcome o = {.reason = l.reason, .class_index = -1};
        IMREC_TRY(report(w, &l, err));
        if (w->o.pack->on_error == IMREC_ON_ERROR_STOP)
            return end_stopped_at(&l, err);
        IMREC_TRY(count_skip(w, &o, &l, err));
    }
    return IMREC_OK;
}

/* ---- opening ---------------------------------------------------------------------------- */

static enum imrec_status
visit_image(void *user, const struct outcome *o, struct bytes line, struct imrec_error *err)
{
    struct writer *w = user;
    struct outcome of = *o; /* the journal does not know it */
    of.unlabelled = w->o.job->unlabelled;
    count(w, of);
    if (o->reason != REASON_NONE)
        tally_note_skip(&w->tally, line);
    if (w->report == NULL || line.n == 0)
        return IMREC_OK;
    IMREC_TRY(sink_append(w->report, line.p, line.n, err));
    return sink_append(w->report, "\n", 1, err);
}

static enum imrec_status
visit_shard(void *user, const struct written_shard *s, struct imrec_error *err)
{
    return note_shard(user, s, err);
}

static enum imrec_status keep_tables(struct writer *w, struct bytes text, struct imrec_error *err)
{
    imrec_free(w->tables);
    w->tables = imrec_zalloc(text.n + 1, 1);
    if (w->tables == NULL)
        return IMREC_NO_MEMORY(err, "no memory for Huffman tables");
    memcpy(w->tables, text.p, text.n);
    return IMREC_OK;
}

static enum imrec_status visit_tables(void *user, struct bytes text, struct imrec_error *err)
{
    return keep_tables(user, text, err);
}

static enum imrec_status begin(struct writer *w, struct imrec_error *err)
{
    const struct job *j = w->o.job;
    w->begun = true;
    IMREC_TRY(
        journal_begin(w->files.journal, j->fingerprint, j->total, w->files.kind, &w->journal, err));
    IMREC_TRY(sink_open(w->files.list, &w->list, err));
    sink_stop_with(w->list, w->o.stop);
    return mark(w, err);
}

static enum imrec_status go_on(struct writer *w, uint64_t *done, struct imrec_error *err)
{
    const struct journal_visitor v = {w, visit_image, visit_shard, visit_tables, w->o.stop};
    const struct job *j = w->o.job;
    struct journal_mark m;
    const uint64_t most =
        w->most_skips == UINT64_MAX ? UINT64_MAX : w->most_skips - w->tally.skipped;
    const enum imrec_status st =
        journal_resume(w->files.journal, j->fingerprint, j->total, most, &v, &w->journal, &m, err);
    if (st == IMREC_END) /* it ended before its first line was complete */
        return begin(w, err);
    IMREC_TRY(st);
    *done = w->next = m.next;
    w->packed = m.packed;
    w->label_width = m.label_width > 1 ? m.label_width : 1;
    w->number = m.shard.number;
    w->list_crc = (uint32_t)m.list_crc;
    w->complete = m.complete != 0;
    if (m.packed != 0 && w->shape.label_count == 0)
        w->shape.label_count = (uint32_t)w->label_width;
    if (m.complete && w->tally.skipped > w->most_skips)
        return end_too_many(&w->tally, w->o.pack->max_skipped, w->most_skips,
                            ": the files are written and lack their names only, which resume gives "
                            "them with a larger max_skipped",
                            NULL, err);
    if (m.complete)
        return IMREC_OK;
    IMREC_TRY(m.next == 0 ? sink_open(w->files.list, &w->list, err)
                          : sink_resume(w->files.list, m.list_bytes, &w->list, err));
    sink_stop_with(w->list, w->o.stop);
    return m.shard.records != 0 ? open_shard(w, &m.shard, err) : IMREC_OK;
}

/* A share of nobody knows how many is looked at in the end. */
static enum imrec_status set_limit(struct writer *w, struct imrec_error *err)
{
    const bool unknown = w->o.once && w->o.job->total == 0;
    IMREC_TRY(skip_limit_parse(w->o.pack->max_skipped, &w->limit, err));
    w->most_skips = unknown ? skip_limit_of_some(&w->limit)
                            : skip_limit_of(&w->limit, job_found(w->o.job, w->o.pack));
    return IMREC_OK;
}

static enum imrec_status start(struct writer *w, uint64_t *done, struct imrec_error *err)
{
    const struct class_list *classes = job_classes(w->o.job);
    const struct imrec_pack_options *o = w->o.pack;
    IMREC_TRY(set_limit(w, err));
    IMREC_TRY(set_files_init(w->o.task, o, &w->files, err));
    w->files.marks = w->o.marks;
    w->files.stop = w->o.once ? NULL : w->o.stop; /* what has a name already cannot be taken back */
    IMREC_TRY(set_check_format(&w->files, err));
    IMREC_TRY(tally_init(&w->tally, classes != NULL ? classes->count : 0, err));
    bool unfinished;
    IMREC_TRY(set_is_unfinished(&w->files, &unfinished, err));
    const bool resumes = o->resume && unfinished;
    if (unfinished && !o->resume && !o->force)
        return IMREC_REFUSE(err, "%s.part exists: a run was interrupted; %sforce begins again",
                            w->files.journal, w->o.once ? "" : "resume continues it, ");
    w->files.fresh = !resumes && !o->force;
    if (w->files.fresh)
        IMREC_TRY(set_check_free(&w->files, err));
    if (o->report[0] != '\0')
        IMREC_TRY(sink_open(o->report, &w->report, err));
    IMREC_TRY(put_scan_skips(w, err));
    if (resumes)
        return go_on(w, done, err);
    if (o->force) /* an old set remains until the new one is complete, where that cannot be resumed
                   */
        IMREC_TRY(w->o.once ? stale_parts_remove(w->files.rec, w->files.kind, err)
                            : set_clear(&w->files, err));
    return begin(w, err);
}

enum imrec_status writer_open(const struct writer_options *o, struct writer **out, uint64_t *done,
                              struct imrec_error *err)
{
    struct writer *w = *out = imrec_zalloc(1, sizeof(*w));
    *done = 0;
    if (w == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write");
    w->o = *o;
    w->shape = set_shape_of(o->pack, o->job);
    w->label_width = 1;
    w->text = BUF_INIT(LINE_MAX);
    w->line = BUF_INIT(LINE_MAX);
    const enum imrec_status st = start(w, done, err);
    w->sound = st == IMREC_OK;
    if (st == IMREC_OK)
        return st;
    if (st == IMREC_ERR_ARGUMENT) { /* nothing was begun */
        sink_abort(w->report);
        w->report = NULL;
    }
    writer_leave(w);
    writer_free(w);
    *out = NULL;
    return st;
}

const char *writer_tables(const struct writer *w)
{
    return w->tables;
}

enum imrec_status writer_take_tables(struct writer *w, const char *text, struct imrec_error *err)
{
    if (w->tables != NULL)
        return IMREC_OK;
    IMREC_TRY(keep_tables(w, (struct bytes){(const uint8_t *)text, strlen(text)}, err));
    if (w->o.once)
        return IMREC_OK;
    IMREC_TRY(journal_tables(&w->journal, text, err));
    return mark(w, err);
}

/* ---- ending ----------------------------------------------------------------------------- */

static enum imrec_status commit_report(struct writer *w, struct imrec_error *err)
{
    struct sink *gone = w->report;
    w->report = NULL;
    return gone != NULL ? sink_commit(gone, err) : IMREC_OK;
}

static enum imrec_status finish_all(struct writer *w, struct imrec_error *err)
{
    const uint64_t n = (uint64_t)w->o.pack->shards;
    struct sink *list = w->list;
    while (n > 1 ? w->number < n : shard_writer_is_open(&w->shard) || w->done_count == 0)
        IMREC_TRY(end_shard(w, err));
    const uint64_t list_bytes = sink_size(list);
    w->list = NULL;
    IMREC_TRY(sink_finish(list, err));
    const struct set_totals t = {.shards = w->done,
                                 .shard_count = w->done_count,
                                 .records = w->packed,
                                 .skipped = w->tally.skipped,
                                 .label_width = w->label_width,
                                 .unlabelled = w->tally.unlabelled,
                                 .tables = w->tables,
                                 .list_bytes = list_bytes,
                                 .list_crc = w->list_crc};
    IMREC_TRY(set_write_totals(&w->files, w->o.job, w->o.pack, &t, err));
    w->complete = true;
    return mark(w, err);
}

enum imrec_status writer_commit(struct writer *w, struct imrec_error *err)
{
    w->sound = false; /* from here on a resume begins at the last mark */
    if (w->packed == 0) {
        sink_abort(w->list);
        w->list = NULL;
        journal_remove(&w->journal);
        return end_none_packed(&w->tally, err);
    }
    const uint64_t most = skip_limit_of(&w->limit, w->next);
    if (w->o.once && w->tally.skipped > most)
        return end_too_many(&w->tally, w->o.pack->max_skipped, most, "", NULL, err);
    if (!w->complete)
        IMREC_TRY(finish_all(w, err));
    IMREC_TRY(commit_report(w, err));
    w->publishing = true;
    IMREC_TRY(w->o.once && w->o.pack->force ? set_replace(&w->files, w->done_count, err)
                                            : set_publish(&w->files, w->done_count, err));
    w->committed = true;
    journal_remove(&w->journal);
    return IMREC_OK;
}

void writer_leave(struct writer *w)
{
    if (w->sound && shard_writer_is_even(&w->shard))
        (void)mark(w, NULL);
    (void)commit_report(w, NULL);
    shard_writer_leave(&w->shard);
    sink_leave(w->list);
    w->list = NULL;
    journal_leave(&w->journal);
    if (w->o.once && w->begun && !w->committed)
        set_discard(&w->files, w->number + 1, w->publishing ? w->done_count : 0);
}

uint64_t writer_shards(const struct writer *w)
{
    return w->done_count;
}

void writer_result(const struct writer *w, struct imrec_pack_result *out)
{
    tally_result(&w->tally, out);
    out->shards = w->done_count;
    out->bytes = shard_writer_is_open(&w->shard) ? shard_writer_size(&w->shard) : 0;
    for (uint64_t i = 0; i < w->done_count; i++)
        out->bytes += w->done[i].rec_bytes;
}

void writer_free(struct writer *w)
{
    if (w == NULL)
        return;
    tally_free(&w->tally);
    buf_free(&w->text);
    buf_free(&w->line);
    IMREC_FREE(w->done, w->tables, w);
}
