/*
 * formats/cbf/cbf_writer.c - sequences into chunks, chunks into a file.
 *
 * The chunk being filled is in memory: the lengths of its sequences, and the bytes of each stream,
 * because a chunk stores all sequences of a stream one after another. The sequences of one call
 * that fit are copied in one piece a stream.
 */
#include "formats/cbf/cbf_writer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

struct cbf_writer {
    struct stream_info *stream;
    uint32_t streams;
    uint64_t chunk_bytes;
    cbf_emit_fn *emit;
    void *user;
    struct buf *body; /* [streams], of the chunk that is being filled */
    struct buf length, table, head;
    struct cbf_written written;
    uint64_t open_bytes, open_samples;
    uint32_t open_sequences;
};

static enum imrec_status put(struct cbf_writer *w, const void *p, size_t n, struct imrec_error *err)
{
    if (n > 0)
        IMREC_TRY(w->emit(w->user, p, n, err));
    w->written.bytes += n;
    return IMREC_OK;
}

static enum imrec_status append_u32(struct buf *b, uint32_t v, struct imrec_error *err)
{
    uint8_t le[4];
    store_le32(le, v);
    return buf_append(b, le, sizeof(le), err);
}

static enum imrec_status check_stream(const struct stream_info *s, struct imrec_error *err)
{
    const size_t n = strlen(s->name);
    if (n == 0 || n > CBF_MAX_NAME_BYTES)
        return IMREC_REFUSE(err, "a stream's name has %zu bytes, it must have 1 to %u", n,
                            CBF_MAX_NAME_BYTES);
    if (s->dim == 0 || s->dim > INT32_MAX)
        return IMREC_REFUSE(err, "dim %" PRIu32 " of stream '%.64s', it must be in [1, 2147483647]",
                            s->dim, s->name);
    return IMREC_OK;
}

/* The names are kept in the stream heads of the header, which are ready from the beginning. */
static enum imrec_status make_heads(struct cbf_writer *w, struct imrec_error *err)
{
    w->head = BUF_INIT(SIZE_MAX);
    for (uint32_t i = 0; i < w->streams; i++) {
        const struct stream_info *s = &w->stream[i];
        const uint8_t storage = (uint8_t)s->storage, element = (uint8_t)s->element;
        IMREC_TRY(check_stream(s, err));
        IMREC_TRY(buf_append(&w->head, &storage, 1, err));
        IMREC_TRY(append_u32(&w->head, (uint32_t)strlen(s->name), err));
        IMREC_TRY(buf_append(&w->head, s->name, strlen(s->name), err));
        IMREC_TRY(buf_append(&w->head, &element, 1, err));
        IMREC_TRY(append_u32(&w->head, s->dim, err));
    }
    return IMREC_OK;
}

static enum imrec_status
make_bodies(struct cbf_writer *w, const struct stream_info *info, struct imrec_error *err)
{
    w->stream = imrec_zalloc(w->streams, sizeof(*w->stream));
    w->body = imrec_zalloc(w->streams, sizeof(*w->body));
    if (w->stream == NULL || w->body == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu32 " streams", w->streams);
    memcpy(w->stream, info, w->streams * sizeof(*info));
    for (uint32_t i = 0; i < w->streams; i++)
        w->body[i] = BUF_INIT(SIZE_MAX);
    w->length = w->table = BUF_INIT(SIZE_MAX);
    return make_heads(w, err);
}

