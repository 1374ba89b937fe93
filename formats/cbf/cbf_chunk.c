/*
 * formats/cbf/cbf_chunk.c - walking a chunk.
 *
 * The first pass reads the counts, which give the place of each sequence of each stream: an error
 * there loses the chunk. The second pass checks the indices of sparse streams: an error there loses
 * one sequence.
 */
#include "formats/cbf/cbf_chunk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/cbf/index_check.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHORT = 8,       /* values that are not worth a call */
    STEP = 256 << 10 /* bytes to ask for at a time */
};

struct walk {
    const struct cbf_header *h;
    const struct cbf_reading *how;
    const struct cbf_chunk_entry *entry;
    struct cbf_chunk *c;
    struct bytes raw;
    uint32_t which;
    uint64_t first_key;
    struct imrec_error *err;
    uint8_t suspect; /* at least one sequence is suspect */
    size_t have;     /* bytes of raw that have been read */
    bool unread;     /* reading more bytes failed */
};

#define BAD(w, pos, ...)                                                                           \
    imrec_error_at((w)->err, IMREC_ERR_CORRUPT, (w)->entry->offset + (uint64_t)(pos), __VA_ARGS__)

/* Makes *p hold `count` items of `size` bytes; its contents are lost. *cap counts bytes. */
static enum imrec_status
reserve(void **p, size_t *cap, uint64_t count, size_t size, struct imrec_error *err)
{
    size_t bytes;
    if (count > SIZE_MAX || !mul_fits((size_t)count, size, &bytes))
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%" PRIu64 " items of %zu bytes are more than memory can be", count,
                          size);
    bytes = bytes > 0 ? bytes : 1; /* never NULL */
    if (bytes <= *cap)
        return IMREC_OK;
    imrec_free(*p);
    *cap = 0;
    *p = imrec_realloc(NULL, bytes, 1);
    if (*p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %zu bytes of a chunk", bytes);
    *cap = bytes;
    return IMREC_OK;
}

