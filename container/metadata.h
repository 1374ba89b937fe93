/* container/metadata.h - header and identity records, as insightface packs them into its .rec:
 * they name ranges of keys and are no samples. docs/formats/image_record.md says which records
 * these are. */
#ifndef IMREC_CONTAINER_METADATA_H
#define IMREC_CONTAINER_METADATA_H

#include "container/container.h"

struct metadata_record {
    uint64_t offset; /* of its head in the shard */
    uint64_t images; /* of an identity: keys of its range that the shard has */
    uint32_t shard;
    bool header;
};

/* Fills s->metadata, in (shard, offset) order, once the shards are open: keys are those of
 * s->records where these are loaded, else of the index next to a shard, else the ids of its
 * records. A shard whose first and last record, or record of key 0, look like ordinary ones costs
 * nothing else. */
IMREC_NODISCARD enum imrec_status metadata_find(struct container *s, struct imrec_error *err);
/* Takes it out of s->records, where all of them are loaded. */
void metadata_drop(struct container *s);
/* The metadata at a byte of a shard; NULL: what is there is none. */
const struct metadata_record *
metadata_at(const struct container *s, uint32_t shard, uint64_t offset);
#endif
