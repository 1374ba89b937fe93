/* minibatch/corpus/block.c - reading a block, and parsing it. */
#include "minibatch/corpus/block.h"

#include "base/alloc.h"
#include "base/error.h"

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
    IMREC_TRY(reuse_buffer_reserve(&scratch->text, chunk->bytes + 1, 1, "a chunk", err));
    uint8_t *text = scratch->text.p;
    IMREC_TRY(source_read(f->in, chunk->offset, text, (size_t)chunk->bytes, err));
    text[chunk->bytes] = '\n';
    IMREC_TRY(ctf_parse(b->parser, chunk, x->sequence + chunk->first, text, &b->view, err));
    b->problem = ctf_parser_problems(b->parser, &b->problems);
    return IMREC_OK;
}

/* ---- both -------------------------------------------------------------------------------- */

enum imrec_status block_load(struct block *b, struct corpus *c, uint32_t number,
                             struct block_scratch *scratch, struct imrec_error *err)
{
    b->problems = 0;
    return c->text ? load_text(b, c, number, scratch, err) : block_load_binary(b, c, number, err);
}

bool block_find(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                uint32_t *place)
{
    if (!c->text)
        return block_find_binary(b, c, number, n, place);
    *place = n; /* what lost everything is there, empty */
    return n < b->view.sequences;
}

uint64_t block_memory(const struct block *b)
{
    return sizeof(*b) + (b->parser != NULL ? ctf_parser_memory(b->parser) : 0) + b->raw.bytes +
           b->binary.offset_cap + b->binary.length_cap + b->binary.key_cap + b->binary.dropped_cap +
           b->binary.rewritten_cap + b->fault_room * sizeof(*b->fault);
}

void block_free(struct block *b)
{
    ctf_parser_free(b->parser);
    cbf_chunk_free(&b->binary);
    reuse_buffer_free(&b->raw);
    imrec_free(b->fault);
    *b = (struct block){0};
}
