/* formats/ctf/ctf_parse.h - the sequences of a chunk of text to values. docs/formats/ctf.md
 *
 * A bad sample is dropped and reported, and reading continues after it; a bad sample is one error,
 * whatever follows from it. The caller sets how many errors are too many. */
#ifndef IMREC_FORMATS_CTF_CTF_PARSE_H
#define IMREC_FORMATS_CTF_CTF_PARSE_H

#include "formats/ctf/ctf_index.h"

struct ctf_parse_options {
    const char *name; /* of the file, for messages */
    const struct stream_info *stream;
    uint32_t streams;
    bool skip_sequence_ids; /* ids are skipped */
    bool ignore_unknown;    /* names that no stream has are skipped; else errors */
    bool frame_mode;        /* a sequence of more or less than one sample is an error */
    uint64_t max_problems;  /* stop after this many */
};

struct ctf_problem {
    uint64_t offset;   /* in the file */
    char message[352]; /* file, line, column, what is wrong, what would be right */
};

struct ctf_parser; /* memory of one thread, used again from chunk to chunk */

IMREC_NODISCARD enum imrec_status
ctf_parser_new(const struct ctf_parse_options *o, struct ctf_parser **out, struct imrec_error *err);
void ctf_parser_free(struct ctf_parser *p); /* NULL is allowed */
/* Another file's name for messages: of one corpus, with the same options. */
void ctf_parser_name(struct ctf_parser *p, const char *name);
uint64_t ctf_parser_memory(const struct ctf_parser *p);

/* Parses the text of a chunk: sequence[0..chunk->sequences) of the index, text[0..chunk->bytes) of
 * the file; a readable '\n' must follow it. *out views the parser's memory until the next call; its
 * length[] is that of the index. A sequence that lost all its samples remains, empty. Fails only
 * where memory does; ctf_parser_problems() returns the problems of the text. */
IMREC_NODISCARD enum imrec_status
ctf_parse(struct ctf_parser *p, const struct ctf_chunk *chunk, const struct ctf_sequence *sequence,
          const uint8_t *text, struct sequence_chunk *out, struct imrec_error *err);
/* Of the chunk parsed last, in the order of the text; at most max_problems + 1. */
const struct ctf_problem *ctf_parser_problems(const struct ctf_parser *p, uint64_t *count);
#endif
