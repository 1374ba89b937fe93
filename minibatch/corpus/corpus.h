/* minibatch/corpus/corpus.h - the sequences of one deserializer: its files, in their order, in
 * blocks.
 *
 * A block is what is read and parsed at once: 256 KiB of a text at most, a chunk of a binary file.
 * A run of blocks of one file is a chunk of the timeline. Only tables are held here. After
 * corpus_open() any thread may read them; corpus_length() is for one. */
#ifndef IMREC_MINIBATCH_CORPUS_CORPUS_H
#define IMREC_MINIBATCH_CORPUS_CORPUS_H

#include "formats/cbf/cbf_header.h"
#include "formats/ctf/ctf_index.h"
#include "imrec/minibatch.h"
#include "minibatch/corpus/ctf_index_file.h"
#include "storage/uri_list.h"

enum { CORPUS_TEXT_BLOCK = 1 << 18 }; /* bytes: text and values stay in a core's cache */

struct corpus_block {
    uint64_t first; /* sequence of the corpus */
    uint64_t bytes; /* in storage */
    uint32_t sequences, samples;
    uint32_t file;
    uint32_t number; /* of the chunk in its file */
    uint32_t chunk;  /* of the timeline, that it belongs to */
    uint32_t from;   /* first sequence in that chunk */
    bool slice;      /* a part of that chunk; see corpus_slices.h */
};

struct corpus_chunk {
    uint64_t first; /* sequence of the corpus */
    uint64_t samples;
    uint32_t sequences;
    uint32_t block, blocks;
};

struct corpus_file {
    char *name;
    struct source *in;
    struct ctf_index_file *index; /* text */
    struct cbf_header head;       /* binary */
    uint64_t first;               /* sequence of the corpus */
};

struct corpus {
    struct imrec_deserializer o;
    bool text;
    enum imrec_precision precision; /* of values, where an input does not say its own */
    struct stream_info *stream;
    uint32_t streams, files, blocks, chunks;
    uint64_t block_room;
    struct corpus_file *file;
    struct corpus_block *block;
    struct corpus_chunk *chunk;
    uint32_t **length; /* [blocks]: binary, of each sequence; NULL: not read yet */
    uint64_t sequences, samples;
    struct uri_list names;
    uint32_t defining; /* stream, UINT32_MAX: none */
};

/* chunks_of_blocks: a chunk is a block, for sources that are not randomized. */
IMREC_NODISCARD enum imrec_status corpus_open(const struct imrec_deserializer *d,
                                              enum imrec_precision precision, bool chunks_of_blocks,
                                              struct corpus **out, struct imrec_error *err);
void corpus_close(struct corpus *c); /* NULL is allowed */

/* The block that holds sequence n of a chunk. */
uint32_t corpus_block_of(const struct corpus *c, uint32_t chunk, uint32_t n);
/* The block that holds a sequence of the corpus. */
uint32_t corpus_block_at(const struct corpus *c, uint64_t sequence);
/* Samples of sequence n of a chunk. Reads a binary file's lengths when they are first asked for. */
IMREC_NODISCARD enum imrec_status
corpus_length(struct corpus *c, uint32_t chunk, uint32_t n, uint32_t *out, struct imrec_error *err);
/* Asks the cache for what corpus_length() will read. */
void corpus_length_soon(const struct corpus *c, uint32_t chunk, uint32_t n);
/* Id of sequence n of a block: a text's own, or the number of its line; binary: the number in the
 * corpus. */
IMREC_NODISCARD enum imrec_status
corpus_key(struct corpus *c, uint32_t block, uint32_t n, uint64_t *out, struct imrec_error *err);
uint64_t corpus_memory(const struct corpus *c);
#endif