#define RESERVE(c, field, count, err)                                                              \
    reserve((void **)&(c)->field, &(c)->field##_cap, (count), sizeof(*(c)->field), (err))

static enum imrec_status ask_for(struct walk *w, size_t upto)
{
    const size_t left = w->raw.n - upto;
    w->have = upto + (left < STEP ? left : STEP);
    const enum imrec_status st = w->how->more(w->how->user, w->have, w->err);
    w->unread = st != IMREC_OK;
    return st;
}

/* raw[0..upto) is needed next. */
static inline enum imrec_status need(struct walk *w, size_t upto)
{
    return upto <= w->have ? IMREC_OK : ask_for(w, upto);
}

/* Bounded by the chunk's bytes: its header was checked against them. */
static enum imrec_status reserve_tables(struct walk *w)
{
    const uint64_t n = w->entry->sequences;
    IMREC_TRY(RESERVE(w->c, stream, w->h->streams, w->err));
    IMREC_TRY(RESERVE(w->c, offset, w->h->streams * (n + 1), w->err));
    IMREC_TRY(RESERVE(w->c, length, n, w->err));
    IMREC_TRY(RESERVE(w->c, dropped, n, w->err));
    memset(w->c->dropped, 0, n);
    return IMREC_OK;
}

static enum imrec_status read_lengths(struct walk *w)
{
    uint64_t sum = 0;
    IMREC_TRY(need(w, 4 * (size_t)w->entry->sequences));
    for (uint32_t i = 0; i < w->entry->sequences; i++)
        sum += w->c->length[i] = load_le32(w->raw.p + 4 * (size_t)i);
    if (sum != w->entry->samples)
        return imrec_error_at(w->err, IMREC_ERR_CORRUPT,
                              w->h->table + CBF_CHUNK_ENTRY_SIZE * (uint64_t)w->which + 12,
                              "the entry of chunk %" PRIu32 " says %" PRIu32
                              " samples, the lengths of its %" PRIu32 " sequences sum to %" PRIu64,
                              w->which, w->entry->samples, w->entry->sequences, sum);
    w->c->view.samples = sum;
    return IMREC_OK;
}

/* Says that `count` of a field does not fit the bytes left of the chunk. */
static enum imrec_status too_many(struct walk *w, size_t pos, const struct stream_info *s,
                                  uint32_t sequence, const char *field, int64_t value,
                                  uint64_t most)
{
    return BAD(w, pos,
               "stream '%.64s', sequence %" PRIu64 ": %s %" PRId64 ", it must be in [0, %" PRIu64
               "] to fit chunk %" PRIu32,
               s->alias, w->first_key + sequence, field, value, most, w->which);
}

/* Whether a count or an index of a sparse sequence is wrong. Checked while it is in the cache;
 * reported once the whole chunk has proved readable. */
static uint8_t is_suspect(const uint8_t *p, uint32_t n, uint32_t nnz, const struct stream_info *s)
{
    const uint8_t *indices = p + 8 + nnz * stream_element_bytes(s->element);
    const uint8_t *counts = indices + 4 * (size_t)nnz;
    uint32_t largest = 0;
    /* A negative count is above any NNZ as an unsigned one, a negative index above any dim. */
    const uint64_t sum = n == 1 ? load_le32(counts) : index_sum(counts, n);
    if (nnz > SHORT) {
        largest = index_largest(indices, nnz);
    } else {
        for (uint32_t i = 0; i < nnz; i++) {
            const uint32_t index = load_le32(indices + 4 * (size_t)i);
            largest = index > largest ? index : largest;
        }
    }
    return sum != nnz || (nnz > 0 && largest >= s->dim);
}

/* Bytes of the sequence at `pos`, of which the caller knows that its head is there. */
static enum imrec_status measure_sparse(struct walk *w, size_t pos, const struct stream_info *s,
                                        uint32_t sequence, uint64_t *bytes)
{
    const uint64_t left = w->raw.n - pos - 8, value = stream_element_bytes(s->element) + 4;
    const uint32_t n = load_le32(w->raw.p + pos), nnz = load_le32(w->raw.p + pos + 4);
    if (n > left / 4)
        return too_many(w, pos, s, sequence, "number of samples", n, left / 4);
    if (nnz > INT32_MAX || nnz * value > left - 4 * (uint64_t)n)
        return too_many(w, pos + 4, s, sequence, "NNZ", (int32_t)nnz,
                        (left - 4 * (uint64_t)n) / value);
    *bytes = 8 + 4 * (uint64_t)n + nnz * value;
    IMREC_TRY(need(w, pos + (size_t)*bytes));
    w->suspect |= w->c->dropped[sequence] |= is_suspect(w->raw.p + pos, n, nnz, s);
    return IMREC_OK;
}

static enum imrec_status measure_dense(struct walk *w, size_t pos, const struct stream_info *s,
                                       uint32_t sequence, uint64_t *bytes)
{
    const uint64_t left = w->raw.n - pos - 4,
                   sample = s->dim * (uint64_t)stream_element_bytes(s->element);
    const uint32_t n = load_le32(w->raw.p + pos);
    if ((uint64_t)n * sample > left) /* below 2^32 * 2^34 */
        return too_many(w, pos, s, sequence, "number of samples", n, left / sample);
    *bytes = 4 + n * sample;
    return IMREC_OK;
}

/* Finds the sequences of a stream from *pos on. */
static enum imrec_status walk_stream(struct walk *w, uint32_t i, size_t *pos)
{
    const struct stream_info *s = &w->h->stream[i];
    const size_t head = s->storage == STREAM_SPARSE ? 8 : 4;
    const uint32_t n = w->entry->sequences;
    uint64_t *offset = w->c->offset + (size_t)i * ((size_t)n + 1), bytes = 0;
    w->c->stream[i] = (struct chunk_stream){w->raw.p + *pos, offset};
    const size_t begin = *pos;
    for (uint32_t k = 0; k < n; k++, *pos += bytes) {
        offset[k] = *pos - begin;
        if (w->raw.n - *pos < head)
            return BAD(w, *pos,
                       "stream '%.64s', sequence %" PRIu64 ": chunk %" PRIu32
                       " ends here, %zu bytes before the sequence's counts do",
                       s->alias, w->first_key + k, w->which, head - (w->raw.n - *pos));
        IMREC_TRY(need(w, *pos + head));
        IMREC_TRY(head == 8 ? measure_sparse(w, *pos, s, k, &bytes)
                            : measure_dense(w, *pos, s, k, &bytes));
    }
    offset[n] = *pos - begin;
    return IMREC_OK;
}

static enum imrec_status walk_counts(struct walk *w)
{
    size_t pos = (size_t)w->entry->sequences * 4;
    IMREC_TRY(read_lengths(w));
    for (uint32_t i = 0; i < w->h->streams; i++)
        IMREC_TRY(walk_stream(w, i, &pos));
    if (pos != w->raw.n)
        return BAD(w, pos,
                   "the %" PRIu32 " sequences of chunk %" PRIu32 " end here, %zu bytes before the "
                   "chunk does",
                   w->entry->sequences, w->which, w->raw.n - pos);
    return need(w, w->raw.n);
}

/* Reports a fault to the caller; IMREC_OK: drop the sequence. */
static enum imrec_status report(struct walk *w, struct cbf_fault fault, enum imrec_status st)
{
    if (st != IMREC_ERR_CORRUPT || w->how == NULL || w->how->on_fault == NULL)
        return st;
    fault.chunk = w->which;
    w->c->lost += fault.lost;
    return w->how->on_fault(w->how->user, &fault, w->err);
}

static enum imrec_status bad_index(struct walk *w, const struct sequence_view *v, uint64_t number,
                                   const struct stream_info *s)
{
    for (uint32_t i = 0; i < v->nnz; i++) {
        const uint32_t index = load_le32(v->indices + 4 * (size_t)i);
        if (index >= s->dim)
            return BAD(w, v->indices + 4 * (size_t)i - w->raw.p,
                       "stream '%.64s', sequence %" PRIu64 ": index %" PRId32
                       ", it must be in [0, %" PRIu32 ")",
                       s->alias, number, (int32_t)index, s->dim);
    }
    return IMREC_OK;
}

/* Reports the first count of a sample that does not fit NNZ. */
static enum imrec_status bad_count(struct walk *w, const struct sequence_view *v, uint64_t number,
                                   const struct stream_info *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->samples; i++) {
        const uint32_t count = load_le32(v->counts + 4 * (size_t)i);
        if (count > v->nnz - sum)
            return BAD(w, v->counts + 4 * (size_t)i - w->raw.p,
                       "stream '%.64s', sequence %" PRIu64 ": sample %" PRIu32 " has %" PRId32
                       " values, it must have 0 to %" PRIu64 ", what is left of NNZ %" PRIu32,
                       s->alias, number, i, (int32_t)count, v->nnz - sum, v->nnz);
        sum += count;
    }
    return BAD(w, v->counts - w->raw.p,
               "stream '%.64s', sequence %" PRIu64 ": the values of its %" PRIu32
               " samples sum to %" PRIu64 ", NNZ is %" PRIu32,
               s->alias, number, v->samples, sum, v->nnz);
}

