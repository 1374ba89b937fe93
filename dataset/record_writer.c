/* dataset/record_writer.c - imrec_writer_*: a shard and its index, written record by record.
 *
 * All files are made durable before any gets its name, the shard last: a shard with its final name
 * has its index and its checksums next to it. */
#include "dataset/record_writer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/record_mask.h"
#include "formats/recordio/recordio.h"
#include "formats/set/checksums.h"
#include "storage/sink.h"

#include <string.h>

#define FRAME_MOST ((size_t)1 << 31) /* a record of 2^29 bytes, cut at every word, is smaller */

struct imrec_writer {
    struct sink *rec, *idx, *crc;
    char *rec_uri, *idx_uri, *crc_uri; /* NULL without an index, without checksums */
    struct checksums_writer sums;
    struct buf frame, line, record;
};

static enum imrec_status copy_text(const char *text, char **out, struct imrec_error *err)
{
    const size_t n = strlen(text) + 1;
    *out = imrec_realloc(NULL, n, 1);
    if (*out == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write %s", text);
    memcpy(*out, text, n);
    return IMREC_OK;
}

static enum imrec_status
open_one(const char *uri, bool force, char **copy, struct sink **out, struct imrec_error *err)
{
    if (!force && sink_exists(uri))
        return imrec_fail(err, IMREC_ERR_ARGUMENT,
                          "%s: exists already, and is not replaced unless that is asked for", uri);
    IMREC_TRY(copy_text(uri, copy, err));
    return sink_open(uri, out, err);
}

static enum imrec_status
begin_checksums(struct imrec_writer *w, const char *path, bool force, struct imrec_error *err)
{
    IMREC_TRY(open_one(path, force, &w->crc_uri, &w->crc, err));
    IMREC_TRY(checksums_begin(&w->sums, &w->line, err));
    return sink_append(w->crc, w->line.p, w->line.n, err);
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
    enum imrec_status st = open_one(path, force, &w->rec_uri, &w->rec, err);
    if (st == IMREC_OK && idx_path != NULL)
        st = open_one(idx_path, force, &w->idx_uri, &w->idx, err);
    if (st == IMREC_OK && crc_path != NULL)
        st = begin_checksums(w, crc_path, force, err);
    if (st != IMREC_OK)
        imrec_writer_abort(w);
    else
        *out = w;
    return st;
}

enum imrec_status imrec_writer_open(const char *path, const char *idx_path, bool force,
                                    struct imrec_writer **out, struct imrec_error *err)
{
    return record_writer_open(path, idx_path, NULL, force, out, err);
}

enum imrec_status record_writer_put(struct imrec_writer *w, uint64_t key, struct bytes framed,
                                    uint32_t crc, struct imrec_error *err)
{
    const uint64_t offset = sink_size(w->rec);
    IMREC_TRY(sink_append(w->rec, framed.p, framed.n, err));
    w->line.n = 0;
    if (w->crc != NULL) {
        IMREC_TRY(checksums_add(&w->sums, framed.n, crc, &w->line, err));
        IMREC_TRY(sink_append(w->crc, w->line.p, w->line.n, err));
    }
    if (w->idx == NULL)
        return IMREC_OK;
    w->line.n = 0;
    IMREC_TRY(record_index_write(&w->line, key, offset, err));
    return sink_append(w->idx, w->line.p, w->line.n, err);
}

enum imrec_status imrec_writer_append(struct imrec_writer *w, uint64_t key, const void *bytes,
                                      size_t n, struct imrec_error *err)
{
    w->frame.n = 0;
    IMREC_TRY(recordio_frame((struct bytes){bytes, n}, &w->frame, err));
    const uint32_t crc = w->crc != NULL ? crc32c(0, w->frame.p, w->frame.n) : 0;
    return record_writer_put(w, key, (struct bytes){w->frame.p, w->frame.n}, crc, err);
}

enum imrec_status imrec_writer_append_image(struct imrec_writer *w, uint64_t key,
                                            const float *labels, uint32_t label_count, uint64_t id,
                                            const void *image, size_t n, struct imrec_error *err)
{
    w->record.n = 0;
    IMREC_TRY(image_record_head(&w->record, labels, label_count, false, id, 0, err));
    IMREC_TRY(buf_append(&w->record, image, n, err));
    return imrec_writer_append(w, key, w->record.p, w->record.n, err);
}

enum imrec_status imrec_writer_append_masked(struct imrec_writer *w, uint64_t key,
                                             const float *labels, uint32_t label_count, uint64_t id,
                                             const void *image, size_t n, const void *mask,
                                             size_t mask_bytes, struct imrec_error *err)
{
    uint8_t trailer[RECORD_MASK_TRAILER_BYTES];
    if (mask_bytes == 0 || mask_bytes > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_ARGUMENT, "a mask has 1 to 2^32 - 1 bytes, not %zu",
                          mask_bytes);
    record_mask_trailer((struct bytes){mask, mask_bytes}, trailer);
    w->record.n = 0;
    IMREC_TRY(image_record_head(&w->record, labels, label_count, false, id, 0, err));
    IMREC_TRY(buf_append(&w->record, image, n, err));
    IMREC_TRY(buf_append(&w->record, mask, mask_bytes, err));
    IMREC_TRY(buf_append(&w->record, trailer, sizeof(trailer), err));
    return imrec_writer_append(w, key, w->record.p, w->record.n, err);
}

uint64_t imrec_writer_size(const struct imrec_writer *w)
{
    return sink_size(w->rec);
}

/* Makes an open file durable under its temporary name and closes it. */
static enum imrec_status finish(struct sink **s, struct imrec_error *err)
{
    struct sink *open = *s;
    if (open == NULL)
        return IMREC_OK;
    IMREC_TRY(sink_sync(open, err)); /* failed: the abort removes it */
    *s = NULL;
    return sink_finish(open, err);
}

static void remove_file(const char *uri, const char *suffix)
{
    struct buf name = BUF_INIT((size_t)1 << 20);
    if (uri != NULL && buf_append(&name, uri, strlen(uri), NULL) == IMREC_OK &&
        buf_append(&name, suffix, strlen(suffix) + 1, NULL) == IMREC_OK &&
        sink_remove((const char *)name.p, NULL) != IMREC_OK)
        name.n = 0; /* what cannot be removed has no final name all the same */
    buf_free(&name);
}

static enum imrec_status end_checksums(struct imrec_writer *w, struct imrec_error *err)
{
    if (w->crc == NULL)
        return IMREC_OK;
    w->line.n = 0;
    IMREC_TRY(checksums_finish(&w->sums, &w->line, err));
    return sink_append(w->crc, w->line.p, w->line.n, err);
}

static enum imrec_status publish(struct imrec_writer *w, struct imrec_error *err)
{
    IMREC_TRY(end_checksums(w, err));
    IMREC_TRY(finish(&w->rec, err));
    IMREC_TRY(finish(&w->idx, err));
    IMREC_TRY(finish(&w->crc, err));
    if (w->idx_uri != NULL)
        IMREC_TRY(sink_publish(w->idx_uri, err));
    enum imrec_status st = w->crc_uri != NULL ? sink_publish(w->crc_uri, err) : IMREC_OK;
    if (st == IMREC_OK)
        st = sink_publish(w->rec_uri, err);
    if (st != IMREC_OK) { /* no files next to a missing shard */
        remove_file(w->idx_uri, "");
        remove_file(w->crc_uri, "");
    }
    return st;
}

enum imrec_status imrec_writer_commit(struct imrec_writer *w, struct imrec_error *err)
{
    const enum imrec_status st = publish(w, err);
    if (st != IMREC_OK) {
        remove_file(w->rec_uri, ".part");
        remove_file(w->idx_uri, ".part");
        remove_file(w->crc_uri, ".part");
    }
    imrec_writer_abort(w); /* what is still open; and frees */
    return st;
}

void imrec_writer_abort(struct imrec_writer *w)
{
    if (w == NULL)
        return;
    sink_abort(w->rec);
    sink_abort(w->idx);
    sink_abort(w->crc);
    buf_free(&w->frame);
    buf_free(&w->line);
    buf_free(&w->record);
    IMREC_FREE(w->rec_uri, w->idx_uri, w->crc_uri, w);
}
