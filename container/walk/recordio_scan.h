/* container/walk/recordio_scan.h - a walk through a byte range of a shard in large reads, front to
 * back.
 */
#ifndef IMREC_CONTAINER_WALK_RECORDIO_SCAN_H
#define IMREC_CONTAINER_WALK_RECORDIO_SCAN_H

#include "container/walk/recordio_walk.h"

struct scan {
    struct source *source; /* borrowed */
    struct walk walk;
    struct view view;
    uint8_t *buffer; /* used again for the next range */
    size_t capacity;
    struct hole *holes;
    uint64_t limit;   /* a record that needs more bytes at once is IMREC_ERR_LIMIT; 0: none is */
    uint64_t advised; /* read-ahead up to here was announced to the source */
};

/* Goes to bytes [begin, end) of a source; zeroed memory is a scan that has begun nothing. */
void scan_begin(struct scan *s, struct source *source, uint64_t begin, uint64_t end, bool at_head);
/* What comes next: WALK_RECORD, WALK_DAMAGE or WALK_END. Bytes that cannot be read are damage.
 * Only IMREC_ERR_NO_MEMORY is a failure, and IMREC_ERR_LIMIT, whose offset is that record's. */
IMREC_NODISCARD enum imrec_status
scan_next(struct scan *s, enum walk_step *step, struct walk_item *item, struct imrec_error *err);
/* The bytes of the record given last, until the next call. */
uint8_t *scan_bytes(const struct scan *s, const struct walk_item *item);
void scan_end(struct scan *s); /* frees; zeroed memory is fine */
#endif
