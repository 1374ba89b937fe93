/* formats/ctf/ctf_parser.h - the parts of the parser: what they share. Private to ctf_parse.c,
 * ctf_line.c and ctf_value.c. */
#ifndef IMREC_FORMATS_CTF_PARSER_H
#define IMREC_FORMATS_CTF_PARSER_H

#include "formats/ctf/ctf_parse.h"
#include "formats/ctf/ctf_values.h"
#include "formats/text.h"

struct bytes_room { /* grows, never shrinks */
    uint8_t *p;
    size_t n, room;
};

struct stream {
    const struct stream_info *info;
    size_t alias_bytes, element;
    struct bytes_room out, index, count; /* index, count: of the sequence being read */
    uint64_t *offset;
    size_t begin;          /* of the sequence in out */
    uint32_t samples, nnz; /* of the sequence */
    uint64_t line;         /* that has a sample of it already, from 1 */
};

struct ctf_parser {
    struct ctf_parse_options o;
    const struct ctf_values *values;
    struct stream *stream;
    struct chunk_stream *view;
    uint32_t *length;
    uint64_t *key;
    uint32_t sequence_room;
    struct ctf_problem *problem;
    uint64_t problems, problem_room;
    uint32_t likely; /* stream: of the sample that comes */

    const struct ctf_chunk *chunk;
    const uint8_t *text;
    const uint8_t *line_begin, *line_end; /* of the line being read, without its end */
    uint64_t line;                        /* its number in the chunk, from 1 */
    uint32_t lines, most; /* of the sequence: that count; samples of its longest stream */
    bool stop, no_memory;
};

/* Room for `more` bytes behind b->n; false: no memory, and the parser stops. */
bool ctf_reserve(struct ctf_parser *p, struct bytes_room *b, size_t more);

static inline void ctf_put32(struct bytes_room *b, uint32_t v)
{
    store_le32(b->p + b->n, v);
    b->n += 4;
}

/* Notes a problem at a place of the line being read. Always false. */
__attribute__((format(printf, 3, 4))) bool
ctf_complain(struct ctf_parser *p, const uint8_t *at, const char *fmt, ...);
/* What stands at `at`, for a message. */
struct text_quote ctf_word_at(const struct ctf_parser *p, const uint8_t *at);

static inline const uint8_t *ctf_skip_blanks(const uint8_t *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* ctf_value.c: the values of a sample at *at, which moves behind them; false: it is bad, and
 * nothing of it is kept. */
bool ctf_read_dense(struct ctf_parser *p, struct stream *s, const uint8_t **at);
bool ctf_read_sparse(struct ctf_parser *p, struct stream *s, const uint8_t **at);

/* ctf_line.c: the line [line_begin, line_end) into the sequence being read. */
void ctf_read_line(struct ctf_parser *p);
#endif
