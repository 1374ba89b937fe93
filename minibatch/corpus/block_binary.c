/* minibatch/corpus/block_binary.c - loading a block of a binary file: a chunk, or a slice of it. */
#include "minibatch/corpus/block.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/shown.h"
#include "minibatch/corpus/corpus_slices.h"

#include <inttypes.h>
#include <stdio.h>

struct faults {
    struct block *b;
    const struct corpus *c;
    const struct corpus_block *k;
    struct cbf_reading how; /* what is wanted; faults go to on_fault */
    size_t read;            /* bytes of a whole chunk so far */
};

static const struct corpus_file *file_of(const struct faults *a)
{
    return &a->c->file[a->k->file];
}

static enum imrec_status
note(struct faults *a, uint64_t offset, const char *why, struct imrec_error *err)
{
    struct block *b = a->b;
    if (b->problems > (uint64_t)a->c->o.max_errors) /* it is too many already */
        return IMREC_OK;
    if (!IMREC_GROW(b->fault, b->fault_room, b->problems + 1))
        return IMREC_NO_MEMORY(err, "no memory for the faults of a chunk");
    struct ctf_problem *p = &b->fault[b->problems++];
    p->offset = offset;
    char said[sizeof(p->message)];
    snprintf(said, sizeof(said), "%.120s: byte %" PRIu64 ": %.200s", file_of(a)->name, offset, why);
    shown_copy(p->message, sizeof(p->message), said);
    return IMREC_OK;
}

/* A slice answers for its own sequences, and the first one for the whole chunk. */
static enum imrec_status
on_fault(void *user, const struct cbf_fault *fault, struct imrec_error *err)
{
    struct faults *a = user;
    const uint32_t from = a->k->from;
    const bool ours = fault->whole_chunk
                          ? from == 0
                          : fault->sequence >= from && fault->sequence - from < a->k->sequences;
    struct imrec_error why = {0};
    if (err != NULL)
        why = *err;
    return ours ? note(a, why.offset, why.message, err) : IMREC_OK;
}

/* frameMode: the stream of which sequence i has more or less than one sample; none: true. */
static bool
is_frame(const struct sequence_chunk *v, const struct corpus *c, uint32_t i, uint32_t *stream)
{
    for (*stream = 0; *stream < v->streams; (*stream)++)
        if (sequence_view(v, *stream, i, &c->stream[*stream]).samples != 1)
            return false;
    return true;
}

static enum imrec_status check_frames(struct faults *a, struct imrec_error *err)
{
    const struct sequence_chunk *v = &a->b->view;
    uint32_t s;
    for (uint32_t i = 0; i < v->sequences && a->c->o.frame_mode; i++) {
        const uint64_t key = v->key != NULL ? v->key[i] : v->first_key + i;
        char why[160];
        if (key < a->k->first || key - a->k->first >= a->k->sequences || is_frame(v, a->c, i, &s))
            continue;
        snprintf(why, sizeof(why),
                 "frameMode: sequence %" PRIu64 " has %" PRIu32
                 " samples of '%.40s'; exactly one is right",
                 key, sequence_view(v, s, i, &a->c->stream[s]).samples, a->c->stream[s].name);
        IMREC_TRY(note(a, file_of(a)->head.chunk[a->k->number].offset, why, err));
    }
    return IMREC_OK;
}

/* ---- a whole chunk ----------------------------------------------------------------------- */

static enum imrec_status read_more(void *user, size_t upto, struct imrec_error *err)
{
    struct faults *a = user;
    const struct corpus_file *f = file_of(a);
    const size_t from = a->read;
    a->read = upto;
    return source_read(f->in, f->head.chunk[a->k->number].offset + from,
                       (uint8_t *)a->b->raw.p + from, upto - from, err);
}

static enum imrec_status load_chunk(struct faults *a, struct imrec_error *err)
{
    const struct corpus_file *f = file_of(a);
    const struct cbf_chunk_entry *e = &f->head.chunk[a->k->number];
    struct block *b = a->b;
    struct imrec_error own; /* faults are reported as sentences even if the caller has no err */
    IMREC_TRY(reuse_buffer_reserve(&b->raw, e->bytes, 1, "a chunk", err));
    a->read = 0;
    return cbf_chunk_parse(&f->head, a->k->number, (struct bytes){b->raw.p, (size_t)e->bytes},
                           a->k->first - a->k->from, &a->how, &b->binary, err != NULL ? err : &own);
}

