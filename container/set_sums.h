/* container/set_sums.h - verify_checksums=1: records compared with the checksums next to their
 * shards while they are read. */
#ifndef IMREC_CONTAINER_SET_SUMS_H
#define IMREC_CONTAINER_SET_SUMS_H

#include "base/bytes.h"
#include "container/container.h"

/* Loads what the partition needs into s->sums, once its shards are open and it is cut. A shard of
 * the set without a .crc, a broken one, a CBF file and a plugged source are errors. */
IMREC_NODISCARD enum imrec_status set_sums_open(struct container *s, struct imrec_error *err);
/* Compares the record at `offset` of the shard, `framed` as stored. IMREC_ERR_CORRUPT: it differs
 * from its checksum, or has none; *end is where the next record begins according to the checksums,
 * because its length may be the damage. Where nothing was loaded nothing is compared. Any
 * thread. */
IMREC_NODISCARD enum imrec_status set_sums_compare(const struct container *s, uint32_t shard,
                                                   uint64_t offset, struct bytes framed,
                                                   uint64_t *end, struct imrec_error *err);
/* Bytes of records that the checksums have after the shard's end: it was cut off. */
uint64_t set_sums_cut_off(const struct container *s, uint32_t shard);
uint64_t set_sums_memory(const struct container *s);
void set_sums_close(struct container *s);
#endif
