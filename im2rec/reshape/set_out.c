/* im2rec/reshape/set_out.c */
#include "im2rec/reshape/set_out.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "formats/crc32c.h"
#include "formats/set/image_list.h"
#include "formats/set/set_names.h"
#include "im2rec/set/stale_parts.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMED_MAX ((size_t)3 << 29)
#define LINE_MAX   ((size_t)64 << 20)

enum imrec_status set_out_open(const char *path, const struct set_out_options *o,
                               struct set_out *out, struct imrec_error *err)
{
    const struct imrec_pack_task task = {.out = path};
    *out = (struct set_out){.text = BUF_INIT(LINE_MAX),
                            .framed = BUF_INIT(FRAMED_MAX),
                            .expected = o->expected,
                            .stop = o->stop,
                            .label_width = 1};
    imrec_pack_options_init(&out->o);
    out->o.shards = o->shards;
    out->o.shard_size = o->shard_size;
    IMREC_TRY(set_files_init(&task, &out->o, &out->files, err));
    if (!o->replaces)
        IMREC_TRY(set_lock(path, &out->lock, err));
    IMREC_TRY(set_check_format(&out->files, err));
    if (o->numbered) {
        out->files.numbered = true;
        out->files.count = 0;
    }
    bool unfinished = false;
    if (!o->force && !o->replaces)
        IMREC_TRY(set_is_unfinished(&out->files, &unfinished, err));
    if (unfinished)
        return IMREC_REFUSE(err, "%s.part is there: im2rec was interrupted; force begins again",
                            out->files.journal);
    out->files.fresh = !o->force && !o->replaces;
    if (out->files.fresh)
        IMREC_TRY(set_check_free(&out->files, err));
    if (o->force && !o->replaces)
        IMREC_TRY(set_clear(&out->files, err));
    out->replaces = o->replaces;
    IMREC_TRY(sink_open(out->files.list, &out->list, err));
    out->begun = true;
    return IMREC_OK;
}

/* ---- shards ----------------------------------------------------------------------------- */

static enum imrec_status open_shard(struct set_out *s, struct imrec_error *err)
{
    const struct written_shard nothing = {0};
    const struct shard_shape shape = {.options = &s->o};
    char name[NAME_BYTES];
    set_work_name(&s->files, s->done_count, name);
    IMREC_TRY(shard_writer_open(&s->shard, s->files.kind, name, &shape, &nothing, err));
    shard_writer_stop_with(&s->shard, s->stop);
    return IMREC_OK;
}

