/* container/recordio_count.h - how many records each partition of RecordIO shards holds. */
#ifndef IMREC_CONTAINER_RECORDIO_COUNT_H
#define IMREC_CONTAINER_RECORDIO_COUNT_H

#include "container/container.h"

/* container_count() of cells. */
IMREC_NODISCARD enum imrec_status
recordio_count(const struct container *c, uint64_t *counts, struct imrec_error *err);
#endif
