/* container/listed_shards.h - records of shards that are listed from their heads: many shards at
 * once, one table in their order. */
#ifndef IMREC_CONTAINER_LISTED_SHARDS_H
#define IMREC_CONTAINER_LISTED_SHARDS_H

#include "container/archive/listed_losses.h"
#include "container/container.h"

/* Of a shard: its records, and the losses, which are numbered in it. */
struct shard_found {
    struct indexed_record *records;
    uint64_t count, room;
    struct listed_losses losses;
};

/* The next record of the shard; one of over 4 GiB is a loss. `record`: its name in messages. */
IMREC_NODISCARD enum imrec_status shard_found_add(struct shard_found *f, uint64_t begin,
                                                  uint64_t bytes, const char *record,
                                                  struct imrec_error *err);
/* One that is lost: why->offset is its place. */
IMREC_NODISCARD enum imrec_status
shard_found_lost(struct shard_found *f, const struct imrec_error *why, struct imrec_error *err);

void shard_found_free(struct shard_found *f); /* zeroed memory is fine */

/* Lists all of c->shards, whose kind walks, into the table, which it seals and cuts; keys count the
 * records over all shards. *losses, zeroed, are numbered likewise. Without an index
 * c->options.listing may say that they are not listed: then nothing has changed. */
IMREC_NODISCARD enum imrec_status
listed_shards(struct container *c, struct listed_losses *losses, struct imrec_error *err);
/* count() of these kinds: every shard is walked. */
IMREC_NODISCARD enum imrec_status
listed_shards_count(const struct container *c, uint64_t *counts, struct imrec_error *err);
#endif
