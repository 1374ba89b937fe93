/* container/walk/unreadable.h - reading bytes of a shard of which some cannot be read.
 *
 * Of this machine: after the first byte that fails, the rest of its page of 4096 bytes is a hole,
 * and reading continues after it: the loss depends on the shard alone, not on what was read
 * together. Of another machine: what a request asked for is a hole when it has failed for good. */
#ifndef IMREC_CONTAINER_WALK_UNREADABLE_H
#define IMREC_CONTAINER_WALK_UNREADABLE_H

#include "storage/source.h"

struct hole { /* bytes [begin, end) of the shard that cannot be read */
    struct hole *next;
    uint64_t begin, end;
    struct imrec_error why;
};

/* Reads n bytes at `offset`; failed bytes are zeros, and a hole for every run of failing
 * pages is appended to *holes. Only IMREC_ERR_NO_MEMORY and IMREC_ERR_CANCELLED are
 * failures. */
IMREC_NODISCARD enum imrec_status unreadable_read(struct source *s, uint64_t offset, uint8_t *to,
                                                  size_t n, struct hole **holes,
                                                  struct imrec_error *err);
/* The first hole of the list that has a byte in [begin, end), or NULL. */
const struct hole *unreadable_find(const struct hole *holes, uint64_t begin, uint64_t end);
/* Appends `more` to *holes. */
void unreadable_join(struct hole **holes, struct hole *more);
void unreadable_free(struct hole **holes); /* NULL lists are fine */
#endif
