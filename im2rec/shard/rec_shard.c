/* im2rec/shard/rec_shard.c - a shard of RecordIO being written, its index and its checksums. */
#include "im2rec/shard/shard_writer.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "formats/set/checksums.h"
#include "storage/sink.h"

#define TEXT_MAX   ((size_t)1 << 20)
#define FRAME_ROOM ((size_t)16) /* of a record that is in one part */

enum { REC, INDEX, CHECKSUMS }; /* of the sinks */

struct rec_shard {
    struct checksums_writer sums;
    struct buf text;
};

static enum imrec_status
frame(struct bytes whole, struct buf *out, uint32_t *crc, struct imrec_error *err)
{
    IMREC_TRY(buf_reserve(out, whole.n + FRAME_ROOM, err));
    IMREC_TRY(recordio_frame(whole, out, err));
    *crc = crc32c(0, out->p, out->n);
    return IMREC_OK;
}

/* Appends the text to the checksums. */
static enum imrec_status append_sums(struct shard_writer *w, struct imrec_error *err)
{
    const struct rec_shard *s = w->state;
    w->crc[REC] = s->sums.shard_crc;
    w->crc[CHECKSUMS] = s->sums.file_crc;
    return sink_append(w->sinks[CHECKSUMS], s->text.p, s->text.n, err);
}

static enum imrec_status open_shard(struct shard_writer *w, const char *name,
                                    const struct shard_shape *shape,
                                    const struct written_shard *from, struct imrec_error *err)
{
    struct rec_shard *s = w->state;
    (void)shape;
    *s = (struct rec_shard){
        .text = BUF_INIT(TEXT_MAX),
        .sums = {from->records, from->rec_bytes, (uint32_t)from->rec_crc, (uint32_t)from->crc_crc},
    };
    IMREC_TRY(shard_open_sinks(w, name, from, err));
    if (from->records != 0)
        return IMREC_OK;
    IMREC_TRY(checksums_begin(&s->sums, &s->text, err));
    return append_sums(w, err);
}

static enum imrec_status
put(struct shard_writer *w, const struct shard_record *r, struct imrec_error *err)
{
    struct rec_shard *s = w->state;
    s->text.n = 0;
    IMREC_TRY(record_index_write(&s->text, r->id, s->sums.shard_bytes, err));
    IMREC_TRY(sink_append(w->sinks[INDEX], s->text.p, s->text.n, err));
    w->crc[INDEX] = crc32c(w->crc[INDEX], s->text.p, s->text.n);
    s->text.n = 0;
    IMREC_TRY(checksums_add(&s->sums, r->bytes.n, r->crc, &s->text, err));
    IMREC_TRY(append_sums(w, err));
    return sink_append(w->sinks[REC], r->bytes.p, r->bytes.n, err);
}

static enum imrec_status finish(struct shard_writer *w, struct imrec_error *err)
{
    struct rec_shard *s = w->state;
    s->text.n = 0;
    IMREC_TRY(checksums_finish(&s->sums, &s->text, err));
    return append_sums(w, err);
}

static void close_shard(struct shard_writer *w)
{
    struct rec_shard *s = w->state;
    buf_free(&s->text);
}

static const char *const files[] = {".rec", ".idx", ".crc", ".idxb", NULL};

const struct shard_kind rec_shard_kind = {
    .format = "rec",
    .name = "RecordIO",
    .file = "RecordIO shard",
    .files = files,
    .side_files = true,
    .state_bytes = sizeof(struct rec_shard),
    .frame = frame,
    .open = open_shard,
    .put = put,
    .finish = finish,
    .close = close_shard,
};
