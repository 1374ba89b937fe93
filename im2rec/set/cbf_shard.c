/*
 * im2rec/set/cbf_shard.c - a CBF file being written.
 *
 * Complete chunks are durable. NAME.idx.part has their places, 24 bytes a chunk, from which a
 * resumed run makes the header. When the set becomes real the side file is removed: the header
 * has the same.
 */
#include "im2rec/set/cbf_shard.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/cbf/cbf_writer.h"
#include "formats/crc32c.h"
#include "formats/set/set_names.h"
#include "im2rec/set/shard_files.h"
#include "imrec/detection.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ENTRY_BYTES 24u
#define TABLE_MAX   ((size_t)1 << 34)
#define STREAMS_MAX 4u

struct cbf_shard {
    struct cbf_shape shape;
    char table_name[NAME_BYTES + 16];
    struct sink *file, *table;
    struct cbf_writer *writer;
    uint64_t records, bytes;
    uint32_t crc, table_crc;

    struct buf small; /* of the record that comes: all streams but the first */
    uint64_t offset[STREAMS_MAX][2];
    struct chunk_stream stream[STREAMS_MAX];
    struct sequence_chunk one;
    uint32_t length;
};

/* ---- streams ---------------------------------------------------------------------------- */

static uint32_t streams_of(const struct cbf_shape *shape, struct stream_info out[STREAMS_MAX])
{
    const enum stream_storage labels = shape->classes != 0 ? STREAM_SPARSE : STREAM_DENSE;
    const uint32_t label_dim = shape->classes != 0 ? shape->classes : shape->label_dim;
    if (shape->pixels) {
        out[0] = (struct stream_info){.name = "features", .dim = shape->features};
        out[1] = (struct stream_info){.name = "labels", .storage = labels, .dim = label_dim};
        return 2;
    }
    out[0] = (struct stream_info){.name = "image", .dim = 1};
    out[1] = (struct stream_info){.name = "image_bytes", .dim = 2};
    out[2] = (struct stream_info){.name = "label", .storage = labels, .dim = label_dim};
    out[3] = (struct stream_info){.name = "id", .dim = 4};
    return 4;
}

static enum imrec_status put_u32(struct buf *b, uint32_t v, struct imrec_error *err)
{
    uint8_t le[4];
    store_le32(le, v);
    return buf_append(b, le, sizeof(le), err);
}

static enum imrec_status put_float(struct buf *b, float v, struct imrec_error *err)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return put_u32(b, bits, err);
}

/* One sample: 16 bits a value, the highest first, which every float holds exactly. */
static enum imrec_status
put_words(struct buf *b, uint64_t v, unsigned words, struct imrec_error *err)
{
    IMREC_TRY(put_u32(b, 1, err));
    while (words-- > 0)
        IMREC_TRY(put_float(b, (float)(v >> 16 * words & 0xffff), err));
    return IMREC_OK;
}

static enum imrec_status
put_one_hot(struct cbf_shard *s, const struct pack_item *p, float label, struct imrec_error *err)
{
    if (!(label >= 0 && label < (float)s->shape.classes))
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                              "%.*s: label %g is none of the %" PRIu32 " classes", (int)p->path.n,
                              (const char *)p->path.p, (double)label, s->shape.classes);
    IMREC_TRY(put_u32(&s->small, 1, err)); /* a sample */
    IMREC_TRY(put_u32(&s->small, 1, err)); /* of one value: */
    IMREC_TRY(put_float(&s->small, 1, err));
    IMREC_TRY(put_u32(&s->small, (uint32_t)label, err));
    return put_u32(&s->small, 1, err);
}

/* How many objects without area make the label as long as the others; 0: none do. Readers of boxes
 * drop them. */
static uint32_t missing_objects(const struct cbf_shard *s, const float *labels, uint32_t n)
{
    const uint32_t missing = s->shape.label_dim - n;
    const bool header = n >= 2 && labels[0] == (float)n && labels[1] >= 5 && labels[1] < 1e6f;
    if (!header && !imrec_labels_are_boxes(labels, n))
        return 0;
    return missing % (uint32_t)labels[1] == 0 ? missing / (uint32_t)labels[1] : 0;
}

