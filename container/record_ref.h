/* container/record_ref.h - one record in memory, and where it lies in its shard. */
#ifndef IMREC_CONTAINER_RECORD_REF_H
#define IMREC_CONTAINER_RECORD_REF_H

#include "base/bytes.h"

#include <stdatomic.h>

struct record_ref {
    struct bytes bytes; /* the record, joined; n = 0 and failed: a lost record of an index */
    uint64_t offset;    /* of its head in the shard */
    uint64_t key;       /* out of the index, else 0 */
    uint64_t unit;      /* with an index: of the partition */
    uint32_t shard;
    bool lost;          /* why: loader_lost_reason() */
    atomic_bool failed; /* who holds the window notes what can be made of no sweep; else false */
};
#endif
