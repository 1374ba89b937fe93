/* imrec/prefetch.h - threads call a callback ahead of time and deliver its items in order, in
 * memory that is reused. See docs/guide/prefetch.md. */
#ifndef IMREC_PREFETCH_H
#define IMREC_PREFETCH_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `cell` with item `number` (0, 1, 2, ...). Called once for each number, by any of the
 * threads, and by several at once: the contents of an item must follow from its number.
 *   IMREC_OK   the cell is item `number`.
 *   IMREC_END  there is no such item, nor any after it. With several threads, numbers beyond the
 *              first one without an item may be requested, too.
 *   an error   item `number` failed, *err gives the reason; other items are not affected. */
typedef enum imrec_status
imrec_produce_fn(void *context, void *cell, uint64_t number, struct imrec_error *err);

/* Makes a cell during opening (NULL: no memory), and frees one during closing. */
typedef void *imrec_make_cell_fn(void *context);
typedef void imrec_free_cell_fn(void *context, void *cell);

/* Fill with imrec_prefetch_options_init(), then set produce, and cell_bytes or make_cell. */
struct imrec_prefetch_options {
    size_t struct_size;
    imrec_produce_fn *produce;
    void *context;       /* passed to all callbacks */
    uint64_t cell_bytes; /* size of a cell, zeroed once, aligned to 64; 0 with make_cell */
    imrec_make_cell_fn *make_cell; /* NULL: cells are cell_bytes of the prefetcher's memory */
    imrec_free_cell_fn *free_cell; /* NULL: nothing to free */
    uint32_t depth;                /* items made ahead, 1 to 65536; one more is the consumer's */
    uint32_t threads;              /* 1 to 1024 */
};

struct imrec_prefetch_stats {
    uint64_t produced;         /* items that the callback made */
    uint64_t delivered;        /* by imrec_prefetch_next(), failed ones not included */
    uint64_t failed;           /* errors delivered */
    uint64_t producer_wait_ns; /* threads waited for an empty cell: slow consumer */
    uint64_t next_wait_ns;     /* imrec_prefetch_next() waited: slow producers */
};

struct imrec_prefetch; /* opaque; one consumer thread at a time */

/* Sets the defaults: depth 4, threads 1. */
IMREC_API void imrec_prefetch_options_init_sized(struct imrec_prefetch_options *o, size_t size);
static inline void imrec_prefetch_options_init(struct imrec_prefetch_options *o)
{
    imrec_prefetch_options_init_sized(o, sizeof(*o));
}

/* Makes depth + 1 cells and starts the threads. On failure *out is NULL, and nothing runs or stays
 * allocated. The context must outlive the prefetcher. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_prefetch_open(const struct imrec_prefetch_options *options, struct imrec_prefetch **out,
                    struct imrec_error *err);

/* Blocks until the next item, in the order of the numbers, is ready. The cell that it delivered
 * before is released for reuse.
 *   IMREC_OK             *cell is the item; the caller may read and write it until the next call.
 *   IMREC_END            there are no more items; later calls return the same.
 *   IMREC_ERR_CANCELLED  imrec_prefetch_cancel() was called; later calls return the same.
 *   other errors         the error of this item, as the callback returned it; *cell is NULL. The
 *                        following call continues with the next item.
 * `number`, which may be NULL, is set to the number of the item, also if it failed. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_prefetch_next(struct imrec_prefetch *p,
                                                                void **cell, uint64_t *number,
                                                                struct imrec_error *err);

/* Releases the cell of imrec_prefetch_next() before the next call does; twice is harmless. */
IMREC_API void imrec_prefetch_recycle(struct imrec_prefetch *p);

/* Wakes all waiting threads and ends the stream, from any thread. Running callbacks are not
 * interrupted. */
IMREC_API void imrec_prefetch_cancel(struct imrec_prefetch *p);

IMREC_API void imrec_prefetch_get_stats(struct imrec_prefetch *p, struct imrec_prefetch_stats *out);

/* Cancels, waits for running callbacks to return, and frees everything. NULL is allowed. */
IMREC_API void imrec_prefetch_close(struct imrec_prefetch *p);

#ifdef __cplusplus
}
#endif
#endif