static enum imrec_status
check_sequence(struct walk *w, uint32_t i, uint32_t k, const struct stream_info *s)
{
    const struct sequence_view v = sequence_view(&w->c->view, i, k, s);
    if (index_sum(v.counts, v.samples) != v.nnz)
        return bad_count(w, &v, w->first_key + k, s);
    if (v.nnz > 0 && index_largest(v.indices, v.nnz) >= s->dim)
        return bad_index(w, &v, w->first_key + k, s);
    return IMREC_OK;
}

/* Reports the first fault of each suspect sequence. */
static enum imrec_status tell_suspects(struct walk *w)
{
    for (uint32_t i = 0; i < w->h->streams; i++)
        for (uint32_t k = 0; k < w->entry->sequences; k++) {
            if (w->h->stream[i].storage != STREAM_SPARSE || w->c->dropped[k] != 1)
                continue;
            const enum imrec_status st = check_sequence(w, i, k, &w->h->stream[i]);
            if (st == IMREC_OK)
                continue;
            IMREC_TRY(report(w, (struct cbf_fault){.sequence = k, .lost = 1}, st));
            w->c->dropped[k] = 2; /* reported */
        }
    return IMREC_OK;
}

static enum imrec_status drop_chunk(struct walk *w, enum imrec_status st)
{
    const struct cbf_fault all = {.lost = w->entry->sequences, .whole_chunk = true};
    IMREC_TRY(report(w, all, st));
    w->c->view = (struct sequence_chunk){
        .streams = w->h->streams, .first_key = w->first_key, .stream = w->c->stream};
    for (uint32_t i = 0; i < w->h->streams; i++) { /* no sequence: begin and end are one */
        w->c->offset[i] = 0;
        w->c->stream[i] = (struct chunk_stream){w->raw.p, w->c->offset + i};
    }
    return IMREC_OK;
}

