/* dataset/dataset_index.h - the .idx of one shard in memory. */
#ifndef IMREC_DATASET_DATASET_INDEX_H
#define IMREC_DATASET_DATASET_INDEX_H

#include "imrec/error.h"

struct shard_index_entry {
    uint64_t offset, key;
};
struct shard_index {
    struct shard_index_entry *entry; /* ascending by offset, equal ones in the file's order */
    uint64_t count;
    bool found; /* the file is there */
};

/* Reads the .idx next to `shard`, and the .idxb, which has to say the same; without both the index
 * is empty. IMREC_ERR_CORRUPT names the line, or the offset. */
IMREC_NODISCARD enum imrec_status
shard_index_load(const char *shard, struct shard_index *out, struct imrec_error *err);
/* The first entry in [begin, end), and how many there are; NULL: none. */
const struct shard_index_entry *
shard_index_in(const struct shard_index *x, uint64_t begin, uint64_t end, uint64_t *count);
void shard_index_free(struct shard_index *x); /* zeroed memory is fine */
#endif
