/* iter/minibatch/block_parts.h - the binary half of block.c. */
#ifndef IMREC_ITER_MINIBATCH_BLOCK_PARTS_H
#define IMREC_ITER_MINIBATCH_BLOCK_PARTS_H

#include "iter/minibatch/block.h"

IMREC_NODISCARD enum imrec_status
block_load_binary(struct block *b, struct corpus *c, uint32_t number, struct imrec_error *err);
bool block_find_binary(const struct block *b, const struct corpus *c, uint32_t number, uint32_t n,
                       uint32_t *place);
#endif
