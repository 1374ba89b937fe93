/* container/shards/extents.h - the index of a shard whose records are found by walking from head to
 * head: where each begins, and how many bytes it has (docs/formats/idxb.md). */
#ifndef IMREC_CONTAINER_SHARDS_EXTENTS_H
#define IMREC_CONTAINER_SHARDS_EXTENTS_H

#include "container/shards/index_load.h"

/* The shard's name with .idxb after it, before a query; in `folder`, unless NULL. The caller frees
 * it; NULL: no memory. */
char *extents_name(const char *folder, const char *shard);
/* Whether there is an object of that name; of a web server one that begins as an index does. */
IMREC_NODISCARD enum imrec_status
extents_are_there(const char *name, bool *there, struct imrec_error *err);

struct extent {
    uint64_t begin, bytes;
};
typedef enum imrec_status extents_take(void *user, struct extent e, struct imrec_error *err);
/* Gives out all records of the shard, ascending. IMREC_ERR_CORRUPT: the index is damaged, or of
 * another shard. */
IMREC_NODISCARD enum imrec_status extents_read(const char *name, const struct index_shard *s,
                                               extents_take *take, void *user,
                                               struct imrec_error *err);
/* Appends the index of e[0..n), ascending: offsets, and bytes as keys. */
IMREC_NODISCARD enum imrec_status extents_write(struct sink *to, const struct index_shard *s,
                                                const struct index_entry *e, uint64_t n,
                                                struct imrec_error *err);
#endif
