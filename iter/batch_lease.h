/* iter/batch_lease.h - memory of batches that the consumer keeps, and that comes back some time. */
#ifndef IMREC_ITER_BATCH_LEASE_H
#define IMREC_ITER_BATCH_LEASE_H

#include "imrec/iterator.h"

#include <stdint.h>

struct batch_lease; /* lives as long as the iterator and the last batch that is kept */

void batch_lease_leave(struct batch_lease *k);            /* the iterator's goodbye; NULL is fine */
uint64_t batch_lease_memory(const struct batch_lease *k); /* kept, or to be used again; NULL: 0 */
/* Of an iterator that will be closed: *out is the batch that is held and was not kept, or NULL. */
IMREC_NODISCARD enum imrec_status
batch_lease_last(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);
#endif
