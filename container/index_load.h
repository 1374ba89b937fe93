/* container/index_load.h - the binary index of a shard, read block by block. */
#ifndef IMREC_CONTAINER_INDEX_LOAD_H
#define IMREC_CONTAINER_INDEX_LOAD_H

#include "formats/recordio/index_blocks.h"
#include "storage/source.h"

struct index_shard { /* the one that an index must be of */
    const char *uri;
    struct source *source; /* borrowed */
    uint64_t size;
};

/* Whether the name of an index is that of a binary one, .idxb; else it is text. */
bool index_is_binary(const char *name);
/* The identity of a shard, as the header of its binary index has it; count is 0. */
IMREC_NODISCARD enum imrec_status
index_of_shard(const struct index_shard *s, struct index_blocks *out, struct imrec_error *err);
/* Gives out `n` entries of each block of the binary index `name`, ascending by offset. An index of
 * another shard, or of other bytes than the shard has now, is an error that names both. */
typedef enum imrec_status
index_take(void *user, const struct index_entry *e, size_t n, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status index_load(const char *name, const struct index_shard *s,
                                             index_take *take, void *user, struct imrec_error *err);
#endif
