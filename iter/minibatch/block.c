/* iter/minibatch/block.c - reading a block, and parsing it. */
#include "iter/minibatch/block.h"

#include "base/alloc.h"
#include "base/error.h"
#include "iter/split/cbf_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status
no_memory(const struct corpus_file *f, uint64_t bytes, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "%.200s: no memory for a chunk of %" PRIu64 " bytes", f->name, bytes);
}

static bool have_room(uint8_t **p, size_t *room, uint64_t bytes)
{
    if (bytes <= *room)
        return true;
    if (bytes > SIZE_MAX / 2)
        return false;
    imrec_free(*p); /* what it holds is not wanted */
    *room = 0;
    *p = imrec_realloc(NULL, (size_t)bytes, 1);
    *room = *p != NULL ? (size_t)bytes : 0;
    return *p != NULL;
}

/* ---- text -------------------------------------------------------------------------------- */

static enum imrec_status new_parser(struct block *b, const struct corpus *c,
                                    const struct corpus_file *f, struct imrec_error *err)
{
    const struct ctf_parse_options o = {
        .name = f->name,
        .stream = c->stream,
        .streams = c->streams,
        .skip_sequence_ids = c->o.skip_sequence_ids,
        .ignore_unknown = c->o.ignore_unknown_inputs,
        .frame_mode = c->o.frame_mode,
        .max_problems = (uint64_t)c->o.max_errors,
    };
    return ctf_parser_new(&o, &b->parser, err);
}

static enum imrec_status load_text(struct block *b, struct corpus *c, uint32_t number,
                                   struct block_scratch *scratch, struct imrec_error *err)
{
    const struct corpus_block *k = &c->block[number];
    struct corpus_file *f = &c->file[k->file];
    IMREC_TRY(ctf_index_file_need(f->index, k->number, err));
    const struct ctf_index *x = ctf_index_file_index(f->index);
    const struct ctf_chunk *chunk = &x->chunk[k->number];
    if (b->parser == NULL)
        IMREC_TRY(new_parser(b, c, f, err));
    ctf_parser_name(b->parser, f->name);
    if (!have_room(&scratch->text, &scratch->room, chunk->bytes + 1))
        return no_memory(f, chunk->bytes, err);
    IMREC_TRY(source_read(f->in, chunk->offset, scratch->text, (size_t)chunk->bytes, err));
    scratch->text[chunk->bytes] = '\n';
    IMREC_TRY(
        ctf_parse(b->parser, chunk, x->sequence + chunk->first, scratch->text, &b->view, err));
    b->problem = ctf_parser_problems(b->parser, &b->problems);
    return IMREC_OK;
}

/* ---- binary ------------------------------------------------------------------------------ */

struct faults {
    struct block *b;
    const struct corpus *c;
    const struct corpus_file *f;
};

static enum imrec_status
note(struct faults *a, uint64_t offset, const char *why, struct imrec_error *err)
{
    struct block *b = a->b;
    if (b->problems > (uint64_t)a->c->o.max_errors) /* it is too many already */
        return IMREC_OK;
    if (b->problems == b->fault_room) {
        const uint64_t more = b->fault_room == 0 ? 4 : 2 * b->fault_room;
        struct ctf_problem *grown = imrec_realloc(b->fault, more, sizeof(*grown));
        if (grown == NULL)
            return no_memory(a->f, more * sizeof(*grown), err);
        b->fault = grown;
        b->fault_room = more;
    }
    struct ctf_problem *p = &b->fault[b->problems++];
    p->offset = offset;
    snprintf(p->message, sizeof(p->message), "%.120s: byte %" PRIu64 ": %.200s", a->f->name, offset,
             why);
    return IMREC_OK;
}

