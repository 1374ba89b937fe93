/* minibatch/corpus/block.h - a block of a corpus in memory: values, and what was wrong with it. */
#ifndef IMREC_MINIBATCH_CORPUS_BLOCK_H
#define IMREC_MINIBATCH_CORPUS_BLOCK_H

#include "base/reuse_buffer.h"
#include "formats/cbf/cbf_chunk.h"
#include "formats/ctf/ctf_parse.h"
#include "minibatch/corpus/corpus.h"

/* Memory is kept from one loading to the next. Begin with zeroed memory. */
struct block {
    struct sequence_chunk view;
    const struct ctf_problem *problem; /* in their order; more than max_errors are not all here */
    uint64_t problems;
    /* private: */
    struct ctf_parser *parser; /* text */
    struct cbf_chunk binary;
    struct reuse_buffer raw;
    struct ctf_problem *fault; /* binary */
    uint64_t fault_room;
};

/* What a thread needs to load: text on its way. Begin with zeroed memory. */
struct block_scratch {
    struct reuse_buffer text;
};

/* Reads and parses block `number`. Any thread. An error is one of storage or memory: data that
 * cannot be used are problems, and are not in the view. */
IMREC_NODISCARD enum imrec_status block_load(struct block *b, struct corpus *c, uint32_t number,
                                             struct block_scratch *scratch,
                                             struct imrec_error *err);
/* Sequence n of the block as it was in the file; false: it was dropped. */
bool block_find(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                uint32_t *place);
uint64_t block_memory(const struct block *b);
void block_free(struct block *b);

/* ---- inside: block_binary.c, of a binary file --------------------------------------------- */
IMREC_NODISCARD enum imrec_status
block_load_binary(struct block *b, struct corpus *c, uint32_t number, struct imrec_error *err);
bool block_find_binary(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                       uint32_t *place);
#endif
