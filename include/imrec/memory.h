/* imrec/memory.h - batches are made in memory of the caller: pinned for a GPU, shared with another
 * process, mapped from a file. */
#ifndef IMREC_MEMORY_H
#define IMREC_MEMORY_H

#include "imrec/fetch.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMREC_MEMORY_ALIGN 64 /* bytes; a block begins at a multiple of it */

/* What a block contains. */
enum imrec_memory_use {
    IMREC_MEMORY_DATA,  /* all tensors of a batch: imrec_batch.data is its first byte */
    IMREC_MEMORY_MASKS, /* with masks: all masks of a batch, likewise */
};

/* Returns `bytes` of memory that the library may write, at a multiple of IMREC_MEMORY_ALIGN; NULL:
 * there is none. Its contents do not matter. Never two calls at once for one iterator. */
typedef void *imrec_memory_alloc_fn(void *user, size_t bytes, enum imrec_memory_use use);
/* The library does not use the block any more. Once for every block, by the thread that releases
 * the batch or closes the iterator; several may do so at once. It may release other batches. */
typedef void imrec_memory_free_fn(void *user, void *block, size_t bytes, enum imrec_memory_use use);

struct imrec_memory {
    size_t struct_size; /* sizeof(struct imrec_memory) */
    void *user;         /* for the functions; must outlive the iterator and every kept batch */
    imrec_memory_alloc_fn *alloc;
    imrec_memory_free_fn *free;
    /* A kept batch is freed when it is released. false: its block may be the memory of a later
     * batch, and is freed when the iterator is closed. true is for memory that something may still
     * read when its batch is released, such as a GPU: keep every batch then. */
    bool free_released;
};

/* imrec_iter_open(), or, unless `fetch` is NULL, imrec_iter_open_fetch(), of an iterator whose
 * workers write data and masks of batches into memory of the caller, without a copy. Labels and
 * everything else of a batch remain the library's. *memory is copied.
 *
 * Opening asks for prefetch_buffer + 1 blocks of each use, in the calling thread; imrec_iter_keep()
 * for one more if no released one can be used again. memory_limit counts them like the library's
 * own. If `alloc` returns NULL, the call is IMREC_ERR_NO_MEMORY; a block that is not aligned is
 * freed, and IMREC_ERR_ARGUMENT. After a failure every block has been freed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_open_memory(const struct imrec_iter_options *options, const struct imrec_fetch *fetch,
                       const struct imrec_memory *memory, struct imrec_iter **out,
                       struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
