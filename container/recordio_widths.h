/* container/recordio_widths.h - how many labels a record of the data set has at most. */
#ifndef IMREC_CONTAINER_RECORDIO_WIDTHS_H
#define IMREC_CONTAINER_RECORDIO_WIDTHS_H

#include "container/container.h"

/* Over all shards, not the partition: ranks must agree. Manifests beside the shards know; of
 * others, if may_read, the heads that the index beside them names are read, 12 bytes a record, or,
 * without one that names all, everything once from end to end. 0: nobody knows. Records that are
 * damaged or no images do not count. */
IMREC_NODISCARD enum imrec_status recordio_widest_label(const struct container *s, bool may_read,
                                                        uint32_t *widest, struct imrec_error *err);
#endif
