/* tests/support/ctf_text.h - a whole text indexed and parsed, chunk by chunk. */
#ifndef IMREC_TESTS_CTF_TEXT_H
#define IMREC_TESTS_CTF_TEXT_H

#include "base/alloc.h"
#include "formats/ctf/ctf_parse.h"

#include <string.h>

struct ctf_text {
    uint8_t *bytes; /* with a line's end behind them */
    size_t n;
    struct ctf_index index;
    struct ctf_parser *parser;
};

static inline const char *ctf_main_alias(const struct ctf_parse_options *o)
{
    for (uint32_t i = 0; i < o->streams; i++)
        if (o->stream[i].defines_mb_size)
            return o->stream[i].alias;
    return NULL;
}

/* Indexes text[0..n), fed in pieces of at least `piece` bytes, each of whole lines. */
static inline enum imrec_status
ctf_text_open(struct ctf_text *t, const void *text, size_t n, const struct ctf_parse_options *o,
              uint64_t chunk_bytes, size_t piece, struct imrec_error *err)
{
    const struct ctf_index_options io = {
        .name = o->name,
        .size = n,
        .main_alias = ctf_main_alias(o),
        .skip_sequence_ids = o->skip_sequence_ids,
        .chunk_bytes = chunk_bytes,
        .known = o->ignore_unknown ? o->stream : NULL,
        .known_streams = o->streams,
    };
    struct ctf_indexer *x;
    *t = (struct ctf_text){.bytes = imrec_realloc(NULL, n + 1, 1), .n = n};
    if (t->bytes == NULL)
        return IMREC_ERR_NO_MEMORY;
    if (n > 0)
        memcpy(t->bytes, text, n);
    t->bytes[n] = '\n';
    enum imrec_status st = ctf_indexer_new(&io, &x, err);
    for (size_t at = 0; st == IMREC_OK;) {
        size_t end = at + piece < n ? at + piece : n;
        while (end < n && t->bytes[end - 1] != '\n')
            end++;
        st = ctf_indexer_feed(x, (struct bytes){t->bytes + at, end - at}, end == n, err);
        if (end == n)
            break;
        at = end;
    }
    if (st == IMREC_OK)
        st = ctf_indexer_end(x, &t->index, err);
    ctf_indexer_free(x);
    return st == IMREC_OK ? ctf_parser_new(o, &t->parser, err) : st;
}

static inline enum imrec_status ctf_text_chunk(struct ctf_text *t, uint64_t chunk,
                                               struct sequence_chunk *out, struct imrec_error *err)
{
    const struct ctf_chunk *c = &t->index.chunk[chunk];
    return ctf_parse(t->parser, c, t->index.sequence + c->first, t->bytes + c->offset, out, err);
}

static inline void ctf_text_close(struct ctf_text *t)
{
    ctf_parser_free(t->parser);
    ctf_index_free(&t->index);
    imrec_free(t->bytes);
}
#endif
