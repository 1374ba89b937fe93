/* container/recordio_kind.h - what recordio_kind asks of its shards: counts and widths. */
#ifndef IMREC_CONTAINER_RECORDIO_KIND_H
#define IMREC_CONTAINER_RECORDIO_KIND_H

#include "container/container.h"

/* container_count() of cells. */
IMREC_NODISCARD enum imrec_status
recordio_count(const struct container *c, uint64_t *counts, struct imrec_error *err);
/* How many labels a record of the data set has at most: over all shards, not the partition, because
 * ranks must agree. From the manifests next to the shards; for others, if may_read, the heads that
 * the index next to them names are read, 12 bytes a record, or, without an index of all records,
 * everything once from end to end. 0: unknown. Records that are damaged or not images do not
 * count. */
IMREC_NODISCARD enum imrec_status recordio_widest_label(const struct container *s, bool may_read,
                                                        uint32_t *widest, struct imrec_error *err);
#endif
