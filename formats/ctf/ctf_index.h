/* formats/ctf/ctf_index.h - where the sequences of a text are, and how long. docs/formats/ctf.md
 *
 * Feed the text in pieces of whole lines; the index keeps 24 bytes a sequence. The length of a
 * sequence counts its lines that hold a sample, or, where a stream defines the size, the samples of
 * that stream; the parser checks them. */
#ifndef IMREC_FORMATS_CTF_CTF_INDEX_H
#define IMREC_FORMATS_CTF_CTF_INDEX_H

#include "formats/sequence_chunk.h"
#include "imrec/error.h"

struct ctf_sequence {
    uint64_t key;    /* its id, or the number of its line, from 0 */
    uint64_t offset; /* of its first byte in the file */
    uint32_t bytes;  /* to the end of its last line; comments and blank lines in between too */
    uint32_t length;
};

struct ctf_chunk {
    uint64_t first; /* sequence */
    uint32_t sequences;
    uint64_t offset, bytes; /* in the file */
    uint64_t samples;
    uint64_t line; /* number of its first line, from 1 */
};

struct ctf_index_options {
    const char *name;       /* of the file, for messages */
    uint64_t size;          /* of the file, bytes */
    const char *main_alias; /* the stream that defines the size, or NULL */
    bool skip_sequence_ids;
    uint64_t chunk_bytes; /* a chunk ends before the sequence that would exceed it */
    /* Only samples of these count, others are comments; NULL: all count. */
    const struct stream_info *known;
    uint32_t known_streams;
};

struct ctf_index {
    struct ctf_sequence *sequence;
    uint64_t sequences, sequence_room;
    struct ctf_chunk *chunk;
    uint64_t chunks, chunk_room;
    uint64_t samples;
    bool numbered; /* ids make sequences; not in caches */
};

struct ctf_indexer; /* a pass over a text */

IMREC_NODISCARD enum imrec_status ctf_indexer_new(const struct ctf_index_options *o,
                                                  struct ctf_indexer **out,
                                                  struct imrec_error *err);
/* The next piece: whole lines, or with `last` the remainder (maybe nothing). A readable '\n' must
 * follow it. */
IMREC_NODISCARD enum imrec_status
ctf_indexer_feed(struct ctf_indexer *x, struct bytes piece, bool last, struct imrec_error *err);
/* The index becomes the caller's; a text without a sequence is IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status
ctf_indexer_end(struct ctf_indexer *x, struct ctf_index *out, struct imrec_error *err);
void ctf_indexer_free(struct ctf_indexer *x); /* NULL is allowed */
void ctf_index_free(struct ctf_index *x);     /* zeroed memory is fine */
#endif
