/* iter/dataset_repair.c - every intact record of damaged shards into one new shard. */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/crc32c.h"
#include "imrec/dataset.h"
#include "iter/dataset_check.h"
#include "iter/verify_read.h"

#include <string.h>

struct repair {
    struct imrec_repair_options o;
    struct imrec_repair_result *result;
    struct verify_reader reader;
    struct verify_batch batch;
    struct imrec_writer *writer;
    struct codec *codec; /* NULL: pictures are not looked at */
};

void imrec_repair_options_init(struct imrec_repair_options *o)
{
    *o = (struct imrec_repair_options){.struct_size = sizeof(*o)};
}

static void tell(const struct repair *r, const struct verify_item *i)
{
    const struct imrec_finding f = {.kind = i->kind,
                                    .uri = r->reader.walk.files.shards.uri[i->shard],
                                    .shard = i->shard,
                                    .begin = i->begin,
                                    .end = i->end,
                                    .id = i->id,
                                    .reason = i->why.message};
    if (r->o.finding != NULL)
        r->o.finding(r->o.user, &f);
}

/* Is the record what was packed, as far as the checksums tell? */
static bool matches(const struct repair *r, struct verify_item *i)
{
    i->kind = IMREC_FOUND_CHECKSUM;
    if (r->o.ignore_checksums || (i->framed_bytes == 0 && !i->unlisted))
        return true;
    if (i->summed && crc32c(0, r->batch.arena + i->framed, i->framed_bytes) == i->crc)
        return true;
    (void)imrec_error_at(&i->why, IMREC_ERR_CORRUPT, i->begin, "%s",
                         i->unlisted ? "the checksums have no record here"
                                     : "the record differs from its checksum");
    return false;
}

/* Else i->kind and i->why say why not. */
static bool intact(const struct repair *r, struct verify_item *i)
{
    uint32_t warnings;
    if (!matches(r, i))
        return false;
    if (r->codec == NULL || !i->is_image)
        return true;
    const struct bytes image = {r->batch.arena + i->record + i->image, i->image_bytes};
    i->kind = IMREC_FOUND_PICTURE;
    return check_picture(r->codec, image, CHECK_MAX_PIXELS, &warnings, &i->why) == IMREC_OK;
}

static enum imrec_status
keep(struct repair *r, const struct verify_item *i, struct imrec_error *err)
{
    const bool by_id = r->o.keys == IMREC_KEYS_ID && i->is_image;
    IMREC_TRY(imrec_writer_append(r->writer, by_id ? i->id : r->result->kept,
                                  r->batch.arena + i->record, i->record_bytes, err));
    r->result->kept++;
    r->result->kept_bytes += i->record_bytes;
    return IMREC_OK;
}

static enum imrec_status take(struct repair *r, struct verify_item *i, struct imrec_error *err)
{
    if (i->is_record && intact(r, i))
        return keep(r, i, err);
    if (i->is_record) {
        r->result->dropped++;
    } else if (i->kind == IMREC_FOUND_DAMAGE) {
        r->result->damaged_ranges++;
        r->result->lost_bytes += i->end - i->begin;
    } else {
        return IMREC_OK; /* an old index or checksums that disagree lose nothing */
    }
    tell(r, i);
    return IMREC_OK;
}

static enum imrec_status take_all(struct repair *r, struct imrec_error *err)
{
    while (!r->reader.ended) {
        IMREC_TRY(verify_reader_fill(&r->reader, &r->batch, err));
        for (size_t i = 0; i < r->batch.count; i++)
            IMREC_TRY(take(r, &r->batch.item[i], err));
    }
    return IMREC_OK;
}

static enum imrec_status open_all(struct repair *r, const char *path, struct imrec_error *err)
{
    const struct uri_list *in = &r->reader.walk.files.shards;
    if (r->reader.walk.cbf)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "%.300s is a CBF file, and repair writes records; export gets its "
                              "pictures out",
                              in->uri[0]);
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->uri[i], path) == 0)
            return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                                  "%s is input and output; give the new shard another name", path);
    char *idx = dataset_path(path, SET_INDEX);
    if (idx == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a path");
    const enum imrec_status st = imrec_writer_open(path, idx, r->o.force, &r->writer, err);
    imrec_free(idx);
    if (st != IMREC_OK || !r->o.decode)
        return st;
    return codec_new(&r->codec, err);
}

enum imrec_status imrec_dataset_repair(const char *uri, const char *path,
                                       const struct imrec_repair_options *o,
                                       struct imrec_repair_result *out, struct imrec_error *err)
{
    struct repair r = {.o = *o, .result = out};
    *out = (struct imrec_repair_result){0};
    IMREC_TRY(verify_reader_open(uri, o->progress, o->user, &r.reader, err));
    enum imrec_status st = open_all(&r, path, err);
    if (st == IMREC_OK)
        st = take_all(&r, err);
    if (st == IMREC_OK) {
        struct imrec_writer *writer = r.writer;
        r.writer = NULL; /* gone, also on failure */
        st = imrec_writer_commit(writer, err);
    }
    imrec_writer_abort(r.writer);
    codec_free(r.codec);
    verify_batch_free(&r.batch);
    verify_reader_close(&r.reader);
    return st;
}