/* ---- rewriting ------------------------------------------------------------------------------
 *
 * Two rare cases copy the streams they concern: sequences that are dropped, and streams whose
 * values are wanted in another type than the file's. */

/* float has 32 bits and double 64 in IEEE 754, as in the file; the nearest one is taken. */
static void narrow(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, from + 8 * i, 8);
        const float f = (float)v;
        memcpy(to + 4 * i, &f, 4);
    }
}

static void widen(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, from + 4 * i, 4);
        const double v = f;
        memcpy(to + 8 * i, &v, 8);
    }
}

/* Copies a sequence of `bytes`, its values as `want`; returns its bytes at `to`. */
static size_t copy_sequence(uint8_t *to, const uint8_t *from, size_t bytes,
                            const struct sequence_view *v, const struct stream_info *s,
                            enum stream_element want)
{
    if (want == s->element) {
        memcpy(to, from, bytes);
        return bytes;
    }
    const size_t head = (size_t)(v->values - from),
                 n = s->storage == STREAM_SPARSE ? v->nnz : (size_t)v->samples * s->dim;
    const size_t have_bytes = n * stream_element_bytes(s->element);
    const size_t want_bytes = n * stream_element_bytes(want);
    memcpy(to, from, head);
    (want == STREAM_FLOAT ? narrow : widen)(to + head, v->values, n);
    memcpy(to + head + want_bytes, v->values + have_bytes, bytes - head - have_bytes);
    return bytes - have_bytes + want_bytes;
}

/* Writes what is kept of stream i to `to`; its offsets move down in place. Returns the end. */
static uint8_t *rewrite_stream(const struct cbf_header *h, struct cbf_chunk *c, uint32_t i,
                               enum stream_element want, uint8_t *to)
{
    struct chunk_stream *stream = &c->stream[i];
    uint64_t *offset = c->offset + (size_t)i * ((size_t)c->view.sequences + 1);
    const uint8_t *from = stream->bytes, *begin = to;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < c->view.sequences; k++) {
        if (c->dropped[k])
            continue;
        const struct sequence_view v = sequence_view(&c->view, i, k, &h->stream[i]);
        const uint64_t at = offset[k], end = offset[k + 1];
        offset[kept++] = (uint64_t)(to - begin);
        to += copy_sequence(to, from + at, (size_t)(end - at), &v, &h->stream[i], want);
    }
    offset[kept] = (uint64_t)(to - begin);
    stream->bytes = begin;
    return to;
}

