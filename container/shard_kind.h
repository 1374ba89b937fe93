/* container/shard_kind.h - is a file a shard at all? By its first bytes. */
#ifndef IMREC_CONTAINER_SHARD_KIND_H
#define IMREC_CONTAINER_SHARD_KIND_H

#include "container/partition.h"

enum shard_kind { SHARD_EMPTY, SHARD_RECORDIO, SHARD_CBF };

/* Of all shards, which must be of one kind; SHARD_EMPTY: none has a byte. Another kind of file, and
 * one without any head of a record, are errors. A shard whose first bytes are damaged is searched
 * for its first head; one whose first bytes cannot be read is taken for a shard. */
IMREC_NODISCARD enum imrec_status
shard_kinds(const struct split *s, enum shard_kind *out, struct imrec_error *err);
#endif
