/* container/record_table.h - the .idx files of all shards as one table of records. */
#ifndef IMREC_CONTAINER_RECORD_TABLE_H
#define IMREC_CONTAINER_RECORD_TABLE_H

#include "container/container.h"

enum index_wish { INDEX_NONE, INDEX_AUTO, INDEX_NAMED };
enum index_wish index_wish(const char *path_imgidx); /* NULL and "" are none */
/* The status of reading an index that nobody has named: *err also says what reads the shard without
 * it. binary: it is made by imrec index --binary. */
enum imrec_status index_advise(bool binary, enum imrec_status st, struct imrec_error *err);

/* Reads one index a shard into s->records, in (shard, offset) order, sets record_total and
 * index_hash. Indexes and shards go together by name where the names without suffix are the
 * same ones, else by their place in the lists. One that leaves out records, as far as
 * index_doubt() can tell, is taken at its word: s->index_doubt says which. */
IMREC_NODISCARD enum imrec_status
record_table_load(struct container *s, const char *path_imgidx, struct imrec_error *err);
/* path_imgidx=auto: the same with the index next to each shard; where not every shard has one,
 * s->records stays NULL. Here one that omits records is an error. */
IMREC_NODISCARD enum imrec_status record_table_find(struct container *s, struct imrec_error *err);
/* *name: the missing index of the first shard that has none, or NULL, of imrec_realloc(); *there:
 * how many shards have one. */
IMREC_NODISCARD enum imrec_status record_table_missing(const struct container *s, char **name,
                                                       uint32_t *there, struct imrec_error *err);
/* Or record by record, in that order; *capacity is 0 before the first. Then once: */
IMREC_NODISCARD enum imrec_status record_table_add(struct container *s, uint64_t *capacity,
                                                   struct indexed_record r,
                                                   struct imrec_error *err);
IMREC_NODISCARD enum imrec_status record_table_seal(struct container *s, struct imrec_error *err);
void record_table_forget(struct container *s); /* the whole table, and what is known of its files */
/* The index next to a shard, in the order of offsets: *records is of imrec_realloc(), and NULL
 * where there is no index, or no usable one. */
IMREC_NODISCARD enum imrec_status record_table_beside(const struct shard *shard,
                                                      struct indexed_record **records,
                                                      uint64_t *count, struct imrec_error *err);
/* Keeps the partition's records and one after them, the end of the last one; sets unit_count. */
void record_table_cut(struct container *s);
/* Seals and cuts a table of a kind's own; `hash`, of what else it depends on, goes into index_hash.
 */
IMREC_NODISCARD enum imrec_status
record_table_end(struct container *s, uint64_t hash, struct imrec_error *err);

/* extent() and open() of a kind whose records are `bytes` that are taken as they are. */
#define RECORD_LOST UINT32_MAX /* in place of `bytes`: lost() says why */
struct unit_range record_table_extent(const struct container *s, uint64_t unit);
IMREC_NODISCARD enum imrec_status
record_table_open(const struct container *s, const struct record_place *at, uint8_t *p, size_t n,
                  struct bytes *out, uint64_t *used, struct imrec_error *err);
#endif
