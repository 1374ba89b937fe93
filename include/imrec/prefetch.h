/* imrec/prefetch.h - whatever a callback makes, made ahead by threads and delivered in order, in
 * memory that is used again and again. docs/guide/prefetch.md says more. */
#ifndef IMREC_PREFETCH_H
#define IMREC_PREFETCH_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `cell` with item `number` (0, 1, 2, ...). Called by any of the threads, each number once,
 * by several threads at a time if there are several: what an item is must follow from its number.
 *   IMREC_OK   the cell is item `number`.
 *   IMREC_END  there is no such item, nor any after it. With several threads, numbers beyond the
 *              first that has no item may be asked for, too.
 *   an error   item `number` failed, *err says why; the other items are not touched by it. */
typedef enum imrec_status
imrec_produce_fn(void *context, void *cell, uint64_t number, struct imrec_error *err);

/* Makes a cell, called while opening; NULL: no memory. And frees one, called while closing. */
typedef void *imrec_make_cell_fn(void *context);
typedef void imrec_free_cell_fn(void *context, void *cell);

/* Fill with imrec_prefetch_options_init(), then set produce, and cell_bytes or make_cell. */
struct imrec_prefetch_options {
    size_t struct_size;
    imrec_produce_fn *produce;
    void *context;                 /* handed to all callbacks */
    uint64_t cell_bytes;           /* of each cell: zeroed once, aligned to 64; 0 with make_cell */
    imrec_make_cell_fn *make_cell; /* NULL: cells are cell_bytes of the prefetcher's own memory */
    imrec_free_cell_fn *free_cell; /* NULL: nothing to free */
    uint32_t depth;                /* items made ahead, 1 to 65536; one more is the consumer's */
    uint32_t threads;              /* 1 to 1024 */
};

struct imrec_prefetch_stats {
    uint64_t produced;         /* items that the callback made */
    uint64_t delivered;        /* by imrec_prefetch_next(), failed ones not included */
    uint64_t failed;           /* errors delivered */
    uint64_t producer_wait_ns; /* threads waited for an empty cell: the consumer is slow */
    uint64_t next_wait_ns;     /* imrec_prefetch_next() waited: the producers are slow */
};

struct imrec_prefetch; /* opaque; one consumer thread at a time */

/* depth 4, threads 1. */
IMREC_API void imrec_prefetch_options_init_sized(struct imrec_prefetch_options *o, size_t size);
static inline void imrec_prefetch_options_init(struct imrec_prefetch_options *o)
{
    imrec_prefetch_options_init_sized(o, sizeof(*o));
}

/* Makes depth + 1 cells and starts the threads. On failure *out is NULL and nothing is left
 * running or allocated. The context must outlive the prefetcher. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_prefetch_open(const struct imrec_prefetch_options *options, struct imrec_prefetch **out,
                    struct imrec_error *err);

/* Blocks until the next item, in the order of the numbers, is ready. What it delivered before is
 * given back to be filled again.
 *   IMREC_OK             *cell is the item, the caller's to read and write until the next call.
 *   IMREC_END            there are no more items; so say all calls after it.
 *   IMREC_ERR_CANCELLED  imrec_prefetch_cancel() was called; so say all calls after it.
 *   other errors         this item's, as the callback returned it; the following call goes on with
 *                        the next item. *cell is NULL.
 * `number`, which may be NULL, becomes the number of the item, also of one that failed. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_prefetch_next(struct imrec_prefetch *p,
                                                                void **cell, uint64_t *number,
                                                                struct imrec_error *err);

/* Gives back what imrec_prefetch_next() delivered, before the next call does; twice is harmless. */
IMREC_API void imrec_prefetch_recycle(struct imrec_prefetch *p);

/* Wakes everybody who waits and ends the stream, from any thread. What the callback is making is
 * made to its end. */
IMREC_API void imrec_prefetch_cancel(struct imrec_prefetch *p);

IMREC_API void imrec_prefetch_get_stats(struct imrec_prefetch *p, struct imrec_prefetch_stats *out);

/* Cancels, waits for calls of the callback to return, and frees everything. NULL is allowed. */
IMREC_API void imrec_prefetch_close(struct imrec_prefetch *p);

#ifdef __cplusplus
}
#endif
#endif
