/* tests/support/listed_set.h - a set of records that are known singly, without a byte of them. */
#ifndef IMREC_TESTS_LISTED_SET_H
#define IMREC_TESTS_LISTED_SET_H

#include "base/alloc.h"
#include "container/container.h"

static inline struct unit_range listed_extent(const struct container *c, uint64_t unit)
{
    const struct indexed_record *r = &c->records[unit];
    return (struct unit_range){r->shard, r->offset, r->offset + 1};
}

/* Two shards, the records one after another. c->records is the caller's. */
static inline struct container listed_set(uint64_t records, uint64_t record_bytes)
{
    static const struct container_kind kind = {.name = "test", .extent = listed_extent};
    static struct source near;
    static struct shard shards[2] = {{.source = &near}, {.source = &near}};
    struct container c = {.kind = &kind, .shards = shards, .shard_count = 2};
    c.unit_count = c.record_total = records;
    c.total_bytes = records * record_bytes;
    c.records = imrec_zalloc((size_t)records, sizeof(*c.records));
    const uint64_t half = records / 2;
    for (uint64_t i = 0; i < records; i++)
        c.records[i] = (struct indexed_record){(i < half ? i : i - half) * record_bytes, 0,
                                               i < half ? 0 : 1, 0};
    return c;
}
#endif
