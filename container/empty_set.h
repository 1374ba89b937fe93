/* container/empty_set.h - sets without a record: an error, unless a manifest promises none. */
#ifndef IMREC_CONTAINER_EMPTY_SET_H
#define IMREC_CONTAINER_EMPTY_SET_H

#include "container/container.h"

/* Whether the manifest of a shard says that it has no record. */
bool empty_set_is_promised(const struct container *c, const struct shard_list *l, uint32_t shard);
/* `why` the set has no record: an error, unless all of its shards are promised to have none. */
IMREC_NODISCARD enum imrec_status empty_set(const struct container *c, const struct shard_list *l,
                                            const char *why, struct imrec_error *err);
#endif
