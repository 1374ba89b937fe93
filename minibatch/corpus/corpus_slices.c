/* minibatch/corpus/corpus_slices.c */
#include "minibatch/corpus/corpus_slices.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/reuse_buffer.h"
#include "formats/cbf/cbf_chunk.h"

#include <string.h>

enum { SLICE_BYTES = 1 << 19 };

uint64_t corpus_regular_bytes(const struct stream_info *in_file)
{
    const uint64_t element = stream_element_bytes(in_file->element);
    if (in_file->storage == STREAM_DENSE)
        return 4 + in_file->dim * element;
    return 8 + element + 4 + 4; /* counts, one value, its index, its sample's count */
}

/* Whether every one of n lengths at `offset` is 1. */
static enum imrec_status all_ones(const struct corpus_file *f, uint64_t offset, uint64_t n,
                                  bool *out, struct imrec_error *err)
{
    uint8_t piece[4096];
    *out = true;
    while (n > 0 && *out) {
        const uint64_t k = n < sizeof(piece) / 4 ? n : sizeof(piece) / 4;
        IMREC_TRY(source_read(f->in, offset, piece, (size_t)k * 4, err));
        for (uint64_t i = 0; i < k; i++)
            *out &= load_le32(piece + 4 * i) == 1;
        offset += 4 * k;
        n -= k;
    }
    return IMREC_OK;
}

enum imrec_status corpus_slice(const struct corpus *c, const struct corpus_file *f, uint32_t chunk,
                               uint32_t *sequences, struct imrec_error *err)
{
    const struct cbf_chunk_entry *e = &f->head.chunk[chunk];
    uint64_t each = 4; /* its length */
    bool ones;
    *sequences = 0;
    for (uint32_t i = 0; i < f->head.streams; i++)
        each += corpus_regular_bytes(&f->head.stream[i]);
    if (c->defining != UINT32_MAX || e->samples != e->sequences || e->bytes < 2 * SLICE_BYTES ||
        e->bytes / each != e->sequences || e->bytes % each != 0)
        return IMREC_OK;
    IMREC_TRY(all_ones(f, e->offset, e->sequences, &ones, err));
    if (ones)
        *sequences = each < SLICE_BYTES ? (uint32_t)(SLICE_BYTES / each) : 1;
    return IMREC_OK;
}

/* ---- lengths ----------------------------------------------------------------------------- */

static enum imrec_status drop(void *user, const struct cbf_fault *fault, struct imrec_error *err)
{
    (void)user, (void)fault, (void)err; /* reported when the block is used */
    return IMREC_OK;
}

static enum imrec_status measure(struct corpus *c, uint32_t block, struct reuse_buffer *raw,
                                 struct cbf_chunk *chunk, struct imrec_error *err)
{
    struct corpus_block *b = &c->block[block];
    const struct corpus_file *f = &c->file[b->file];
    const struct cbf_chunk_entry *e = &f->head.chunk[b->number];
    const struct cbf_reading how = {.on_fault = drop};
    uint64_t sum = 0;
    IMREC_TRY(reuse_buffer_reserve(raw, e->bytes, 1, "a chunk", err));
    IMREC_TRY(source_read(f->in, e->offset, raw->p, (size_t)e->bytes, err));
    IMREC_TRY(cbf_chunk_parse(&f->head, b->number, (struct bytes){raw->p, (size_t)e->bytes},
                              b->first, &how, chunk, err));
    c->length[block] = imrec_zalloc(b->sequences > 0 ? b->sequences : 1, sizeof(**c->length));
    if (c->length[block] == NULL)
        return IMREC_NO_MEMORY(err, "%.200s: no memory for the lengths of its sequences", f->name);
    for (uint32_t i = 0; i < chunk->view.sequences; i++) {
        const uint64_t key = chunk->view.key != NULL ? chunk->view.key[i] : b->first + i;
        const uint32_t n =
            sequence_view(&chunk->view, c->defining, i, &f->head.stream[c->defining]).samples;
        c->length[block][key - b->first] = n;
        sum += n;
    }
    b->samples = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
    return IMREC_OK;
}

enum imrec_status corpus_measure(struct corpus *c, struct imrec_error *err)
{
    struct reuse_buffer raw = {0};
    struct cbf_chunk chunk = {0};
    enum imrec_status st = IMREC_OK;
    for (uint32_t i = 0; i < c->blocks && st == IMREC_OK; i++)
        st = measure(c, i, &raw, &chunk, err);
    cbf_chunk_free(&chunk);
    reuse_buffer_free(&raw);
    return st;
}
