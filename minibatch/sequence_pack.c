/* minibatch/sequence_pack.c - sequences into arrays. */
#include "minibatch/sequence_pack.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

struct job {
    struct packed_stream *s;
    const struct stream_info *info;
    const struct sequence_view *view;
    const struct pack_piece *piece;
    uint64_t pieces;
    struct imrec_minibatch_stream *out;
    size_t element;
};

/* Samples of piece i in this stream. */
static uint32_t samples_of(const struct job *j, uint64_t i)
{
    const uint32_t all = j->view[i].samples, begin = j->piece[i].begin;
    const uint32_t left = begin < all ? all - begin : 0;
    return left < j->piece[i].count ? left : j->piece[i].count;
}

/* ---- what dense and sparse have ---------------------------------------------------------- */

static enum imrec_status count(struct job *j, struct imrec_error *err)
{
    struct imrec_minibatch_stream *out = j->out;
    IMREC_TRY(reuse_buffer_reserve(&j->s->length, j->pieces, sizeof(uint32_t), "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&j->s->row, j->pieces, sizeof(uint32_t), "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&j->s->column, j->pieces, sizeof(uint32_t), "a minibatch", err));
    uint32_t *length = j->s->length.p, *row = j->s->row.p, *column = j->s->column.p;
    for (uint64_t i = 0; i < j->pieces; i++) {
        length[i] = samples_of(j, i);
        row[i] = j->piece[i].row;
        column[i] = j->piece[i].column;
        out->samples += length[i];
        out->max_length = length[i] > out->max_length ? length[i] : out->max_length;
    }
    out->sequences = j->pieces;
    out->length = length;
    out->row = row;
    out->column = column;
    return IMREC_OK;
}

/* ---- dense ------------------------------------------------------------------------------- */

static void mark(uint8_t *mask, const struct pack_piece *p, uint32_t n)
{
    if (n == 0)
        return;
    memset(mask, 1, n);
    mask[0] = p->begins ? 2 : 1;
}

/* Zeroes what no piece covers of row `row`, from `used` on. */
static void close_row(const struct job *j, size_t sample, uint64_t row, uint64_t used)
{
    const uint64_t width = j->out->width, at = row * width + used;
    if (used >= width)
        return;
    memset((uint8_t *)j->s->values.p + at * sample, 0, (width - used) * sample);
    memset((uint8_t *)j->s->mask.p + at, 0, width - used);
}

static void copy_dense(struct job *j, size_t sample)
{
    const uint64_t width = j->out->width;
    uint64_t row = 0, used = 0;
    for (uint64_t i = 0; i < j->pieces; i++) {
        const struct pack_piece *p = &j->piece[i];
        const uint32_t n = j->out->length[i];
        for (; row < p->row; row++, used = 0) /* pieces are in the order of their rows */
            close_row(j, sample, row, used);
        const uint64_t at = row * width + p->column;
        if (p->column > used) /* a sequence lost samples whose place is there */
            close_row(j, sample, row, used);
        memcpy((uint8_t *)j->s->values.p + at * sample, j->view[i].values + p->begin * sample,
               n * sample);
        mark((uint8_t *)j->s->mask.p + at, p, n);
        used = p->column + n;
    }
    for (; row < j->out->rows; row++, used = 0)
        close_row(j, sample, row, used);
}

static enum imrec_status pack_dense(struct job *j, struct imrec_error *err)
{
    struct imrec_minibatch_stream *out = j->out;
    const size_t sample = j->info->dim * j->element;
    size_t cells = 0;
    if (out->rows > SIZE_MAX || out->width > SIZE_MAX ||
        !mul_fits((size_t)out->rows, (size_t)out->width, &cells))
        cells = SIZE_MAX;
    IMREC_TRY(reuse_buffer_reserve(&j->s->values, cells, sample, "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&j->s->mask, cells, 1, "a minibatch", err));
    copy_dense(j, sample);
    out->values = j->s->values.p;
    out->mask = j->s->mask.p;
    return IMREC_OK;
}

/* ---- sparse ------------------------------------------------------------------------------ */

static uint64_t sum_counts(const uint8_t *counts, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += load_le32(counts + 4 * (size_t)i);
    return sum;
}

static uint64_t nnz_of(const struct job *j, uint64_t i)
{
    const struct sequence_view *v = &j->view[i];
    const uint32_t begin = j->piece[i].begin, n = j->out->length[i];
    return n == v->samples ? v->nnz : sum_counts(v->counts, begin, begin + n);
}

static void copy_sparse(struct job *j)
{
    int64_t *row_start = j->s->row_start.p, at = 0;
    uint64_t sample = 0;
    for (uint64_t i = 0; i < j->pieces; i++) {
        const struct sequence_view *v = &j->view[i];
        const uint32_t begin = j->piece[i].begin, n = j->out->length[i];
        const size_t skip = begin == 0 ? 0 : (size_t)sum_counts(v->counts, 0, begin);
        const size_t nnz = (size_t)nnz_of(j, i);
        if (nnz > 0) {
            memcpy((uint8_t *)j->s->values.p + (size_t)at * j->element,
                   v->values + skip * j->element, nnz * j->element);
            memcpy((uint8_t *)j->s->indices.p + 4 * (size_t)at, v->indices + 4 * skip, 4 * nnz);
        }
        for (uint32_t k = 0; k < n; k++) {
            row_start[sample++] = at;
            at += load_le32(v->counts + 4 * (size_t)(begin + k));
        }
    }
    row_start[sample] = at;
}

static enum imrec_status pack_sparse(struct job *j, struct imrec_error *err)
{
    struct imrec_minibatch_stream *out = j->out;
    for (uint64_t i = 0; i < j->pieces; i++)
        out->nnz += nnz_of(j, i);
    IMREC_TRY(reuse_buffer_reserve(&j->s->values, out->nnz, j->element, "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&j->s->indices, out->nnz, 4, "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&j->s->row_start, out->samples + 1, sizeof(int64_t),
                                   "a minibatch", err));
    copy_sparse(j);
    out->values = j->s->values.p;
    out->indices = j->s->indices.p;
    out->row_start = j->s->row_start.p;
    return IMREC_OK;
}

/* ---- both -------------------------------------------------------------------------------- */

enum imrec_status pack_stream(struct packed_stream *s, const struct stream_info *info,
                              const struct sequence_view *views, const struct pack_piece *piece,
                              uint64_t pieces, uint64_t rows, uint64_t width,
                              struct imrec_minibatch_stream *out, struct imrec_error *err)
{
    struct job j = {s, info, views, piece, pieces, out, stream_element_bytes(info->element)};
    *out = (struct imrec_minibatch_stream){
        .name = out->name,
        .storage = info->storage == STREAM_SPARSE ? IMREC_SPARSE : IMREC_DENSE,
        .dim = info->dim,
        .precision =
            info->element == STREAM_DOUBLE ? IMREC_PRECISION_DOUBLE : IMREC_PRECISION_FLOAT,
    };
    IMREC_TRY(count(&j, err));
    out->rows = width > 0 ? rows : pieces;
    out->width = width > 0 ? width : out->max_length;
    return info->storage == STREAM_SPARSE ? pack_sparse(&j, err) : pack_dense(&j, err);
}

void packed_stream_free(struct packed_stream *s)
{
    reuse_buffer_free(&s->values);
    reuse_buffer_free(&s->mask);
    reuse_buffer_free(&s->length);
    reuse_buffer_free(&s->row);
    reuse_buffer_free(&s->column);
    reuse_buffer_free(&s->indices);
    reuse_buffer_free(&s->row_start);
    *s = (struct packed_stream){0};
}
