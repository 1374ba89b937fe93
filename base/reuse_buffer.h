/* base/reuse_buffer.h - memory that is used again and again, and grows. Large rooms are made of
 * huge pages: a chunk of 32 MiB is first touched in 3 ms instead of 20. */
#ifndef IMREC_BASE_REUSE_BUFFER_H
#define IMREC_BASE_REUSE_BUFFER_H

#include "imrec/error.h"

struct reuse_buffer { /* begin with zeroes */
    void *p;
    size_t bytes; /* at p */
    bool pages;
};

/* Has p point to count * size bytes or more, never NULL; its contents are lost when it grows.
 * `what` is its name in messages: "a minibatch". */
IMREC_NODISCARD enum imrec_status reuse_buffer_reserve(struct reuse_buffer *r, uint64_t count,
                                                       size_t size, const char *what,
                                                       struct imrec_error *err);
void reuse_buffer_free(struct reuse_buffer *r);
#endif