enum imrec_status cbf_writer_new(const struct stream_info *info, uint32_t streams,
                                 uint64_t chunk_bytes, cbf_emit_fn *emit, void *user,
                                 struct cbf_writer **out, struct imrec_error *err)
{
    *out = NULL;
    if (streams == 0 || streams > CBF_MAX_STREAMS)
        return IMREC_REFUSE(err, "%" PRIu32 " streams, there must be 1 to %u", streams,
                            CBF_MAX_STREAMS);
    struct cbf_writer *w = imrec_zalloc(1, sizeof(*w));
    if (w == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a writer");
    w->streams = streams;
    w->chunk_bytes = chunk_bytes > 0 ? chunk_bytes : CBF_DEFAULT_CHUNK;
    w->emit = emit;
    w->user = user;
    const enum imrec_status st = make_bodies(w, info, err);
    if (st != IMREC_OK)
        cbf_writer_free(w);
    else
        *out = w;
    return st;
}

static enum imrec_status emit_prefix(struct cbf_writer *w, struct imrec_error *err)
{
    uint8_t prefix[CBF_PREFIX_BYTES];
    if (w->written.bytes > 0)
        return IMREC_OK;
    store_le64(prefix, CBF_MAGIC);
    store_le32(prefix + 8, CBF_VERSION);
    return put(w, prefix, sizeof(prefix), err);
}

static enum imrec_status note_chunk(struct cbf_writer *w, uint64_t offset, uint32_t sequences,
                                    uint32_t samples, struct imrec_error *err)
{
    uint8_t entry[CBF_CHUNK_ENTRY_SIZE];
    if (w->written.chunks == UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "a CNTK binary file has at most 4294967295 chunks");
    store_le64(entry, offset);
    store_le32(entry + 8, sequences);
    store_le32(entry + 12, samples);
    IMREC_TRY(buf_append(&w->table, entry, sizeof(entry), err));
    w->written.chunks++;
    w->written.sequences += sequences;
    w->written.samples += samples;
    return IMREC_OK;
}

enum imrec_status cbf_writer_cut(struct cbf_writer *w, struct imrec_error *err)
{
    if (w->open_sequences == 0)
        return IMREC_OK;
    IMREC_TRY(emit_prefix(w, err));
    const uint64_t offset = w->written.bytes;
    IMREC_TRY(put(w, w->length.p, w->length.n, err));
    for (uint32_t i = 0; i < w->streams; i++) {
        IMREC_TRY(put(w, w->body[i].p, w->body[i].n, err));
        w->body[i].n = 0;
    }
    IMREC_TRY(note_chunk(w, offset, w->open_sequences, (uint32_t)w->open_samples, err));
    w->length.n = 0;
    w->open_bytes = w->open_samples = 0;
    w->open_sequences = 0;
    return IMREC_OK;
}

/* Bytes of sequence k in a chunk, its length included. */
static uint64_t sequence_bytes(const struct sequence_chunk *c, uint32_t k)
{
    uint64_t bytes = 4;
    for (uint32_t i = 0; i < c->streams; i++)
        bytes += c->stream[i].offset[k + 1] - c->stream[i].offset[k];
    return bytes;
}

static bool fits(const struct cbf_writer *w, uint64_t bytes, uint32_t length)
{
    return w->open_sequences == 0 ||
           (bytes <= w->chunk_bytes && w->open_bytes <= w->chunk_bytes - bytes &&
            length <= UINT32_MAX - w->open_samples && w->open_sequences < UINT32_MAX);
}

bool cbf_writer_fits(const struct cbf_writer *w, const struct sequence_chunk *one)
{
    return fits(w, sequence_bytes(one, 0), one->length[0]);
}

static enum imrec_status copy_run(struct cbf_writer *w, const struct sequence_chunk *c,
                                  uint32_t from, uint32_t to, struct imrec_error *err)
{
    for (uint32_t k = from; k < to; k++)
        IMREC_TRY(append_u32(&w->length, c->length[k], err));
    for (uint32_t i = 0; i < w->streams; i++) {
        const struct chunk_stream *s = &c->stream[i];
        IMREC_TRY(buf_append(&w->body[i], s->bytes + s->offset[from],
                             (size_t)(s->offset[to] - s->offset[from]), err));
    }
    return IMREC_OK;
}

enum imrec_status
cbf_writer_add(struct cbf_writer *w, const struct sequence_chunk *c, struct imrec_error *err)
{
    if (c->streams != w->streams)
        return IMREC_REFUSE(err, "a chunk of %" PRIu32 " streams for a file of %" PRIu32,
                            c->streams, w->streams);
    for (uint32_t k = 0; k < c->sequences;) {
        const uint32_t from = k;
        for (uint64_t bytes;
             k < c->sequences && fits(w, bytes = sequence_bytes(c, k), c->length[k]); k++) {
            w->open_bytes += bytes;
            w->open_samples += c->length[k];
            w->open_sequences++;
        }
        IMREC_TRY(copy_run(w, c, from, k, err));
        if (k < c->sequences)
            IMREC_TRY(cbf_writer_cut(w, err));
    }
    return IMREC_OK;
}

static enum imrec_status emit_header(struct cbf_writer *w, struct imrec_error *err)
{
    uint8_t counts[16], tail[CBF_TAIL_BYTES];
    store_le64(tail, w->written.bytes);
    store_le64(counts, CBF_MAGIC);
    store_le32(counts + 8, (uint32_t)w->written.chunks);
    store_le32(counts + 12, w->streams);
    IMREC_TRY(put(w, counts, sizeof(counts), err));
    IMREC_TRY(put(w, w->head.p, w->head.n, err));
    IMREC_TRY(put(w, w->table.p, w->table.n, err));
    return put(w, tail, sizeof(tail), err);
}

enum imrec_status cbf_writer_finish(struct cbf_writer *w, struct imrec_error *err)
{
    IMREC_TRY(cbf_writer_cut(w, err));
    if (w->written.sequences == 0)
        return IMREC_REFUSE(err, "there is no sequence to write: a CNTK binary file needs one");
    return emit_header(w, err);
}

struct cbf_written cbf_writer_written(const struct cbf_writer *w)
{
    return w->written;
}

uint64_t cbf_writer_size(const struct cbf_writer *w)
{
    const uint64_t open = w->open_sequences > 0 ? w->open_bytes + CBF_CHUNK_ENTRY_SIZE : 0;
    return (w->written.bytes > 0 ? w->written.bytes : CBF_PREFIX_BYTES) + open + 16 + w->head.n +
           w->table.n + CBF_TAIL_BYTES;
}

enum imrec_status cbf_writer_resume(struct cbf_writer *w, const struct cbf_chunk_entry *chunk,
                                    uint32_t chunks, struct imrec_error *err)
{
    for (uint32_t i = 0; i < chunks; i++) {
        IMREC_TRY(note_chunk(w, chunk[i].offset, chunk[i].sequences, chunk[i].samples, err));
        w->written.bytes = chunk[i].offset + chunk[i].bytes;
    }
    return IMREC_OK;
}

void cbf_writer_free(struct cbf_writer *w)
{
    if (w == NULL)
        return;
    for (uint32_t i = 0; w->body != NULL && i < w->streams; i++)
        buf_free(&w->body[i]);
    buf_free(&w->length);
    buf_free(&w->table);
    buf_free(&w->head);
    IMREC_FREE(w->body, w->stream, w);
}