static enum imrec_status
put_labels(struct cbf_shard *s, const struct pack_item *p, struct imrec_error *err)
{
    const float *labels = (const float *)(const void *)p->labels.p;
    const uint32_t dim = s->shape.label_dim;
    if (s->shape.classes != 0)
        return put_one_hot(s, p, labels[0], err);
    if (p->label_count < dim && missing_objects(s, labels, p->label_count) == 0)
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                              "%.*s has %" PRIu32 " labels, others have %" PRIu32
                              ": a CNTK file needs the same number of each",
                              (int)p->path.n, (const char *)p->path.p, p->label_count, dim);
    IMREC_TRY(put_u32(&s->small, 1, err));
    for (uint32_t i = 0; i < dim; i++)
        IMREC_TRY(put_float(&s->small, i < p->label_count ? labels[i] : -1, err));
    return IMREC_OK;
}

/* ---- a record --------------------------------------------------------------------------- */

static enum imrec_status make_small(struct cbf_shard *s, const struct pack_item *p,
                                    size_t end[STREAMS_MAX], struct imrec_error *err)
{
    s->small.n = 0;
    if (s->shape.pixels) {
        IMREC_TRY(put_labels(s, p, err));
        end[1] = s->small.n;
        return IMREC_OK;
    }
    IMREC_TRY(put_words(&s->small, load_le32(p->record.p), 2, err));
    end[1] = s->small.n;
    IMREC_TRY(put_labels(s, p, err));
    end[2] = s->small.n;
    IMREC_TRY(put_words(&s->small, p->id, 4, err));
    end[3] = s->small.n;
    return IMREC_OK;
}

static enum imrec_status
make_record(struct cbf_shard *s, const struct pack_item *p, struct imrec_error *err)
{
    size_t end[STREAMS_MAX] = {0};
    IMREC_TRY(make_small(s, p, end, err));
    if (s->shape.pixels && p->record.n != 8 + 4 * (size_t)s->shape.features)
        return imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET,
                              "%.*s: a record of %zu bytes, images of this set have %zu",
                              (int)p->path.n, (const char *)p->path.p, p->record.n,
                              8 + 4 * (size_t)s->shape.features);
    s->offset[0][1] = p->record.n - 4;
    s->stream[0] = (struct chunk_stream){p->record.p + 4, s->offset[0]};
    for (uint32_t i = 1; i < s->one.streams; i++) {
        const size_t begin = i > 1 ? end[i - 1] : 0;
        s->offset[i][1] = end[i] - begin;
        s->stream[i] = (struct chunk_stream){s->small.p + begin, s->offset[i]};
    }
    return IMREC_OK;
}

/* Closes the chunk that is being filled, and notes where it is. */
static enum imrec_status close_chunk(struct cbf_shard *s, struct imrec_error *err)
{
    uint8_t entry[ENTRY_BYTES];
    const struct cbf_written before = cbf_writer_written(s->writer);
    const uint64_t begin = before.bytes > 0 ? before.bytes : CBF_PREFIX_BYTES;
    IMREC_TRY(cbf_writer_cut(s->writer, err));
    const struct cbf_written after = cbf_writer_written(s->writer);
    if (after.chunks == before.chunks)
        return IMREC_OK;
    store_le64(entry, begin);
    store_le64(entry + 8, after.bytes - begin);
    store_le32(entry + 16, (uint32_t)(after.sequences - before.sequences));
    store_le32(entry + 20, (uint32_t)(after.samples - before.samples));
    s->table_crc = crc32c(s->table_crc, entry, sizeof(entry));
    return sink_append(s->table, entry, sizeof(entry), err);
}

enum imrec_status
cbf_shard_room(struct cbf_shard *s, const struct pack_item *p, struct imrec_error *err)
{
    IMREC_TRY(make_record(s, p, err));
    return cbf_writer_fits(s->writer, &s->one) ? IMREC_OK : close_chunk(s, err);
}

enum imrec_status cbf_shard_put(struct cbf_shard *s, struct imrec_error *err)
{
    s->records++;
    return cbf_writer_add(s->writer, &s->one, err);
}

bool cbf_shard_is_even(const struct cbf_shard *s)
{
    return cbf_writer_written(s->writer).sequences == s->records;
}