/* ---- a slice ----------------------------------------------------------------------------- */

/* Reads the slice's part of the lengths and of each stream, one after another: a small chunk. */
static enum imrec_status read_slice(struct faults *a, uint64_t *bytes, struct imrec_error *err)
{
    const struct corpus_file *f = file_of(a);
    const struct cbf_chunk_entry *e = &f->head.chunk[a->k->number];
    uint64_t begin = e->offset, each = 4;
    IMREC_TRY(reuse_buffer_reserve(&a->b->raw, a->k->bytes, 1, "a chunk", err));
    uint8_t *to = a->b->raw.p;
    for (uint32_t i = 0; i <= f->head.streams; i++) {
        const size_t n = (size_t)(each * a->k->sequences);
        IMREC_TRY(source_read(f->in, begin + each * a->k->from, to, n, err));
        to += n;
        begin += each * e->sequences;
        each = i < f->head.streams ? corpus_regular_bytes(&f->head.stream[i]) : 0;
    }
    *bytes = (uint64_t)(to - (uint8_t *)a->b->raw.p);
    return IMREC_OK;
}

/* *regular: it was what the chunk's size made believe. */
static enum imrec_status load_slice(struct faults *a, bool *regular, struct imrec_error *err)
{
    struct cbf_header small = file_of(a)->head;
    struct cbf_chunk_entry entry = {.sequences = a->k->sequences, .samples = a->k->sequences};
    const struct cbf_reading strict = {.element = a->how.element}; /* any fault ends it */
    IMREC_TRY(read_slice(a, &entry.bytes, err));
    small.chunk = &entry;
    small.chunks = 1;
    const enum imrec_status st =
        cbf_chunk_parse(&small, 0, (struct bytes){a->b->raw.p, (size_t)entry.bytes}, a->k->first,
                        &strict, &a->b->binary, err);
    *regular = st == IMREC_OK;
    return st == IMREC_ERR_CORRUPT ? IMREC_OK : st;
}

/* ---- both -------------------------------------------------------------------------------- */

static enum imrec_status load(struct faults *a, struct imrec_error *err)
{
    bool regular = false;
    if (a->k->slice)
        IMREC_TRY(load_slice(a, &regular, err));
    if (!regular)
        IMREC_TRY(load_chunk(a, err));
    a->b->view = a->b->binary.view;
    IMREC_TRY(check_frames(a, err));
    a->b->problem = a->b->fault;
    return IMREC_OK;
}

enum imrec_status
block_load_binary(struct block *b, struct corpus *c, uint32_t number, struct imrec_error *err)
{
    struct faults a = {.b = b, .c = c, .k = &c->block[number]};
    enum stream_element *wanted = imrec_realloc(NULL, c->streams, sizeof(*wanted));
    if (wanted == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a chunk");
    for (uint32_t i = 0; i < c->streams; i++)
        wanted[i] = c->stream[i].element;
    a.how = (struct cbf_reading){
        .element = wanted, .on_fault = on_fault, .more = read_more, .user = &a};
    const enum imrec_status st = load(&a, err);
    imrec_free(wanted);
    return st;
}

static bool find_place(const struct block *b, uint64_t key, uint32_t *place)
{
    const struct sequence_chunk *v = &b->view;
    if (v->key == NULL) { /* nothing was taken out */
        *place = (uint32_t)(key - v->first_key);
        return key >= v->first_key && key - v->first_key < v->sequences;
    }
    *place = (uint32_t)first_at_least(v->key, sizeof(*v->key), 0, v->sequences, key);
    return *place < v->sequences && v->key[*place] == key;
}

bool block_find_binary(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                       uint32_t *place)
{
    uint32_t stream;
    return find_place(b, c->block[number].first + n, place) &&
           (!c->o.frame_mode || is_frame(&b->view, c, *place, &stream));
}
