/* iter/order/permute.h - permutations of 0..n-1 computed on the fly, in no memory. */
#ifndef IMREC_ITER_ORDER_PERMUTE_H
#define IMREC_ITER_ORDER_PERMUTE_H

#include "base/rng.h"

/* Where number i < n comes in the permutation of `key`: for a fixed key and n a bijection of
 * 0..n-1. Any n > 0; pure. */
uint64_t permute(struct rng_key key, uint64_t n, uint64_t i);
#endif