static enum stream_element
wanted(const struct cbf_header *h, const struct cbf_reading *how, uint32_t i)
{
    return how != NULL && how->element != NULL ? how->element[i] : h->stream[i].element;
}

/* Bytes that stream i needs when it is rewritten, at most: a float can grow to a double. */
static uint64_t room_of(const struct cbf_header *h, const struct cbf_chunk *c,
                        const struct cbf_reading *how, uint32_t i)
{
    const enum stream_element want = wanted(h, how, i), have = h->stream[i].element;
    if (c->lost == 0 && want == have)
        return 0;
    const uint64_t bytes = c->stream[i].offset[c->view.sequences];
    return want > have ? 2 * bytes : bytes;
}

/* Lengths and keys of the sequences that are kept. */
static enum imrec_status keep_sequences(struct cbf_chunk *c, struct imrec_error *err)
{
    const uint32_t n = c->view.sequences;
    uint32_t kept = 0;
    IMREC_TRY(reserve((void **)&c->key, &c->key_cap, n, sizeof(*c->key), err));
    c->view.samples = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (c->dropped[k])
            continue;
        c->view.samples += c->length[kept] = c->length[k];
        c->key[kept++] = c->view.first_key + k;
    }
    c->view.sequences = kept;
    c->view.key = c->key;
    return IMREC_OK;
}

/* Removes dropped sequences from the view, and converts every stream to the wanted type. */
static enum imrec_status rewrite(const struct cbf_header *h, const struct cbf_reading *how,
                                 struct cbf_chunk *c, struct imrec_error *err)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < h->streams; i++)
        room += room_of(h, c, how, i);
    if (room > 0) {
        IMREC_TRY(reserve((void **)&c->rewritten, &c->rewritten_cap, room, 1, err));
        uint8_t *to = c->rewritten;
        for (uint32_t i = 0; i < h->streams; i++)
            if (room_of(h, c, how, i) > 0)
                to = rewrite_stream(h, c, i, wanted(h, how, i), to);
    }
    return c->lost == 0 ? IMREC_OK : keep_sequences(c, err);
}

enum imrec_status cbf_chunk_parse(const struct cbf_header *h, uint32_t which, struct bytes raw,
                                  uint64_t first_key, const struct cbf_reading *how,
                                  struct cbf_chunk *c, struct imrec_error *err)
{
    struct imrec_error own; /* the callback's cause, where the caller wants none */
    struct walk w = {.h = h,
                     .how = how,
                     .entry = &h->chunk[which],
                     .c = c,
                     .raw = raw,
                     .which = which,
                     .first_key = first_key,
                     .err = err != NULL ? err : &own,
                     .have = how != NULL && how->more != NULL ? 0 : raw.n};
    c->lost = 0;
    c->view = (struct sequence_chunk){0};
    if (raw.n != w.entry->bytes)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, w.entry->offset,
                              "%zu bytes given as chunk %" PRIu32 ", it has %" PRIu64, raw.n, which,
                              w.entry->bytes);
    IMREC_TRY(reserve_tables(&w));
    const enum imrec_status st = walk_counts(&w);
    if (st != IMREC_OK)
        return w.unread ? st : drop_chunk(&w, st);
    /* of everything the file has; sequences that turn out bad are taken out later */
    c->view = (struct sequence_chunk){.sequences = w.entry->sequences,
                                      .streams = h->streams,
                                      .length = c->length,
                                      .first_key = first_key,
                                      .samples = c->view.samples,
                                      .stream = c->stream};
    if (w.suspect)
        IMREC_TRY(tell_suspects(&w));
    return rewrite(h, how, c, w.err);
}

void cbf_chunk_free(struct cbf_chunk *c)
{
    IMREC_FREE(c->stream, c->offset, c->length, c->key, c->dropped, c->rewritten);
    *c = (struct cbf_chunk){0};
}
