/*
 * minibatch/convert/cbf_to_ctf.c - imrec_cbf_to_ctf(): a CBF file as text, chunk by chunk.
 *
 * Numbers are the shortest of a few spellings that read back as the same value, in any locale.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "container/walk/cbf_file.h"
#include "formats/cbf/cbf_chunk.h"
#include "formats/text.h"
#include "imrec/convert.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES ((size_t)1 << 20)

struct run {
    const char *input;
    struct source *in;
    struct sink *out;
    struct cbf_header h;
    struct cbf_chunk chunk;
    uint8_t *raw;
    struct buf text;
    uint64_t *at; /* [streams]: the next value of a sparse sequence */
    struct imrec_convert_result *result;
};

static enum imrec_status put(struct run *r, const char *s, size_t n, struct imrec_error *err)
{
    return buf_append(&r->text, s, n, err);
}

static enum imrec_status flush(struct run *r, size_t least, struct imrec_error *err)
{
    if (r->text.n < least)
        return IMREC_OK;
    const enum imrec_status st = sink_append(r->out, r->text.p, r->text.n, err);
    r->result->bytes += r->text.n;
    r->text.n = 0;
    return st;
}

/* 15 digits where they are enough, else 17; a decimal comma of the locale becomes a point. */
static size_t double_text(double v, char out[TEXT_FLOAT_BYTES])
{
    size_t n = (size_t)snprintf(out, TEXT_FLOAT_BYTES, "%.15g", v);
    if (strtod(out, NULL) != v)
        n = (size_t)snprintf(out, TEXT_FLOAT_BYTES, "%.17g", v);
    for (size_t i = 0; i < n; i++)
        if (strchr("+-0123456789e", out[i]) == NULL)
            out[i] = '.';
    return n;
}

static enum imrec_status put_value(struct run *r, const struct stream_info *s,
                                   const uint8_t *values, uint64_t i, struct imrec_error *err)
{
    char text[TEXT_FLOAT_BYTES];
    const double v = stream_value(values, s->element, i);
    if (!isfinite(v))
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s: stream '%.64s' holds a value that is not finite, which CNTK's "
                          "text cannot say",
                          r->input, s->name);
    const size_t n =
        s->element == STREAM_FLOAT ? text_from_float((float)v, text) : double_text(v, text);
    return put(r, text, n, err);
}

/* Sample `row` of a stream: "|name v v v" or "|name i:v i:v". */
static enum imrec_status put_sample(struct run *r, uint32_t i, const struct sequence_view *v,
                                    uint32_t row, struct imrec_error *err)
{
    const struct stream_info *s = &r->h.stream[i];
    const bool sparse = s->storage == STREAM_SPARSE;
    const uint64_t n = sparse ? load_le32(v->counts + 4 * (size_t)row) : s->dim;
    char digits[20];
    IMREC_TRY(put(r, "|", 1, err));
    IMREC_TRY(put(r, s->name, strlen(s->name), err));
    for (uint64_t k = 0; k < n; k++, r->at[i]++) {
        IMREC_TRY(put(r, " ", 1, err));
        if (sparse) {
            const uint32_t index = load_le32(v->indices + 4 * r->at[i]);
            IMREC_TRY(put(r, digits, text_from_u64(index, digits), err));
            IMREC_TRY(put(r, ":", 1, err));
        }
        IMREC_TRY(put_value(r, s, v->values, r->at[i], err));
    }
    return IMREC_OK;
}

static enum imrec_status put_sequence(struct run *r, uint32_t k, struct imrec_error *err)
{
    char id[20];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < r->h.streams; i++) {
        const uint32_t n = sequence_view(&r->chunk.view, i, k, &r->h.stream[i]).samples;
        rows = n > rows ? n : rows;
        r->at[i] = 0;
    }
    const size_t digits = text_from_u64(r->chunk.view.first_key + k, id);
    for (uint32_t row = 0; row < rows; row++) {
        IMREC_TRY(put(r, id, digits, err));
        for (uint32_t i = 0; i < r->h.streams; i++) {
            const struct sequence_view v = sequence_view(&r->chunk.view, i, k, &r->h.stream[i]);
            if (row >= v.samples)
                continue;
            IMREC_TRY(put(r, " ", 1, err));
            IMREC_TRY(put_sample(r, i, &v, row, err));
            IMREC_TRY(flush(r, FLUSH_BYTES, err));
        }
        IMREC_TRY(put(r, "\n", 1, err));
    }
    r->result->samples += rows;
    r->result->sequences += rows > 0;
    r->result->errors += rows == 0; /* text has no place for a sequence without a sample */
    return IMREC_OK;
}

