/* iter/keep.h - memory of batches that the consumer keeps, and that comes back some time. */
#ifndef IMREC_ITER_KEEP_H
#define IMREC_ITER_KEEP_H

#include <stdint.h>

struct keeper; /* lives as long as the iterator and the last batch that is kept */

void keeper_leave(struct keeper *k);            /* the iterator's goodbye; NULL is fine */
uint64_t keeper_memory(const struct keeper *k); /* kept, or to be used again; NULL: 0 */
#endif
