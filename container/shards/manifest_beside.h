/* container/shards/manifest_beside.h - the manifest of the set that a shard belongs to, and what it
 * says of a shard. */
#ifndef IMREC_CONTAINER_SHARDS_MANIFEST_BESIDE_H
#define IMREC_CONTAINER_SHARDS_MANIFEST_BESIDE_H

#include "formats/set/manifest.h"

struct manifest_beside {
    char *path;               /* the last one read; NULL: none yet */
    struct manifest manifest; /* of no shard where there is none, or it cannot be read */
    struct imrec_error why; /* the error of one that cannot be read; else its status is IMREC_OK */
    size_t next;            /* the shard of it that is likely asked for next */
};

/* Reads the manifest at `path`, unless it is the one that was read last. Only IMREC_ERR_NO_MEMORY
 * is a failure. */
IMREC_NODISCARD enum imrec_status
manifest_beside_load(struct manifest_beside *m, const char *path, struct imrec_error *err);
/* That of the set of `shard`. */
IMREC_NODISCARD enum imrec_status
manifest_beside_find(struct manifest_beside *m, const char *shard, struct imrec_error *err);
/* What a manifest says of a shard, by its base name; NULL: nothing. */
const struct manifest_shard *manifest_entry(const struct manifest *m, const char *shard);
/* *entry: of the shard of that size in the manifest of its set; NULL: none vouches for it. One that
 * is missing or broken is none; it is read once for all shards of a set. */
IMREC_NODISCARD enum imrec_status
manifest_beside_shard(struct manifest_beside *m, const char *shard, uint64_t bytes,
                      const struct manifest_shard **entry, struct imrec_error *err);
void manifest_beside_free(struct manifest_beside *m); /* zeroed memory is fine */
#endif
