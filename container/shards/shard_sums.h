/* container/shards/shard_sums.h - the checksums next to a shard, and records compared with them. */
#ifndef IMREC_CONTAINER_SHARDS_SHARD_SUMS_H
#define IMREC_CONTAINER_SHARDS_SHARD_SUMS_H

#include "base/bytes.h"
#include "formats/set/checksums.h"

struct shard_sums { /* read only once it is loaded: any number of threads */
    struct checksum_table table;
    uint8_t *bytes; /* of the file */
    bool found;     /* there is one next to the shard */
};

/* Reads the .crc next to `shard`; where there is none, out->found is false. A broken one is an
 * error that names it. */
IMREC_NODISCARD enum imrec_status
shard_sums_load(const char *shard, struct shard_sums *out, struct imrec_error *err);

/* Compares the record at `offset`, `framed` as stored in the shard, with its checksum: *sum is that
 * entry. IMREC_ERR_CORRUPT: it differs, or the checksums have no record there; the sentence does
 * not name the shard. The file exists. */
IMREC_NODISCARD enum imrec_status shard_sums_compare(const struct shard_sums *s, uint64_t offset,
                                                     struct bytes framed, struct checksum *sum,
                                                     struct imrec_error *err);
void shard_sums_free(struct shard_sums *s); /* zeroed memory is fine */
#endif
