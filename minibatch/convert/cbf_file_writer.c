/* minibatch/convert/cbf_file_writer.c - imrec_cbf_writer_*: a CBF file, sequence by sequence. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/string_arena.h"
#include "formats/cbf/cbf_writer.h"
#include "imrec/sequences.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <string.h>

struct imrec_cbf_writer {
    struct cbf_writer *writer;
    struct sink *out;
    struct stream_info *info; /* [streams] */
    struct string_arena names;
    struct buf bytes; /* of the sequence that is being appended */
    struct chunk_stream *view;
    uint64_t (*offset)[2]; /* of each stream in `bytes` from its begin: 0, and its end */
    uint32_t streams;
    uint64_t appended;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to write a file");
}

/* ---- opening ----------------------------------------------------------------------------- */

static enum imrec_status to_sink(void *user, const void *p, size_t n, struct imrec_error *err)
{
    return sink_append(user, p, n, err);
}

static enum imrec_status copy_names(struct imrec_cbf_writer *w,
                                    const struct imrec_cbf_stream *stream, struct imrec_error *err)
{
    for (uint32_t i = 0; i < w->streams; i++) {
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(stream[i].name, stream[k].name) == 0)
                return IMREC_REFUSE(err, "two streams are called '%.64s', names must differ",
                                    stream[i].name);
        const char *name = string_arena_put(&w->names, stream[i].name, strlen(stream[i].name) + 1);
        if (name == NULL)
            return no_memory(err);
        w->info[i] = (struct stream_info){
            .name = name,
            .alias = name,
            .storage = stream[i].sparse ? STREAM_SPARSE : STREAM_DENSE,
            .element = stream[i].precision == IMREC_PRECISION_DOUBLE ? STREAM_DOUBLE : STREAM_FLOAT,
            .dim = stream[i].dim,
        };
    }
    return IMREC_OK;
}

static enum imrec_status open_it(struct imrec_cbf_writer *w, const char *path,
                                 const struct imrec_cbf_stream *stream, uint64_t chunk_bytes,
                                 struct imrec_error *err)
{
    w->bytes = BUF_INIT(SIZE_MAX);
    w->info = imrec_zalloc((size_t)w->streams + 1, sizeof(*w->info));
    w->view = imrec_zalloc((size_t)w->streams + 1, sizeof(*w->view));
    w->offset = imrec_zalloc((size_t)w->streams + 1, sizeof(*w->offset));
    if (w->info == NULL || w->view == NULL || w->offset == NULL)
        return no_memory(err);
    IMREC_TRY(copy_names(w, stream, err));
    IMREC_TRY(sink_open(path, &w->out, err));
    return cbf_writer_new(w->info, w->streams, chunk_bytes, to_sink, w->out, &w->writer, err);
}

enum imrec_status imrec_cbf_writer_open(const char *path, const struct imrec_cbf_stream *stream,
                                        uint32_t streams, uint64_t chunk_bytes,
                                        struct imrec_cbf_writer **out, struct imrec_error *err)
{
    *out = NULL;
    struct imrec_cbf_writer *w = imrec_zalloc(1, sizeof(*w));
    if (w == NULL)
        return no_memory(err);
    w->streams = streams;
    const enum imrec_status st = open_it(w, path, stream, chunk_bytes, err);
    if (st != IMREC_OK)
        imrec_cbf_writer_abort(w);
    else
        *out = w;
    return st;
}

/* ---- a sequence -------------------------------------------------------------------------- */

/* Where it is wrong, for the message. */
static enum imrec_status wrong(const struct imrec_cbf_writer *w, uint32_t i,
                               struct imrec_error *err, const char *field, int64_t value,
                               int64_t least, int64_t bound)
{
    return IMREC_REFUSE(err,
                        "stream '%.64s', sequence %" PRIu64 ": %s %" PRId64
                        ", it must be in [%" PRId64 ", %" PRId64 ")",
                        w->info[i].name, w->appended, field, value, least, bound);
}

static int32_t number_at(const void *p, uint64_t i)
{
    int32_t v;
    memcpy(&v, (const uint8_t *)p + 4 * i, sizeof(v));
    return v;
}

