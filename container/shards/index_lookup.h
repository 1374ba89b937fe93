/* container/shards/index_lookup.h - records of a set, found in its binary indexes when they are
 * asked for: nothing of them is held. */
#ifndef IMREC_CONTAINER_SHARDS_INDEX_LOOKUP_H
#define IMREC_CONTAINER_SHARDS_INDEX_LOOKUP_H

#include "container/shards/index_load.h"

struct record_place {
    uint64_t number;     /* of the record: what is asked for */
    uint64_t begin, end; /* its bytes in the shard: up to the next record, or the shard's end */
    uint64_t key;
    uint32_t shard;
};

struct index_lookup;

/* Record 0 is record `first` of the set; `far`: blocks are asked for side by side. */
IMREC_NODISCARD enum imrec_status index_lookup_new(uint32_t shards, uint64_t first, bool far,
                                                   struct index_lookup **out,
                                                   struct imrec_error *err);
/* The index of the next shard, in their order: the set's record `begin` is its first one. `source`
 * is owned from here on, also on failure; NULL: nobody will ask for its records. */
IMREC_NODISCARD enum imrec_status
index_lookup_add(struct index_lookup *l, const char *name, struct source *source,
                 const struct index_blocks *head, uint64_t begin, struct imrec_error *err);
/* Fills p[0..n), whose numbers ascend. Where many of a block are asked for it is checked, and what
 * is wrong with it is the error that index_read() has; of a few the offsets alone are checked. Any
 * thread. */
IMREC_NODISCARD enum imrec_status index_lookup_find(const struct index_lookup *l,
                                                    struct record_place *p, size_t n,
                                                    struct imrec_error *err);
void index_lookup_cancel(struct index_lookup *l);
uint64_t index_lookup_memory(const struct index_lookup *l);
void index_lookup_free(struct index_lookup *l); /* NULL is fine */
#endif
