/* container/index_ranges.h - the binary indexes of a set, of which only what a partition needs is
 * read. */
#ifndef IMREC_CONTAINER_INDEX_RANGES_H
#define IMREC_CONTAINER_INDEX_RANGES_H

#include "container/container.h"

/* With `names`, one binary index a shard: reads all headers, and, where these say that together
 * they are the index of this set, the blocks of the partition and the entry after it. Then *done,
 * counts[i] is that of shard i's records, and s->records, record_total, index_hash and unit_count
 * are what record_table_cut() would have left; num_parts of 0 is 1. For more records than
 * options.table_most there is s->lookup, and no s->records. Else nothing has changed: the
 * set is another one than that which the indexes were made for, or may have metadata. */
IMREC_NODISCARD enum imrec_status index_ranges_load(struct container *s, char **names,
                                                    uint64_t *counts, bool *done,
                                                    struct imrec_error *err);
#endif