enum imrec_status set_out_end_shard(struct set_out *s, struct imrec_error *err)
{
    if (!shard_writer_is_open(&s->shard))
        IMREC_TRY(open_shard(s, err));
    if (!IMREC_GROW(s->done, s->done_room, s->done_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " shards", s->done_count + 1);
    struct written_shard *sums = &s->done[s->done_count];
    *sums = (struct written_shard){.number = s->done_count};
    s->done_count++;
    return shard_writer_finish(&s->shard, sums, err);
}

/* The shard that the next record, of `bytes` in its frame, goes to. */
static enum imrec_status right_shard(struct set_out *s, uint64_t bytes, struct imrec_error *err)
{
    const uint64_t n = (uint64_t)s->o.shards, size = (uint64_t)s->o.shard_size;
    while (n > 1 && s->done_count + 1 < n &&
           s->records >= share_begin(s->expected, s->done_count + 1, n))
        IMREC_TRY(set_out_end_shard(s, err));
    if (size != 0 && shard_writer_is_open(&s->shard) && shard_writer_size(&s->shard) + bytes > size)
        IMREC_TRY(set_out_end_shard(s, err));
    return shard_writer_is_open(&s->shard) ? IMREC_OK : open_shard(s, err);
}

/* What is written of the record: its old frame and checksum, or new ones. */
static enum imrec_status frame_of(struct set_out *s, const struct set_out_record *r,
                                  struct shard_record *out, struct imrec_error *err)
{
    out->bytes = r->framed;
    out->crc = r->crc;
    if (r->framed.n != 0)
        return IMREC_OK;
    s->framed.n = 0;
    IMREC_TRY(s->files.kind->frame(r->record, &s->framed, &out->crc, err));
    out->bytes = (struct bytes){s->framed.p, s->framed.n};
    return IMREC_OK;
}

enum imrec_status
set_out_put(struct set_out *s, const struct set_out_record *r, struct imrec_error *err)
{
    const struct image_list_entry line = {
        r->id, r->labels, r->label_count, {(const uint8_t *)r->path, strlen(r->path)}};
    struct shard_record put = {.id = r->id};
    IMREC_TRY(frame_of(s, r, &put, err));
    IMREC_TRY(right_shard(s, put.bytes.n, err));
    s->text.n = 0;
    IMREC_TRY(image_list_write(&s->text, &line, err));
    IMREC_TRY(sink_append(s->list, s->text.p, s->text.n, err));
    s->list_crc = crc32c(s->list_crc, s->text.p, s->text.n);
    IMREC_TRY(shard_writer_put(&s->shard, &put, err));
    s->records++;
    if (r->label_count > s->label_width)
        s->label_width = r->label_count;
    return IMREC_OK;
}

/* ---- the end ------------------------------------------------------------------------------ */

enum imrec_status set_out_commit(struct set_out *s, const struct class_list *classes,
                                 const struct set_out_card *card, struct imrec_error *err)
{
    const uint64_t shards = (uint64_t)s->o.shards;
    struct job job = {.has_given = classes != NULL};
    if (classes != NULL)
        job.given = *classes; /* borrowed */
    while (shards > 1 ? s->done_count < shards
                      : shard_writer_is_open(&s->shard) || s->done_count == 0)
        IMREC_TRY(set_out_end_shard(s, err));
    struct sink *list = s->list;
    const uint64_t list_bytes = sink_size(list);
    s->list = NULL;
    IMREC_TRY(sink_finish(list, err));
    const struct set_totals t = {.shards = s->done,
                                 .shard_count = s->done_count,
                                 .records = s->records,
                                 .label_width = s->label_width,
                                 .list_bytes = list_bytes,
                                 .list_crc = s->list_crc,
                                 .skipped = card->skipped,
                                 .options = card->options,
                                 .option_count = card->option_count};
    IMREC_TRY(set_write_totals(&s->files, &job, &s->o, &t, err));
    s->begun = false; /* complete: from here on nothing is taken back */
    return s->replaces ? set_replace(&s->files, s->done_count, err)
                       : set_publish(&s->files, s->done_count, err);
}

/* "NAME.part" of a file of the set. */
static enum imrec_status remove_part(const char *name)
{
    char part[NAME_BYTES + 8];
    snprintf(part, sizeof(part), "%s.part", name);
    return sink_remove(part, NULL);
}

/* The first failure is what counts: what cannot be removed stays, under names of no set. */
static void remove_parts(const struct set_files *f)
{
    char classes[NAME_BYTES], manifest[NAME_BYTES];
    set_name(f->rec, SET_CLASSES, classes);
    set_name(f->rec, SET_MANIFEST, manifest);
    if (stale_parts_remove(f->rec, f->kind, NULL) == IMREC_OK && remove_part(f->list) == IMREC_OK &&
        remove_part(classes) == IMREC_OK && remove_part(manifest) == IMREC_OK)
        return;
    imrec_log(IMREC_LOG_WARNING, "files of %s under temporary names cannot be removed", f->rec);
}

void set_out_close(struct set_out *s)
{
    shard_writer_leave(&s->shard);
    sink_abort(s->list);
    if (s->begun)
        remove_parts(&s->files);
    buf_free(&s->text);
    buf_free(&s->framed);
    imrec_free(s->done);
    lock_drop(s->lock);
    *s = (struct set_out){0};
}
