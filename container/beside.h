/* container/beside.h - files that the packer wrote next to a shard: their names, its entry in the
 * manifest of its set. */
#ifndef IMREC_CONTAINER_BESIDE_H
#define IMREC_CONTAINER_BESIDE_H

#include "container/container.h"
#include "container/shards/manifest_beside.h"
#include "formats/set/set_names.h"

struct beside {  /* begins zeroed; serves one shard after another */
    char *name;  /* of a file next to a shard */
    size_t room; /* bytes of it */
    struct manifest_beside set;
    size_t next; /* entry of its manifest that likely comes */
};

/* *name: of the file of the shard's set, until the next call. */
IMREC_NODISCARD enum imrec_status beside_name(struct beside *b, const char *shard,
                                              enum set_file what, const char **name,
                                              struct imrec_error *err);
/* *entry: of the shard in b->set.manifest; NULL: no manifest vouches for a shard of its name and
 * size. One that is missing or broken is none; it is read once for all shards of a set. */
IMREC_NODISCARD enum imrec_status beside_manifest(struct beside *b, const struct shard *h,
                                                  const struct manifest_shard **entry,
                                                  struct imrec_error *err);
void beside_free(struct beside *b);
#endif
