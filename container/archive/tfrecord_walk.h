/* container/archive/tfrecord_walk.h - the records of a TFRecord file, one after the other, by
 * their heads alone. */
#ifndef IMREC_CONTAINER_ARCHIVE_TFRECORD_WALK_H
#define IMREC_CONTAINER_ARCHIVE_TFRECORD_WALK_H

#include "imrec/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;
struct tfrecord_walk {
    struct source *source; /* the caller's */
    uint64_t size, at;     /* of the file; of the next head */
    uint8_t *near;         /* bytes [near_at, near_at + near_n) of the file */
    uint64_t near_at;
    size_t near_n, near_room;
    uint64_t last; /* bytes of the record before */
};

/* far: a read of the source takes a round trip, so that few are made. */
IMREC_NODISCARD enum imrec_status tfrecord_walk_begin(struct tfrecord_walk *w,
                                                      struct source *source, uint64_t size,
                                                      bool far, struct imrec_error *err);
void tfrecord_walk_end(struct tfrecord_walk *w); /* zeroed memory is fine */

/* The next record, with its frame: all of it is in the file, its content is not looked at.
 * IMREC_END: there is none. IMREC_ERR_CORRUPT: no record begins at *begin; a file has no other mark
 * of where records begin, so that the next call continues at the first bytes that are a head with
 * its sum, which the message names. Any other status ends the walk. */
IMREC_NODISCARD enum imrec_status tfrecord_walk_next(struct tfrecord_walk *w, uint64_t *begin,
                                                     uint64_t *bytes, struct imrec_error *err);
#endif