static enum imrec_status check_sparse(const struct imrec_cbf_writer *w, uint32_t i,
                                      const struct imrec_sequence_stream *s,
                                      struct imrec_error *err)
{
    uint64_t sum = 0;
    if (s->value_count > INT32_MAX)
        return wrong(w, i, err, "number of values", INT64_MAX, 0, (int64_t)INT32_MAX + 1);
    for (uint64_t k = 0; k < s->value_count; k++) {
        const int32_t index = number_at(s->indices, k);
        if (index < 0 || (uint32_t)index >= w->info[i].dim)
            return wrong(w, i, err, "index", index, 0, w->info[i].dim);
    }
    for (uint32_t k = 0; k < s->samples; k++) {
        const int32_t count = number_at(s->counts, k);
        if (count < 0 || (uint32_t)count > s->value_count - sum)
            return wrong(w, i, err, "values of a sample", count, 0,
                         (int64_t)(s->value_count - sum) + 1);
        sum += (uint32_t)count;
    }
    if (sum != s->value_count)
        return wrong(w, i, err, "values of all samples", (int64_t)sum, (int64_t)s->value_count,
                     (int64_t)s->value_count + 1);
    return IMREC_OK;
}

static enum imrec_status append_u32(struct buf *b, uint32_t v, struct imrec_error *err)
{
    uint8_t le[4];
    store_le32(le, v);
    return buf_append(b, le, sizeof(le), err);
}

static enum imrec_status put_stream(struct imrec_cbf_writer *w, uint32_t i,
                                    const struct imrec_sequence_stream *s, struct imrec_error *err)
{
    const struct stream_info *info = &w->info[i];
    const size_t begin = w->bytes.n, size = stream_element_bytes(info->element);
    if (s->value_count > SIZE_MAX / size)
        return no_memory(err);
    IMREC_TRY(append_u32(&w->bytes, s->samples, err));
    if (info->storage == STREAM_SPARSE) {
        IMREC_TRY(check_sparse(w, i, s, err));
        IMREC_TRY(append_u32(&w->bytes, (uint32_t)s->value_count, err));
    } else if (s->value_count != (uint64_t)s->samples * info->dim)
        return wrong(w, i, err, "number of values", (int64_t)s->value_count,
                     (int64_t)((uint64_t)s->samples * info->dim),
                     (int64_t)((uint64_t)s->samples * info->dim + 1));
    IMREC_TRY(buf_append(&w->bytes, s->values, (size_t)s->value_count * size, err));
    if (info->storage == STREAM_SPARSE) {
        IMREC_TRY(buf_append(&w->bytes, s->indices, (size_t)s->value_count * 4, err));
        IMREC_TRY(buf_append(&w->bytes, s->counts, (size_t)s->samples * 4, err));
    }
    w->offset[i][1] = w->bytes.n - begin;
    return IMREC_OK;
}

enum imrec_status imrec_cbf_writer_append(struct imrec_cbf_writer *w,
                                          const struct imrec_sequence_stream *stream,
                                          uint32_t length, struct imrec_error *err)
{
    uint32_t longest = 0;
    w->bytes.n = 0;
    for (uint32_t i = 0; i < w->streams; i++) {
        IMREC_TRY(put_stream(w, i, &stream[i], err));
        longest = stream[i].samples > longest ? stream[i].samples : longest;
    }
    const uint32_t meta = length != 0 ? length : longest;
    const uint8_t *at = w->bytes.p;
    for (uint32_t i = 0; i < w->streams; i++) {
        w->view[i] = (struct chunk_stream){at, w->offset[i]};
        at += w->offset[i][1];
    }
    const struct sequence_chunk one = {
        .sequences = 1, .streams = w->streams, .length = &meta, .samples = meta, .stream = w->view};
    IMREC_TRY(cbf_writer_add(w->writer, &one, err));
    w->appended++;
    return IMREC_OK;
}

/* ---- the end ----------------------------------------------------------------------------- */

enum imrec_status imrec_cbf_writer_commit(struct imrec_cbf_writer *w,
                                          struct imrec_sequences_totals *out,
                                          struct imrec_error *err)
{
    enum imrec_status st = cbf_writer_finish(w->writer, err);
    if (st == IMREC_OK)
        st = sink_sync(w->out, err); /* what fails from here on is the rename alone */
    const struct cbf_written all = cbf_writer_written(w->writer);
    if (st == IMREC_OK) {
        st = sink_commit(w->out, err);
        w->out = NULL;
    }
    if (st == IMREC_OK && out != NULL)
        *out = (struct imrec_sequences_totals){.bytes = all.bytes,
                                               .chunks = all.chunks,
                                               .sequences = all.sequences,
                                               .samples = all.samples};
    imrec_cbf_writer_abort(w);
    return st;
}

void imrec_cbf_writer_abort(struct imrec_cbf_writer *w)
{
    if (w == NULL)
        return;
    IMREC_FREE(w->info, w->view, w->offset);
    string_arena_free(&w->names);
    buf_free(&w->bytes);
    cbf_writer_free(w->writer);
    sink_abort(w->out);
    imrec_free(w);
}