static enum imrec_status check_names(const struct run *r, struct imrec_error *err)
{
    for (uint32_t i = 0; i < r->h.streams; i++)
        if (strpbrk(r->h.stream[i].name, " \t\r\n|") != NULL || r->h.stream[i].name[0] == '#')
            return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                              "%s: the name of stream '%.64s' has a blank, a pipe or a line's "
                              "end, or begins with '#', which CNTK's text cannot say",
                              r->input, r->h.stream[i].name);
    return IMREC_OK;
}

static enum imrec_status
write_chunk(struct run *r, uint32_t i, uint64_t first, struct imrec_error *err)
{
    const struct cbf_chunk_entry *e = &r->h.chunk[i];
    IMREC_TRY(source_read(r->in, e->offset, r->raw, (size_t)e->bytes, err));
    const struct bytes raw = {r->raw, (size_t)e->bytes};
    const enum imrec_status st = cbf_chunk_parse(&r->h, i, raw, first, NULL, &r->chunk, err);
    if (st != IMREC_OK) {
        cbf_file_blame(r->input, st, err);
        return st;
    }
    for (uint32_t k = 0; k < r->chunk.view.sequences; k++)
        IMREC_TRY(put_sequence(r, k, err));
    r->result->chunks++;
    return IMREC_OK;
}

/* Types are written where not all are float, which is the default. */
static const char *type_word(const struct run *r, const struct stream_info *s)
{
    bool doubles = false;
    for (uint32_t i = 0; i < r->h.streams; i++)
        doubles |= r->h.stream[i].element == STREAM_DOUBLE;
    return !doubles ? "" : s->element == STREAM_DOUBLE ? " double" : " float";
}

static enum imrec_status put_header(struct run *r, struct imrec_error *err)
{
    char numbers[64];
    for (uint32_t i = 0; i < r->h.streams; i++) {
        const struct stream_info *s = &r->h.stream[i];
        const int n =
            snprintf(numbers, sizeof(numbers), " %s %" PRIu32 "%s\n",
                     s->storage == STREAM_SPARSE ? "sparse" : "dense", s->dim, type_word(r, s));
        IMREC_TRY(put(r, s->name, strlen(s->name), err));
        IMREC_TRY(put(r, " ", 1, err));
        IMREC_TRY(put(r, s->name, strlen(s->name), err));
        IMREC_TRY(put(r, numbers, (size_t)n, err));
    }
    return IMREC_OK;
}

/* With the text's buffer, when the text is written. */
static enum imrec_status write_header(struct run *r, const char *path, struct imrec_error *err)
{
    struct sink *to;
    if (path == NULL)
        return IMREC_OK;
    IMREC_TRY(sink_open(path, &to, err));
    enum imrec_status st = put_header(r, err);
    if (st == IMREC_OK)
        st = sink_append(to, r->text.p, r->text.n, err);
    if (st == IMREC_OK)
        return sink_commit(to, err);
    sink_abort(to);
    return st;
}

static enum imrec_status convert(struct run *r, const char *output, const char *header,
                                 imrec_progress_fn *progress, void *user, struct imrec_error *err)
{
    uint64_t first = 0;
    IMREC_TRY(source_open(r->input, &r->in, err));
    IMREC_TRY(cbf_file_header(r->in, r->input, &r->h, err));
    IMREC_TRY(check_names(r, err));
    r->raw = imrec_realloc(NULL, (size_t)r->h.largest_chunk, 1);
    r->at = imrec_zalloc(r->h.streams, sizeof(*r->at));
    if (r->raw == NULL || r->at == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a chunk of %" PRIu64 " bytes",
                               r->h.largest_chunk);
    IMREC_TRY(sink_open(output, &r->out, err));
    for (uint32_t i = 0; i < r->h.chunks; first += r->h.chunk[i++].sequences) {
        IMREC_TRY(write_chunk(r, i, first, err));
        const struct imrec_progress p = {.bytes = r->h.chunk[i].offset + r->h.chunk[i].bytes,
                                         .total_bytes = r->in->size};
        if (progress != NULL && !progress(user, &p))
            return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted");
    }
    IMREC_TRY(flush(r, 0, err));
    IMREC_TRY(write_header(r, header, err));
    struct sink *gone = r->out;
    r->out = NULL;
    return sink_commit(gone, err);
}

enum imrec_status imrec_cbf_to_ctf(const char *input, const char *output, const char *header,
                                   imrec_progress_fn *progress, void *user,
                                   struct imrec_convert_result *out, struct imrec_error *err)
{
    struct imrec_convert_result ignored;
    struct run r = {.input = input, .text = BUF_INIT(SIZE_MAX), .result = out ? out : &ignored};
    *r.result = (struct imrec_convert_result){0};
    const enum imrec_status st = convert(&r, output, header, progress, user, err);
    r.result->bytes_read = r.in != NULL ? r.in->size : 0;
    sink_abort(r.out);
    source_close(r.in);
    cbf_chunk_free(&r.chunk);
    cbf_header_free(&r.h);
    buf_free(&r.text);
    IMREC_FREE(r.raw, r.at);
    return st;
}
