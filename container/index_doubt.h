/* container/index_doubt.h - whether an index lists all records of its shard, as far as a few reads
 * can tell. What they cannot (records missing in the middle) is noticed when the bytes are read. */
#ifndef IMREC_CONTAINER_INDEX_DOUBT_H
#define IMREC_CONTAINER_INDEX_DOUBT_H

#include "container/container.h"
#include "container/shards/manifest_beside.h"

/* `r[0..n)`: the records of the shard that the index `name` lists, ascending; NULL where it may not
 * read. Reads the manifest next to it and, where it may read it, the shard's begin, and the last
 * record that is listed: at most four parts' heads where records have one part. doubt->status stays
 * IMREC_OK where nothing is missing; else it is IMREC_ERR_CORRUPT, with a sentence. Returns a
 * failure for lack of memory only. */
IMREC_NODISCARD enum imrec_status index_doubt(const struct shard *h, const char *name,
                                              const struct indexed_record *r, uint64_t n,
                                              struct manifest_beside *b, bool may_read,
                                              struct imrec_error *doubt, struct imrec_error *err);
#endif
