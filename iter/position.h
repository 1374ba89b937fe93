/* iter/position.h - a place on the timeline as JSON text. docs/formats/position.md is the
 * specification. Pure. */
#ifndef IMREC_ITER_POSITION_H
#define IMREC_ITER_POSITION_H

#include "iter/slots.h"

#define POSITION_VERSION   1
#define POSITION_OF_JOB    2 /* the version of order=global */
#define POSITION_MAX_BYTES ((size_t)1 << 16)

/* What shapes the order: two positions can only be exchanged where all of it is equal. */
struct position_order {
    uint64_t data; /* container_fingerprint() */
    int64_t seed, shuffle, indexed, shuffle_window, shuffle_chunk, num_parts, part_index,
        equal_batches;
    /* of order=global, with shuffle, shuffle_window (0: no chunks) and shuffle_chunk: */
    bool job, chunks;
    int64_t global_batch_size; /* samples */
    uint64_t records;          /* of a sweep */
    uint64_t choice;           /* of sampling: what it was made of; 0: every record once */
    bool verified;             /* `data` is so, with verify_checksums: for the message */
};

/* *text is of imrec_realloc(). */
IMREC_NODISCARD enum imrec_status position_write(const struct position_order *order,
                                                 const struct place *place, char **text,
                                                 struct imrec_error *err);
/* `windows`: of a sweep. *own: of this partition. With equal_batches it may be of another one: then
 * what place->run says of the sweep holds here too, but not in which window and lap that is. The
 * message names what is missing, wrong or different. */
IMREC_NODISCARD enum imrec_status
position_read(const char *text, const struct position_order *order, uint64_t windows,
              struct place *place, bool *own, struct imrec_error *err);
/* A number that is equal where all of the order is; but for part_index. */
uint64_t position_hash(const struct position_order *order);
/* *indexed: whether the position is of an index's order. False: the text does not say. */
bool position_indexed(const char *text, bool *indexed);
#endif
