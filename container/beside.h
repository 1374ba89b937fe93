/* container/beside.h - a shard's entry in the manifest of its set, next to it. */
#ifndef IMREC_CONTAINER_BESIDE_H
#define IMREC_CONTAINER_BESIDE_H

#include "container/container.h"
#include "container/shards/manifest_beside.h"
#include "formats/set/set_names.h"

struct beside { /* begins zeroed; serves one shard after another */
    struct manifest_beside set;
    size_t next; /* entry of its manifest that likely comes */
};

/* *entry: of the shard in b->set.manifest; NULL: no manifest vouches for a shard of its name and
 * size. One that is missing or broken is none; it is read once for all shards of a set. */
IMREC_NODISCARD enum imrec_status beside_manifest(struct beside *b, const struct shard *h,
                                                  const struct manifest_shard **entry,
                                                  struct imrec_error *err);
void beside_free(struct beside *b);
#endif