uint64_t cbf_shard_size(const struct cbf_shard *s)
{
    return cbf_writer_size(s->writer);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static enum imrec_status emit(void *user, const void *p, size_t n, struct imrec_error *err)
{
    struct cbf_shard *s = user;
    s->crc = crc32c(s->crc, p, n);
    s->bytes += n;
    return sink_append(s->file, p, n, err);
}

static enum imrec_status
read_table(struct cbf_shard *s, const uint8_t *p, uint64_t bytes, struct imrec_error *err)
{
    for (uint64_t at = 0; at + ENTRY_BYTES <= bytes; at += ENTRY_BYTES) {
        const struct cbf_chunk_entry e = {load_le64(p + at), load_le64(p + at + 8),
                                          load_le32(p + at + 16), load_le32(p + at + 20)};
        IMREC_TRY(cbf_writer_resume(s->writer, &e, 1, err));
    }
    return IMREC_OK;
}

/* The chunks of an interrupted run, out of its side file. */
static enum imrec_status
load_table(struct cbf_shard *s, const struct journal_shard *from, struct imrec_error *err)
{
    char part[sizeof(s->table_name) + 8];
    uint8_t *p = NULL;
    size_t n = 0;
    snprintf(part, sizeof(part), "%s.part", s->table_name);
    IMREC_TRY(source_load(part, TABLE_MAX, &p, &n, err));
    enum imrec_status st = IMREC_OK;
    if (n < from->idx_bytes || crc32c(0, p, (size_t)from->idx_bytes) != from->idx_crc)
        st = imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                            "%s is not what the interrupted run left; force begins again", part);
    if (st == IMREC_OK)
        st = read_table(s, p, from->idx_bytes, err);
    imrec_free(p);
    return st;
}

static enum imrec_status open_files(struct cbf_shard *s, const char *name,
                                    const struct journal_shard *from, struct imrec_error *err)
{
    struct stream_info info[STREAMS_MAX];
    s->one = (struct sequence_chunk){.sequences = 1,
                                     .streams = streams_of(&s->shape, info),
                                     .length = &s->length,
                                     .samples = 1,
                                     .stream = s->stream};
    IMREC_TRY(cbf_writer_new(info, s->one.streams, s->shape.chunk_bytes, emit, s, &s->writer, err));
    if (from->records == 0) {
        IMREC_TRY(sink_open(name, &s->file, err));
        return sink_open(s->table_name, &s->table, err);
    }
    IMREC_TRY(load_table(s, from, err));
    IMREC_TRY(sink_resume(name, from->rec_bytes, &s->file, err));
    return sink_resume(s->table_name, from->idx_bytes, &s->table, err);
}

enum imrec_status cbf_shard_open(const char *name, const struct cbf_shape *shape,
                                 const struct journal_shard *from, struct cbf_shard **out,
                                 struct imrec_error *err)
{
    struct cbf_shard *s = *out = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a shard");
    s->shape = *shape;
    s->length = 1;
    s->records = from->records;
    s->bytes = from->rec_bytes;
    s->crc = (uint32_t)from->rec_crc;
    s->table_crc = (uint32_t)from->idx_crc;
    s->small = BUF_INIT((size_t)1 << 30);
    snprintf(s->table_name, sizeof(s->table_name), "%s.idx", name);
    const enum imrec_status st = open_files(s, name, from, err);
    if (st != IMREC_OK) {
        cbf_shard_leave(s);
        *out = NULL;
    }
    return st;
}

void cbf_shard_stop_with(struct cbf_shard *s, const struct stop *stop)
{
    sink_stop_with(s->file, stop);
    sink_stop_with(s->table, stop);
}

enum imrec_status cbf_shard_sync(struct cbf_shard *s, struct imrec_error *err)
{
    IMREC_TRY(sink_sync(s->file, err));
    return sink_sync(s->table, err);
}

void cbf_shard_sums(const struct cbf_shard *s, struct journal_shard *out)
{
    out->records = s->records;
    out->rec_bytes = s->bytes;
    out->rec_crc = s->crc;
    out->idx_bytes = sink_size(s->table);
    out->idx_crc = s->table_crc;
}

enum imrec_status
cbf_shard_finish(struct cbf_shard *s, struct journal_shard *out, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    if (s->records == 0)
        st = imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                            "a shard would have no image, and a CNTK file needs one: ask for "
                            "fewer shards");
    if (st == IMREC_OK)
        st = cbf_writer_finish(s->writer, err);
    if (st == IMREC_OK) {
        struct sink *gone = s->file;
        cbf_shard_sums(s, out);
        out->idx_bytes = out->idx_crc = 0;
        s->file = NULL;
        st = sink_finish(gone, err);
    }
    cbf_shard_leave(s); /* the table stays: a run may be resumed until the journal has the end */
    return st;
}

void cbf_shard_leave(struct cbf_shard *s)
{
    if (s == NULL)
        return;
    sink_leave(s->file);
    sink_leave(s->table);
    cbf_writer_free(s->writer);
    buf_free(&s->small);
    imrec_free(s);
}