static enum imrec_status
on_fault(void *user, const struct cbf_fault *fault, struct imrec_error *err)
{
    (void)fault;
    struct imrec_error why = {0};
    if (err != NULL)
        why = *err;
    return note(user, why.offset, why.message, err);
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

static enum imrec_status
check_frames(struct faults *a, const struct corpus_block *k, struct imrec_error *err)
{
    const struct sequence_chunk *v = &a->b->view;
    uint32_t s;
    for (uint32_t i = 0; i < v->sequences && a->c->o.frame_mode; i++) {
        char why[160];
        if (is_frame(v, a->c, i, &s))
            continue;
        snprintf(why, sizeof(why),
                 "frameMode: sequence %" PRIu64 " has %" PRIu32
                 " samples of '%.40s'; exactly one is right",
                 v->key != NULL ? v->key[i] : v->first_key + i,
                 sequence_view(v, s, i, &a->c->stream[s]).samples, a->c->stream[s].name);
        IMREC_TRY(note(a, a->f->head.chunk[k->number].offset, why, err));
    }
    return IMREC_OK;
}

static enum imrec_status
load_binary(struct block *b, struct corpus *c, uint32_t number, struct imrec_error *err)
{
    const struct corpus_block *k = &c->block[number];
    struct corpus_file *f = &c->file[k->file];
    const struct cbf_chunk_entry *e = &f->head.chunk[k->number];
    struct faults faults = {b, c, f};
    enum stream_element wanted[64], *all = wanted;
    struct imrec_error own; /* faults are told by words, whether or not the caller asks */
    if (c->streams > 64 && (all = imrec_realloc(NULL, c->streams, sizeof(*all))) == NULL)
        return no_memory(f, e->bytes, err);
    for (uint32_t i = 0; i < c->streams; i++)
        all[i] = c->element;
    const struct cbf_reading how = {.element = all, .on_fault = on_fault, .user = &faults};
    enum imrec_status st = IMREC_OK;
    if (!have_room(&b->raw, &b->raw_room, e->bytes))
        st = no_memory(f, e->bytes, err);
    if (st == IMREC_OK)
        st = source_read(f->in, e->offset, b->raw, (size_t)e->bytes, err);
    if (st == IMREC_OK)
        st = cbf_chunk_parse(&f->head, k->number, (struct bytes){b->raw, (size_t)e->bytes},
                             k->first, &how, &b->binary, err != NULL ? err : &own);
    if (all != wanted)
        imrec_free(all);
    if (st != IMREC_OK)
        return st;
    b->view = b->binary.view;
    IMREC_TRY(check_frames(&faults, k, err));
    b->problem = b->fault;
    return IMREC_OK;
}

/* ---- both -------------------------------------------------------------------------------- */

enum imrec_status block_load(struct block *b, struct corpus *c, uint32_t number,
                             struct block_scratch *scratch, struct imrec_error *err)
{
    b->problems = 0;
    return c->text ? load_text(b, c, number, scratch, err) : load_binary(b, c, number, err);
}

static bool find_place(const struct block *b, uint64_t key, uint32_t n, uint32_t *place)
{
    uint32_t begin = 0, end = b->view.sequences;
    *place = n;
    if (b->view.key == NULL) /* nothing was taken out */
        return n < end;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (b->view.key[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    *place = begin;
    return begin < b->view.sequences && b->view.key[begin] == key;
}

bool block_find(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                uint32_t *place)
{
    uint32_t stream;
    *place = n;
    if (c->text) /* what lost everything is there, empty */
        return n < b->view.sequences;
    return find_place(b, c->block[number].first + n, n, place) &&
           (!c->o.frame_mode || is_frame(&b->view, c, *place, &stream));
}

uint64_t block_memory(const struct block *b)
{
    return sizeof(*b) + (b->parser != NULL ? ctf_parser_memory(b->parser) : 0) + b->raw_room +
           b->binary.offset_cap + b->binary.length_cap + b->binary.key_cap + b->binary.dropped_cap +
           b->binary.rewritten_cap + b->fault_room * sizeof(*b->fault);
}

void block_free(struct block *b)
{
    ctf_parser_free(b->parser);
    cbf_chunk_free(&b->binary);
    imrec_free(b->raw);
    imrec_free(b->fault);
    *b = (struct block){0};
}
