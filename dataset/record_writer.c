/* dataset/record_writer.c - imrec_writer_*: a shard and its index, written record by record.
 *
 * All files are made durable before any gets its name, the shard last: a shard with its final name
 * has its index and its checksums next to it. */
#include "dataset/record_writer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "dataset/given_fields.h"
#include "formats/crc32c.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "formats/set/checksums.h"
#include "formats/set/set_names.h"
#include "storage/sink.h"

#include <string.h>

#define FRAME_MOST ((size_t)1 << 31) /* a record of 2^29 bytes, cut at every word, is smaller */

enum { REC, IDX, CRC, CLASSES, FILES };

struct imrec_writer {
    struct sink *sink[FILES];
    char *uri[FILES]; /* NULL without an index, without checksums, without a class list */
    struct checksums_writer sums;
    struct buf frame, line, record;
};

static enum imrec_status
open_one(struct imrec_writer *w, int file, const char *uri, bool force, struct imrec_error *err)
{
    bool there = false;
    if (!force)
        IMREC_TRY(sink_exists(uri, &there, err));
    if (there)
        return IMREC_REFUSE(err, "%s: exists already, and is not replaced unless that is asked for",
                            uri);
    w->uri[file] = imrec_joined(uri, 0, uri);
    if (w->uri[file] == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write %s", uri);
    return sink_open(uri, &w->sink[file], err);
}

static enum imrec_status
begin_checksums(struct imrec_writer *w, const char *path, bool force, struct imrec_error *err)
{
    IMREC_TRY(open_one(w, CRC, path, force, err));
    IMREC_TRY(checksums_begin(&w->sums, &w->line, err));
    return sink_append(w->sink[CRC], w->line.p, w->line.n, err);
}

enum imrec_status record_writer_open(const char *path, const char *idx_path, const char *crc_path,
                                     bool force, struct imrec_writer **out, struct imrec_error *err)
{
    *out = NULL;
    struct imrec_writer *w = imrec_zalloc(1, sizeof(*w));
    if (w == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write %s", path);
    w->frame = BUF_INIT(FRAME_MOST);
    w->record = w->line = BUF_INIT(FRAME_MOST);
    enum imrec_status st = open_one(w, REC, path, force, err);
    if (st == IMREC_OK && idx_path != NULL)
        st = open_one(w, IDX, idx_path, force, err);
    if (st == IMREC_OK && crc_path != NULL)
        st = begin_checksums(w, crc_path, force, err);
    if (st != IMREC_OK)
        imrec_writer_abort(w);
    else
        *out = w;
    return st;
}

enum imrec_status record_writer_classes(struct imrec_writer *w, const char *path, bool force,
                                        struct bytes text, struct imrec_error *err)
{
    IMREC_TRY(open_one(w, CLASSES, path, force, err));
    return sink_append(w->sink[CLASSES], text.p, text.n, err);
}

enum imrec_status imrec_writer_open(const char *path, const char *idx_path, bool force,
                                    struct imrec_writer **out, struct imrec_error *err)
{
    return record_writer_open(path, idx_path, NULL, force, out, err);
}

enum imrec_status record_writer_put(struct imrec_writer *w, uint64_t key, struct bytes framed,
                                    uint32_t crc, struct imrec_error *err)
{
    const uint64_t offset = sink_size(w->sink[REC]);
    IMREC_TRY(sink_append(w->sink[REC], framed.p, framed.n, err));
    w->line.n = 0;
    if (w->sink[CRC] != NULL) {
        IMREC_TRY(checksums_add(&w->sums, framed.n, crc, &w->line, err));
        IMREC_TRY(sink_append(w->sink[CRC], w->line.p, w->line.n, err));
    }
    if (w->sink[IDX] == NULL)
        return IMREC_OK;
    w->line.n = 0;
    IMREC_TRY(record_index_write(&w->line, key, offset, err));
    return sink_append(w->sink[IDX], w->line.p, w->line.n, err);
}

enum imrec_status written_image_frame(const struct written_image *i, struct buf *record,
                                      struct buf *framed, struct imrec_error *err)
{
    record->n = framed->n = 0;
    IMREC_TRY(image_record_head(record, i->labels, i->label_count, false, i->id, i->id2, err));
    IMREC_TRY(buf_append(record, i->image.p, i->image.n, err));
    if (i->field_count != 0) /* the mask is one of them */
        IMREC_TRY(given_fields_append(record, i->fields, i->field_count, err));
    else if (i->mask.p != NULL)
        IMREC_TRY(given_mask_append(record, i->mask, err));
    return recordio_frame((struct bytes){record->p, record->n}, framed, err);
}

static enum imrec_status put_framed(struct imrec_writer *w, uint64_t key, struct imrec_error *err)
{
    const uint32_t crc = w->sink[CRC] != NULL ? crc32c(0, w->frame.p, w->frame.n) : 0;
    return record_writer_put(w, key, (struct bytes){w->frame.p, w->frame.n}, crc, err);
}

enum imrec_status imrec_writer_append(struct imrec_writer *w, uint64_t key, const void *bytes,
                                      size_t n, struct imrec_error *err)
{
    w->frame.n = 0;
    IMREC_TRY(recordio_frame((struct bytes){bytes, n}, &w->frame, err));
    return put_framed(w, key, err);
}

static enum imrec_status append_image(struct imrec_writer *w, uint64_t key,
                                      const struct written_image *i, struct imrec_error *err)
{
    IMREC_TRY(written_image_frame(i, &w->record, &w->frame, err));
    return put_framed(w, key, err);
}

enum imrec_status record_writer_image(struct imrec_writer *w, const struct written_image *image,
                                      struct imrec_error *err)
{
    return append_image(w, image->id, image, err);
}

enum imrec_status imrec_writer_append_image(struct imrec_writer *w, uint64_t key,
                                            const float *labels, uint32_t label_count, uint64_t id,
                                            const void *image, size_t n, struct imrec_error *err)
{
    const struct written_image i = {
        .labels = labels, .label_count = label_count, .id = id, .image = {image, n}};
    return append_image(w, key, &i, err);
}

enum imrec_status imrec_writer_append_masked(struct imrec_writer *w, uint64_t key,
                                             const float *labels, uint32_t label_count, uint64_t id,
                                             const void *image, size_t n, const void *mask,
                                             size_t mask_bytes, struct imrec_error *err)
{
    static const uint8_t none[1];
    const struct written_image i = {.labels = labels,
                                    .label_count = label_count,
                                    .id = id,
                                    .image = {image, n},
                                    .mask = {mask != NULL ? mask : none, mask_bytes}};
    return append_image(w, key, &i, err);
}

enum imrec_status imrec_writer_append_fields(struct imrec_writer *w, uint64_t key,
                                             const float *labels, uint32_t label_count, uint64_t id,
                                             const void *image, size_t n,
                                             const struct imrec_field *fields, uint32_t field_count,
                                             struct imrec_error *err)
{
    if (field_count == 0)
        return IMREC_REFUSE(err, "a record of no fields is written by imrec_writer_append_image()");
    const struct written_image i = {.labels = labels,
                                    .label_count = label_count,
                                    .id = id,
                                    .image = {image, n},
                                    .fields = fields,
                                    .field_count = field_count};
    return append_image(w, key, &i, err);
}

uint64_t imrec_writer_size(const struct imrec_writer *w)
{
    return sink_size(w->sink[REC]);
}

static enum imrec_status end_checksums(struct imrec_writer *w, struct imrec_error *err)
{
    if (w->sink[CRC] == NULL)
        return IMREC_OK;
    w->line.n = 0;
    IMREC_TRY(checksums_finish(&w->sums, &w->line, err));
    return sink_append(w->sink[CRC], w->line.p, w->line.n, err);
}

/* Makes the open files durable under their temporary names and closes them. */
static enum imrec_status finish(struct imrec_writer *w, struct imrec_error *err)
{
    IMREC_TRY(end_checksums(w, err));
    for (int i = 0; i < FILES; i++) {
        struct sink *open = w->sink[i];
        if (open == NULL)
            continue;
        IMREC_TRY(sink_sync(open, err)); /* failed: the abort removes it */
        w->sink[i] = NULL;
        IMREC_TRY(sink_finish(open, err));
    }
    return IMREC_OK;
}

static void remove_file(const char *uri, const char *suffix)
{
    char *name = uri != NULL ? imrec_joined(uri, strlen(uri), suffix) : NULL;
    if (name != NULL && sink_remove(name, NULL) != IMREC_OK)
        name[0] = '\0'; /* what cannot be removed has no final name all the same */
    imrec_free(name);
}

/* Of the shard that had this name before: it would be found before the new .idx. */
static enum imrec_status remove_binary_index(struct imrec_writer *w, struct imrec_error *err)
{
    char *name = set_path(w->uri[REC], SET_BINARY_INDEX);
    const enum imrec_status st =
        name != NULL ? sink_remove(name, err) : IMREC_NO_MEMORY(err, "no memory for a path");
    imrec_free(name);
    return st;
}

static enum imrec_status publish(struct imrec_writer *w, struct imrec_error *err)
{
    IMREC_TRY(finish(w, err));
    IMREC_TRY(remove_binary_index(w, err));
    enum imrec_status st = IMREC_OK;
    for (int i = IDX; st == IMREC_OK && i < FILES; i++)
        if (w->uri[i] != NULL)
            st = sink_publish(w->uri[i], err);
    if (st == IMREC_OK)
        st = sink_publish(w->uri[REC], err);
    for (int i = IDX; st != IMREC_OK && i < FILES; i++) /* no files next to a missing shard */
        remove_file(w->uri[i], "");
    return st;
}

/* `st`: how the writing ended. */
static enum imrec_status end(struct imrec_writer *w, enum imrec_status st)
{
    for (int i = 0; st != IMREC_OK && i < FILES; i++)
        remove_file(w->uri[i], ".part");
    imrec_writer_abort(w); /* what is still open; and frees */
    return st;
}

enum imrec_status imrec_writer_commit(struct imrec_writer *w, struct imrec_error *err)
{
    return end(w, publish(w, err));
}

enum imrec_status record_writer_finish(struct imrec_writer *w, struct imrec_error *err)
{
    return end(w, finish(w, err));
}

void imrec_writer_abort(struct imrec_writer *w)
{
    if (w == NULL)
        return;
    for (int i = 0; i < FILES; i++) {
        sink_abort(w->sink[i]);
        imrec_free(w->uri[i]);
    }
    buf_free(&w->frame);
    buf_free(&w->line);
    buf_free(&w->record);
    imrec_free(w);
}
