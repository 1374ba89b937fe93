/* container/partition.h - a reader's share of the shards: rules, pure.
 *
 * The rule is dmlc's: the concatenation of all shards is cut into num_parts steps of equal size,
 * rounded up to 4; a record is in the part that holds its head's first byte. Where records are
 * listed they are counted off instead; where a shard can be read from its begin alone, shards
 * are. */
#ifndef IMREC_CONTAINER_PARTITION_H
#define IMREC_CONTAINER_PARTITION_H

#include "container/container.h"

/* The part of bytes [begin, end) of the concatenation that is in a shard, cut where heads can be.
 */
struct unit_range
partition_clip(const struct container *c, uint32_t shard, uint64_t begin, uint64_t end);
/* Where part `index` of `parts` begins, if n things are dealt to them and the first ones have one
 * more. */
uint64_t partition_deal(uint64_t n, uint64_t parts, uint64_t index);
/* Of cells of a kind that walks, a partition has whole shards: its first one. */
uint32_t partition_first_shard(const struct container *c, uint64_t index);
/* Where partition `index` begins: a byte of the concatenation, or a record's number. */
uint64_t partition_begin(const struct container *c, uint64_t index);
/* The same of c->record_total records, before it is known where they are. */
uint64_t partition_first_record(const struct container *c, uint64_t index);
/* The bytes of a cell. */
struct unit_range partition_cell(const struct container *c, uint64_t cell);
/* Lays the grid of cells over the partition: cell_base and unit_count. */
IMREC_NODISCARD enum imrec_status partition_grid(struct container *c, struct imrec_error *err);
#endif
