/* iter/batch_memory.h - where blocks of batches come from: the system, or the caller. */
#ifndef IMREC_ITER_BATCH_MEMORY_H
#define IMREC_ITER_BATCH_MEMORY_H

#include "imrec/memory.h"

/* Checks *from, and copies it; NULL: *to is zeroed, which is the system's memory. */
IMREC_NODISCARD enum imrec_status batch_memory_copy(struct imrec_memory *to,
                                                    const struct imrec_memory *from,
                                                    struct imrec_error *err);

/* Blocks of a batch. Those without masks have masks_bytes 0, and no block for them. */
struct batch_blocks {
    void *data, *masks;
};
struct batch_sizes {
    size_t data, masks;
};

/* All or nothing: on failure *out is zeroed. The system's blocks are zeroed, the caller's are not.
 */
IMREC_NODISCARD enum imrec_status
batch_memory_take(const struct imrec_memory *m, struct batch_sizes sizes, struct batch_blocks *out,
                  struct imrec_error *err);
void batch_memory_give(const struct imrec_memory *m, struct batch_sizes sizes,
                       struct batch_blocks blocks); /* NULL in it is fine */
#endif
